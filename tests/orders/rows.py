"""Orders in each status, with the stamps that the status asks for."""

from typing import Any

from orders.models import Order, OrderStatus
from tests.factories import CREATED_AT, OrderFactory

_STAMPS: dict[OrderStatus, dict[str, Any]] = {
    OrderStatus.WAIT_PAY: {},
    OrderStatus.PAID: {"paid_txn_no": "txn-1", "paid_at": CREATED_AT},
    OrderStatus.CLOSED: {"closed_at": CREATED_AT},
    OrderStatus.REFUNDED: {
        "paid_txn_no": "txn-1",
        "paid_at": CREATED_AT,
        "amount_minor": 1099,
        "refunded_minor": 1099,
    },
}


def order_in(status: OrderStatus, **others: Any) -> Order:
    return OrderFactory.create(status=status, **_STAMPS[status] | others)
