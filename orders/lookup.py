"""Find what is owed under an order number, without a lock, or locked to name a lost race."""

from dataclasses import dataclass
from typing import Final

from django.db import connection

from orders.models import OrderStatus
from orders.money import Money

_FIND_SQL: Final = """
    SELECT id, order_no, amount_minor, currency, status, payable_through, paid_txn_no
      FROM orders_order
     WHERE merchant_id = %s AND order_no = %s
"""
_LOCK_SQL: Final = _FIND_SQL + " FOR NO KEY UPDATE"


@dataclass(frozen=True, slots=True)
class OwedOrder:
    """What of an order decides about a payment for it."""

    id: int
    order_no: str
    money: Money
    status: OrderStatus
    payable_through: str
    paid_txn_no: str


def find(merchant_id: int, order_no: str) -> OwedOrder | None:
    """The order as committed now; another transaction may move it at any moment."""
    return _one(_FIND_SQL, merchant_id, order_no)


def find_locked(merchant_id: int, order_no: str) -> OwedOrder | None:
    """The order, which nobody else can move until this transaction ends."""
    return _one(_LOCK_SQL, merchant_id, order_no)


def _one(sql: str, merchant_id: int, order_no: str) -> OwedOrder | None:
    with connection.cursor() as cursor:
        cursor.execute(sql, [merchant_id, order_no])
        row = cursor.fetchone()
    if row is None:
        return None
    order_id, number, amount_minor, currency, status, payable_through, paid_txn_no = row
    return OwedOrder(
        id=order_id,
        order_no=number,
        money=Money(amount_minor, currency),
        status=OrderStatus(status),
        payable_through=payable_through,
        paid_txn_no=paid_txn_no,
    )
