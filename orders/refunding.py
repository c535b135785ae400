"""Say how much of a paid order has gone back: the move and the event that tells it."""

from datetime import datetime

from orders import events, lifecycle


def set_refunded(
    order_id: int, *, merchant_code: str, refunded_minor: int, at: datetime, now: datetime
) -> bool:
    """Set the refunded amount, all of which makes the order REFUNDED, and tell it.

    Returns False, having done nothing, if the order says so already. The caller has checked that
    the money belongs to the payment that paid the order.
    """
    moved = lifecycle.set_refunded(order_id, refunded_minor=refunded_minor)
    if moved is None:
        return False
    events.tell_refunded(moved, merchant_code=merchant_code, at=at, now=now)
    return True
