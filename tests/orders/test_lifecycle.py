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
    # A refund that fails late makes an order PAID again; a payment never does.
    allowed = present in ENTERED_FROM[target] and present != OrderStatus.REFUNDED
    assert version == (4 if allowed else None)
    assert order.status == (target if allowed else present)
    assert order.version == (4 if allowed else 3)


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
