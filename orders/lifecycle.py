"""The life of an order: which status may follow which, and the only code that changes one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection

from orders.models import OrderStatus

#: Each status, and the statuses it may be entered from. CLOSED to PAID is not here: it
#: exists only as an approved resolution of a conflict.
ENTERED_FROM: Final[Mapping[OrderStatus, frozenset[OrderStatus]]] = {
    OrderStatus.WAIT_PAY: frozenset(),
    OrderStatus.PAID: frozenset({OrderStatus.WAIT_PAY}),
    OrderStatus.CLOSED: frozenset({OrderStatus.WAIT_PAY}),
    OrderStatus.REFUNDED: frozenset({OrderStatus.PAID}),
}

# One statement both decides and writes: of two racing callers the second re-reads the row
# after the first commits, matches nothing, and gets None. RETURNING is why this is SQL: the
# ORM's update() cannot give back the version that it wrote.
_ENTER_SQL: Final = """
    UPDATE orders_order
       SET status = %s, version = version + 1, {stamps}
     WHERE id = %s AND status = ANY(%s)
 RETURNING version
"""


def mark_paid(order_id: int, *, txn_no: str, paid_at: datetime) -> int | None:
    """Move to PAID. Returns the order's new version, or None if its status did not allow it."""
    return _enter(OrderStatus.PAID, order_id, {"paid_txn_no": txn_no, "paid_at": paid_at})


def close(order_id: int, *, closed_at: datetime) -> int | None:
    """Move to CLOSED. Returns the order's new version, or None if its status did not allow it."""
    return _enter(OrderStatus.CLOSED, order_id, {"closed_at": closed_at})


def _enter(status: OrderStatus, order_id: int, stamps: Mapping[str, Any]) -> int | None:
    assignments = ", ".join(f"{column} = %s" for column in stamps)
    allowed = [str(present) for present in ENTERED_FROM[status]]
    with connection.cursor() as cursor:
        cursor.execute(
            _ENTER_SQL.format(stamps=assignments),
            [status, *stamps.values(), order_id, allowed],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])
