from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from orders.expiry import expire_due
from orders.models import Order, OrderStatus
from outbox.models import Event
from tests.factories import OrderFactory
from tests.orders.rows import order_in
from tests.processes import database_url

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.django_db
def test_an_order_is_closed_when_its_time_has_come_and_not_before() -> None:
    due = OrderFactory.create(expires_at=NOW)
    early = OrderFactory.create(expires_at=NOW + timedelta(microseconds=1))
    endless = OrderFactory.create(expires_at=None)

    assert expire_due(now=NOW) == 1

    due.refresh_from_db()
    assert (due.status, due.closed_at, due.version) == (OrderStatus.CLOSED, NOW, 1)
    assert set(Order.objects.filter(status=OrderStatus.WAIT_PAY)) == {early, endless}


@pytest.mark.django_db
def test_each_expired_order_is_told_once() -> None:
    orders = OrderFactory.create_batch(3, expires_at=NOW)

    expire_due(now=NOW)
    assert expire_due(now=NOW) == 0

    told = Event.objects.values_list("aggregate_id", "seq", "type")
    assert sorted(told) == sorted(
        (f"{order.merchant.code}/{order.order_no}", 1, "order.closed") for order in orders
    )


@pytest.mark.django_db
@pytest.mark.parametrize("status", [OrderStatus.PAID, OrderStatus.CLOSED, OrderStatus.REFUNDED])
def test_what_is_decided_does_not_expire(status: OrderStatus) -> None:
    order = order_in(status, expires_at=NOW)

    assert expire_due(now=NOW) == 0

    order.refresh_from_db()
    assert (order.status, order.version) == (status, 0)


@pytest.mark.django_db
def test_no_row_is_skipped_while_rows_leave_the_set() -> None:
    OrderFactory.create_batch(25, expires_at=NOW)

    assert expire_due(now=NOW, batch_size=10) == 25
    assert not Order.objects.filter(status=OrderStatus.WAIT_PAY).exists()


@pytest.mark.django_db
def test_a_run_ends_after_its_number_of_batches_with_the_oldest_done() -> None:
    orders = [
        OrderFactory.create(expires_at=NOW - timedelta(minutes=minutes)) for minutes in range(5)
    ]

    assert expire_due(now=NOW, batch_size=2, batches_max=2) == 4

    assert list(Order.objects.filter(status=OrderStatus.WAIT_PAY)) == [orders[0]]


@pytest.mark.django_db(transaction=True)
def test_an_order_that_somebody_holds_is_left_to_them() -> None:
    held, free = OrderFactory.create_batch(2, expires_at=NOW)

    with psycopg.connect(database_url()) as other:
        other.execute("SELECT FROM orders_order WHERE id = %s FOR NO KEY UPDATE", [held.pk])

        assert expire_due(now=NOW) == 1

    assert list(Order.objects.filter(status=OrderStatus.WAIT_PAY)) == [held]
    free.refresh_from_db()
    assert free.status == OrderStatus.CLOSED
    assert expire_due(now=NOW) == 1


@pytest.mark.django_db(transaction=True)
def test_each_batch_is_committed_before_the_next_begins() -> None:
    OrderFactory.create_batch(3, expires_at=NOW)
    poison = OrderFactory.create(expires_at=NOW + timedelta(seconds=1))
    # Its event's place is taken, which no code of ours does: the batch of this order fails.
    Event.objects.create(
        aggregate_type="order",
        aggregate_id=f"{poison.merchant.code}/{poison.order_no}",
        seq=1,
        type="order.closed",
        payload={},
        created_at=NOW,
    )

    with pytest.raises(Exception, match="event_seq_is_unique"):
        expire_due(now=NOW + timedelta(seconds=1), batch_size=1)

    assert list(Order.objects.filter(status=OrderStatus.WAIT_PAY)) == [poison]


@pytest.mark.django_db
def test_an_order_that_may_not_be_closed_stays_and_holds_up_nobody() -> None:
    kept = OrderFactory.create_batch(3, expires_at=NOW - timedelta(minutes=1))
    OrderFactory.create_batch(3, expires_at=NOW)

    closed = expire_due(now=NOW, may_close=lambda order: order not in kept, batch_size=2)

    assert closed == 3
    assert list(Order.objects.filter(status=OrderStatus.WAIT_PAY).order_by("pk")) == kept
