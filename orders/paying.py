"""Pay an order: the move and the event that tells it, in the transaction that decides it."""

from datetime import datetime

from orders import events, lifecycle
from orders.lookup import OwedOrder
from orders.models import OrderStatus
from orders.money import Money


def pay(
    order: OwedOrder, *, merchant_code: str, txn_no: str, paid_at: datetime, now: datetime
) -> bool:
    """Move the order to PAID and tell it. Returns False, having done nothing, if it cannot move.

    The caller has checked that the money is what the order asks for.
    """
    version = lifecycle.mark_paid(order.id, txn_no=txn_no, paid_at=paid_at)
    return _told(
        version,
        merchant_code=merchant_code,
        order_no=order.order_no,
        money=order.money,
        txn_no=txn_no,
        paid_at=paid_at,
        now=now,
    )


def pay_by_decision(
    order_id: int,
    *,
    merchant_code: str,
    order_no: str,
    accepted: Money,
    txn_no: str,
    paid_at: datetime,
    now: datetime,
) -> bool:
    """As `pay`, because a person said so: a closed order too, and with the amount he accepts.

    The caller has checked the currency, that he may decide, and that the money pays nothing else.
    """
    version = lifecycle.mark_paid_by_decision(
        order_id, txn_no=txn_no, paid_at=paid_at, accepted_minor=accepted.amount_minor
    )
    return _told(
        version,
        merchant_code=merchant_code,
        order_no=order_no,
        money=accepted,
        txn_no=txn_no,
        paid_at=paid_at,
        now=now,
    )


def _told(
    version: int | None,
    *,
    merchant_code: str,
    order_no: str,
    money: Money,
    txn_no: str,
    paid_at: datetime,
    now: datetime,
) -> bool:
    if version is None:
        return False
    events.tell(
        OrderStatus.PAID,
        merchant_code=merchant_code,
        order_no=order_no,
        money=money,
        version=version,
        at=paid_at,
        now=now,
        txn_no=txn_no,
    )
    return True
