"""The life of an order: which status may follow which, and the only code that changes one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from orders.models import OrderStatus
from orders.money import Money

#: Each status, and the statuses it may be entered from. CLOSED to PAID is a decision about a
#: conflict; REFUNDED to PAID is a refund that failed after it had succeeded. No payment makes
#: either move by itself.
ENTERED_FROM: Final[Mapping[OrderStatus, frozenset[OrderStatus]]] = {
    OrderStatus.WAIT_PAY: frozenset(),
    OrderStatus.PAID: frozenset({OrderStatus.WAIT_PAY, OrderStatus.CLOSED, OrderStatus.REFUNDED}),
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

_BY_DECISION: Final = ENTERED_FROM[OrderStatus.PAID] - {OrderStatus.REFUNDED}
_BY_PAYMENT: Final = _BY_DECISION - {OrderStatus.CLOSED}
# What the order was placed with stays known: a repeat of the call that placed it compares with it.
_PAY_BY_DECISION_SQL: Final = """
    UPDATE orders_order
       SET status = 'PAID', version = version + 1, paid_txn_no = %(txn_no)s, paid_at = %(paid_at)s,
           placed_minor = CASE WHEN amount_minor = %(accepted)s THEN placed_minor
                               ELSE amount_minor END,
           amount_minor = %(accepted)s
     WHERE id = %(id)s AND status = ANY(%(allowed)s)
 RETURNING version
"""
_SET_REFUNDED_SQL: Final = """
    UPDATE orders_order
       SET refunded_minor = %s, version = version + 1,
           status = CASE WHEN amount_minor = %s THEN 'REFUNDED' ELSE 'PAID' END
     WHERE id = %s AND status IN ('PAID', 'REFUNDED') AND refunded_minor <> %s
 RETURNING order_no, status, amount_minor, currency, refunded_minor, paid_txn_no, paid_at, version
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refunded:
    """An order after its refunded amount has changed."""

    order_no: str
    status: OrderStatus
    money: Money
    refunded_minor: int
    paid_txn_no: str
    paid_at: datetime
    version: int


def mark_paid(order_id: int, *, txn_no: str, paid_at: datetime) -> int | None:
    """Move to PAID. Returns the order's new version, or None if its status did not allow it."""
    stamps = {"paid_txn_no": txn_no, "paid_at": paid_at}
    return _enter(OrderStatus.PAID, order_id, stamps, sources=_BY_PAYMENT)


def mark_paid_by_decision(
    order_id: int, *, txn_no: str, paid_at: datetime, accepted_minor: int
) -> int | None:
    """Move to PAID, also from CLOSED, with the amount that a person has accepted, in minor units.

    Returns the order's new version, or None if its status did not allow it.
    """
    values: dict[str, Any] = {
        "id": order_id,
        "txn_no": txn_no,
        "paid_at": paid_at,
        "accepted": accepted_minor,
        "allowed": [str(present) for present in _BY_DECISION],
    }
    with connection.cursor() as cursor:
        cursor.execute(_PAY_BY_DECISION_SQL, values)
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def close(order_id: int, *, closed_at: datetime) -> int | None:
    """Move to CLOSED. Returns the order's new version, or None if its status did not allow it."""
    return _enter(OrderStatus.CLOSED, order_id, {"closed_at": closed_at})


def set_refunded(order_id: int, *, refunded_minor: int) -> Refunded | None:
    """Set the refunded amount of a paid order; all of it is REFUNDED, less is PAID.

    Returns None if the order says so already, or was not paid. IntegrityError: more than all.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _SET_REFUNDED_SQL, [refunded_minor, refunded_minor, order_id, refunded_minor]
        )
        row = cursor.fetchone()
    if row is None:
        return None
    order_no, status, amount_minor, currency, refunded, paid_txn_no, paid_at, version = row
    return Refunded(
        order_no=order_no,
        status=OrderStatus(status),
        money=Money(amount_minor, currency),
        refunded_minor=refunded,
        paid_txn_no=paid_txn_no,
        paid_at=paid_at,
        version=version,
    )


def _enter(
    status: OrderStatus,
    order_id: int,
    stamps: Mapping[str, Any],
    *,
    sources: frozenset[OrderStatus] | None = None,
) -> int | None:
    assignments = ", ".join(f"{column} = %s" for column in stamps)
    allowed = [str(present) for present in sources or ENTERED_FROM[status]]
    with connection.cursor() as cursor:
        cursor.execute(
            _ENTER_SQL.format(stamps=assignments),
            [status, *stamps.values(), order_id, allowed],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])
