from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from django.db import OperationalError

from orders.models import Merchant, Order, OrderStatus
from orders.money import Money
from orders.numbers import NoTransaction, lock_key, lock_order_number
from orders.place import ExpiresInThePast, OnPlaced, OrderExists, Placed, place
from tests.factories import MerchantFactory, OrderFactory
from tests.processes import database_url

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
USD_10_99 = Money(1099, "USD")


def nothing(order: Order, now: datetime) -> None:
    """No money waits for the order."""


def placing(
    merchant: Merchant, *, on_placed: OnPlaced = nothing, expires_at: datetime | None = None
) -> Placed:
    return place(
        merchant=merchant,
        order_no="A-1",
        money=USD_10_99,
        expires_at=expires_at,
        payable_through="",
        now=NOW,
        on_placed=on_placed,
    )


def test_a_new_order_waits_for_its_payment() -> None:
    placed = placing(MerchantFactory.create())

    assert placed.repeated is False
    order = Order.objects.get()
    assert order == placed.order
    assert (order.status, order.version, order.created_at) == (OrderStatus.WAIT_PAY, 0, NOW)
    assert (order.money, order.payable_through, order.expires_at) == (USD_10_99, "", None)


def test_what_else_happens_sees_the_order_and_the_answer_sees_what_it_did() -> None:
    calls: list[tuple[str, datetime]] = []

    def pay(order: Order, now: datetime) -> None:
        calls.append((order.order_no, now))
        Order.objects.filter(pk=order.pk).update(
            status=OrderStatus.PAID, paid_txn_no="txn-1", paid_at=now, version=1
        )

    placed = placing(MerchantFactory.create(), on_placed=pay)

    assert calls == [("A-1", NOW)]
    assert (placed.order.status, placed.order.paid_txn_no) == (OrderStatus.PAID, "txn-1")


def test_what_else_happens_does_not_happen_for_a_repeat() -> None:
    merchant = MerchantFactory.create()
    first = placing(merchant)

    def fail(order: Order, now: datetime) -> None:
        raise AssertionError(order)

    again = placing(merchant, on_placed=fail)

    assert (again.order, again.repeated) == (first.order, True)


def test_an_order_is_not_placed_when_what_else_happens_fails() -> None:
    def fail(order: Order, now: datetime) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        placing(MerchantFactory.create(), on_placed=fail)

    assert not Order.objects.exists()


def test_everything_that_differs_is_named() -> None:
    order = OrderFactory.create(
        order_no="A-1", currency="EUR", payable_through="stripe/main", expires_at=NOW
    )

    with pytest.raises(OrderExists) as refused:
        placing(order.merchant)

    assert refused.value.differing == ("amount", "expires_at", "payable_through")


def test_an_order_that_would_expire_at_once_is_not_placed() -> None:
    merchant = MerchantFactory.create()

    with pytest.raises(ExpiresInThePast):
        placing(merchant, expires_at=NOW)

    assert not Order.objects.exists()
    assert placing(merchant, expires_at=NOW + timedelta(microseconds=1)).repeated is False


def test_the_lock_of_a_number_is_the_same_in_every_release() -> None:
    assert lock_key(1, "A-1") == LOCK_OF_A_1
    assert (
        len({lock_key(1, "A-1"), lock_key(2, "A-1"), lock_key(1, "A-2"), lock_key(11, "-1")}) == 4
    )


# A change would let two releases that run side by side miss each other.
LOCK_OF_A_1 = -5574123687729282411


@pytest.mark.django_db(transaction=True)
def test_placing_waits_for_whoever_holds_the_number_and_for_nobody_else() -> None:
    merchant = MerchantFactory.create()

    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_xact_lock(%s)", [lock_key(merchant.pk, "A-1")])

        with pytest.raises(OperationalError) as refused:
            placing(merchant)
        placing(MerchantFactory.create())

    assert isinstance(refused.value.__cause__, psycopg.errors.LockNotAvailable)
    assert placing(merchant).repeated is False


@pytest.mark.django_db(transaction=True)
def test_the_lock_of_a_number_refuses_to_be_taken_outside_a_transaction() -> None:
    with pytest.raises(NoTransaction):
        lock_order_number(1, "A-1")
