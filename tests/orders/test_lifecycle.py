from collections.abc import Callable
from datetime import UTC, datetime
from itertools import product

import pytest

from orders import lifecycle
from orders.lifecycle import ENTERED_FROM
from orders.models import Order, OrderStatus
from tests.orders.rows import order_in

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
MOVES: dict[OrderStatus, Callable[[Order], int | None]] = {
    OrderStatus.PAID: lambda order: lifecycle.mark_paid(order.pk, txn_no="txn-2", paid_at=NOW),
    OrderStatus.CLOSED: lambda order: lifecycle.close(order.pk, closed_at=NOW),
}


@pytest.mark.parametrize(("present", "target"), list(product(OrderStatus, MOVES)))
def test_every_pair_of_statuses_obeys_the_table(present: OrderStatus, target: OrderStatus) -> None:
    order = order_in(present, version=3)

    version = MOVES[target](order)

    order.refresh_from_db()
    # A refund that fails late makes an order PAID again, and a decision opens a closed one; a
    # payment by itself does neither.
    unpayable = target is OrderStatus.PAID and present is not OrderStatus.WAIT_PAY
    allowed = present in ENTERED_FROM[target] and not unpayable
    assert version == (4 if allowed else None)
    assert order.status == (target if allowed else present)
    assert order.version == (4 if allowed else 3)


@pytest.mark.parametrize("accepted_minor", [1099, 1000])
@pytest.mark.parametrize("present", list(OrderStatus))
def test_a_decision_pays_what_waits_or_is_closed_and_nothing_else(
    present: OrderStatus, accepted_minor: int
) -> None:
    order = order_in(present, version=3)
    assert order.amount_minor == 1099

    version = lifecycle.mark_paid_by_decision(
        order.pk, txn_no="txn-2", paid_at=NOW, accepted_minor=accepted_minor
    )

    order.refresh_from_db()
    if present not in (OrderStatus.WAIT_PAY, OrderStatus.CLOSED):
        assert (version, order.status, order.version) == (None, present, 3)
        assert (order.amount_minor, order.placed_minor) == (1099, None)
        return
    assert (version, order.status, order.paid_txn_no) == (4, "PAID", "txn-2")
    assert order.amount_minor == accepted_minor
    assert order.placed_minor == (None if accepted_minor == 1099 else 1099)
    assert order.placed_money.amount_minor == 1099


def test_the_table_knows_every_status() -> None:
    assert set(ENTERED_FROM) == set(OrderStatus)


def test_no_status_is_entered_from_itself() -> None:
    assert [status for status in OrderStatus if status in ENTERED_FROM[status]] == []


def test_paying_stamps_the_transaction_and_its_time() -> None:
    order = order_in(OrderStatus.WAIT_PAY)

    lifecycle.mark_paid(order.pk, txn_no="txn-1", paid_at=NOW)

    order.refresh_from_db()
    assert (order.paid_txn_no, order.paid_at, order.closed_at) == ("txn-1", NOW, None)


def test_closing_stamps_its_time() -> None:
    order = order_in(OrderStatus.WAIT_PAY)

    lifecycle.close(order.pk, closed_at=NOW)

    order.refresh_from_db()
    assert (order.paid_txn_no, order.paid_at, order.closed_at) == ("", None, NOW)


def test_an_order_that_does_not_exist_does_not_move() -> None:
    assert lifecycle.close(10**15, closed_at=NOW) is None
