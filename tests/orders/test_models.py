"""The database itself refuses what the code must never write."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from orders.models import ENDPOINT_PATTERN, ORDER_NO_PATTERN, Order, OrderStatus
from orders.money import Money
from payments.callback import ORDER_NO
from tests.factories import ApiKeyFactory, MerchantFactory, OrderFactory
from tests.orders.rows import order_in

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
W, P, C, R = OrderStatus.WAIT_PAY, OrderStatus.PAID, OrderStatus.CLOSED, OrderStatus.REFUNDED

REFUSED: list[tuple[OrderStatus, dict[str, Any], str]] = [
    (W, {"status": "SHIPPED"}, "order_status_is_known"),
    (W, {"status": ""}, "order_status_is_known"),
    (W, {"amount_minor": 0}, "order_amount_is_positive"),
    (W, {"amount_minor": -1}, "order_amount_is_positive"),
    (W, {"currency": "usd"}, "order_currency_is_well_formed"),
    (W, {"currency": "US"}, "order_currency_is_well_formed"),
    (W, {"order_no": ""}, "order_no_is_well_formed"),
    (W, {"order_no": "O 1"}, "order_no_is_well_formed"),
    (W, {"order_no": "O-1\n"}, "order_no_is_well_formed"),
    (W, {"order_no": "\uff10"}, "order_no_is_well_formed"),
    (P, {"refunded_minor": -1}, "order_refunded_within_amount"),
    (P, {"refunded_minor": 1100}, "order_refunded_within_amount"),
    (P, {"refunded_minor": 1099}, "order_refunded_fits_status"),
    (R, {"refunded_minor": 1098}, "order_refunded_fits_status"),
    (W, {"refunded_minor": 1}, "order_refunded_fits_status"),
    (C, {"refunded_minor": 1}, "order_refunded_fits_status"),
    (W, {"status": P}, "order_paid_stamps_iff_paid"),
    (P, {"paid_at": None}, "order_paid_stamps_iff_paid"),
    (P, {"paid_txn_no": ""}, "order_paid_stamps_iff_paid"),
    (R, {"paid_at": None}, "order_paid_stamps_iff_paid"),
    (W, {"paid_at": NOW}, "order_paid_stamps_iff_paid"),
    (W, {"paid_txn_no": "txn-1"}, "order_paid_stamps_iff_paid"),
    (C, {"paid_txn_no": "txn-1"}, "order_paid_stamps_iff_paid"),
    (C, {"closed_at": None}, "order_closed_has_closed_at"),
    (W, {"closed_at": NOW}, "order_waiting_was_not_closed"),
    (W, {"placed_minor": 1200}, "order_other_amount_was_accepted"),
    (C, {"placed_minor": 1200}, "order_other_amount_was_accepted"),
    (P, {"placed_minor": 0}, "order_other_amount_was_accepted"),
    (W, {"version": -1}, "orders_order_version_check"),
]


@pytest.mark.parametrize(("status", "change", "constraint"), REFUSED)
def test_the_database_refuses(status: OrderStatus, change: dict[str, Any], constraint: str) -> None:
    order = order_in(status)
    _drop(*_checks() - {constraint})  # Or another one might answer in its place.

    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(**change)


def test_each_check_of_the_order_table_is_tested_above() -> None:
    assert _checks() == {constraint for _, _, constraint in REFUSED}


@pytest.mark.parametrize("status", OrderStatus)
def test_the_database_takes_an_order_in_each_status(status: OrderStatus) -> None:
    assert Order.objects.get(pk=order_in(status).pk).status == status


def test_a_paid_order_keeps_the_time_of_its_closing() -> None:
    order = order_in(P, closed_at=NOW)

    assert Order.objects.get(pk=order.pk).closed_at == NOW


def test_an_order_number_is_unique_within_its_merchant_only() -> None:
    first = OrderFactory.create(order_no="A-1")
    OrderFactory.create(order_no="A-1", merchant=MerchantFactory.create())

    with pytest.raises(IntegrityError, match="order_no_is_unique_per_merchant"):
        OrderFactory.create(order_no="A-1", merchant=first.merchant)


def test_order_numbers_differ_by_case() -> None:
    first = OrderFactory.create(order_no="A-1")
    OrderFactory.create(order_no="a-1", merchant=first.merchant)

    assert first.merchant.orders.count() == 2


def test_a_key_prefix_is_unique() -> None:
    key = ApiKeyFactory.create()

    with pytest.raises(IntegrityError, match="prefix"):
        ApiKeyFactory.create(prefix=key.prefix)


def test_what_is_owed_is_money() -> None:
    assert OrderFactory.build(amount_minor=18600, currency="KWD").money == Money(18600, "KWD")


def test_orders_and_callbacks_agree_on_what_an_order_number_is() -> None:
    assert ORDER_NO.pattern == ORDER_NO_PATTERN


def test_the_longest_endpoint_fits_its_column() -> None:
    longest = f"{'p' * 40}/{'a' * 60}"

    order = OrderFactory.create(payable_through=longest)

    order.refresh_from_db()
    assert order.payable_through == longest
    assert ENDPOINT_PATTERN == "[A-Za-z0-9_-]{1,40}/[A-Za-z0-9_-]{1,60}"


def _checks() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT conname FROM pg_constraint"
            " WHERE conrelid = 'orders_order'::regclass AND contype = 'c'"
        )
        return {row[0] for row in cursor.fetchall()}


def _drop(*constraints: str) -> None:
    """Until the end of the test, whose transaction is rolled back."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for name in constraints:
            cursor.execute(f"ALTER TABLE orders_order DROP CONSTRAINT {name}")
