from datetime import UTC, datetime

import pytest

from orders.closing import NoSuchOrder, NotClosable, close
from orders.models import OrderStatus
from outbox.models import Event
from tests.factories import MerchantFactory, OrderFactory
from tests.orders.rows import order_in

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_an_order_that_waits_is_closed_and_told() -> None:
    order = OrderFactory.create()

    closed = close(merchant=order.merchant, order_no=order.order_no, now=NOW)

    order.refresh_from_db()
    assert (order.status, order.closed_at, order.version) == (OrderStatus.CLOSED, NOW, 1)
    assert (closed.status, closed.closed_at, closed.version) == (OrderStatus.CLOSED, NOW, 1)
    event = Event.objects.get()
    assert (event.type, event.seq, event.created_at) == ("order.closed", 1, NOW)


def test_a_closed_order_stays_as_it_is() -> None:
    order = order_in(OrderStatus.CLOSED, version=1)

    closed = close(merchant=order.merchant, order_no=order.order_no, now=NOW)

    assert (closed.closed_at, closed.version) == (order.closed_at, 1)
    assert not Event.objects.exists()


@pytest.mark.parametrize("status", [OrderStatus.PAID, OrderStatus.REFUNDED])
def test_what_was_paid_is_not_closable(status: OrderStatus) -> None:
    order = order_in(status)

    with pytest.raises(NotClosable) as refused:
        close(merchant=order.merchant, order_no=order.order_no, now=NOW)

    assert refused.value.order.status == status


def test_only_orders_of_the_merchant_exist() -> None:
    order = OrderFactory.create()

    with pytest.raises(NoSuchOrder):
        close(merchant=MerchantFactory.create(), order_no=order.order_no, now=NOW)
