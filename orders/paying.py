"""Pay an order: the move and the event that tells it, in the transaction of the payment."""

from datetime import datetime

from orders import events, lifecycle
from orders.lookup import OwedOrder
from orders.models import OrderStatus


def pay(
    order: OwedOrder, *, merchant_code: str, txn_no: str, paid_at: datetime, now: datetime
) -> bool:
    """Move the order to PAID and tell it. Returns False, having done nothing, if it cannot move.

    The caller has checked that the money is what the order asks for.
    """
    version = lifecycle.mark_paid(order.id, txn_no=txn_no, paid_at=paid_at)
    if version is None:
        return False
    events.tell(
        OrderStatus.PAID,
        merchant_code=merchant_code,
        order_no=order.order_no,
        money=order.money,
        version=version,
        at=paid_at,
        now=now,
        txn_no=txn_no,
    )
    return True
