"""Close one order that nobody has paid, on the merchant's word."""

from datetime import datetime

from django.db import transaction

from orders import lifecycle
from orders.events import tell
from orders.models import Merchant, Order, OrderStatus


class NoSuchOrder(LookupError):
    """The merchant has no order of this number."""


class NotClosable(Exception):
    """The order was paid: what was paid is refunded, not closed."""

    def __init__(self, order: Order) -> None:
        super().__init__(f"order {order.order_no} is {order.status}")
        self.order = order


@transaction.atomic(durable=True)
def close(*, merchant: Merchant, order_no: str, now: datetime) -> Order:
    """Close the order and return it; closing a closed order changes nothing and says the same.

    Raises NoSuchOrder, and NotClosable for an order that was paid.
    """
    return close_here(merchant=merchant, order_no=order_no, now=now)


def close_here(*, merchant: Merchant, order_no: str, now: datetime) -> Order:
    """As `close`, in the caller's transaction, which he rolls back if it raises."""
    orders = Order.objects.select_related("merchant").filter(merchant=merchant, order_no=order_no)
    order = orders.first()
    if order is None:
        raise NoSuchOrder(order_no)
    if close_unpaid(order, now=now):
        return order

    # Somebody moved it first. Both statuses that allow no close are final for this question.
    order = orders.select_for_update(no_key=True, of=("self",)).get()
    if order.status != OrderStatus.CLOSED:
        raise NotClosable(order)
    return order


def close_unpaid(order: Order, *, now: datetime) -> bool:
    """Close the order and tell so, unless its status has changed; `order` then shows the move."""
    version = lifecycle.close(order.pk, closed_at=now)
    if version is None:
        return False
    order.status, order.closed_at, order.version = OrderStatus.CLOSED, now, version
    tell(
        OrderStatus.CLOSED,
        merchant_code=order.merchant.code,
        order_no=order.order_no,
        money=order.money,
        version=version,
        at=now,
        now=now,
    )
    return True
