"""Close the orders whose time to be paid has passed.

A payment that comes later is not lost: it finds a closed order, and a person decides.
"""

from datetime import datetime
from typing import Final

from django.db import transaction

from orders.closing import close_unpaid
from orders.models import Order, OrderStatus

#: A batch holds its row locks for about a millisecond an order: a payment waits for a tenth of
#: a second at worst, far within `lock_timeout`.
BATCH_SIZE: Final = 100
#: One run ends well within the time limit of a task; the next run goes on.
BATCHES_MAX: Final = 100


def expire_due(
    *, now: datetime, batch_size: int = BATCH_SIZE, batches_max: int = BATCHES_MAX
) -> int:
    """Close what is due, batch by batch, and return how many orders were closed.

    Safe beside payments and beside itself: locked orders are left to whoever holds them. Stops
    at a batch that is not full, or after `batches_max`.
    """
    closed = 0
    for _ in range(batches_max):
        found, moved = _expire_batch(now, batch_size)
        closed += moved
        if found < batch_size:
            break
    return closed


@transaction.atomic(durable=True)
def _expire_batch(now: datetime, batch_size: int) -> tuple[int, int]:
    # Always the first rows of those left, never "page 2": rows leave the set as they are closed.
    due = (
        Order.objects.select_related("merchant")
        .filter(status=OrderStatus.WAIT_PAY, expires_at__lte=now)
        .order_by("expires_at", "pk")
        .select_for_update(skip_locked=True, no_key=True, of=("self",))[:batch_size]
    )
    moves = [close_unpaid(order, now=now) for order in due]
    return len(moves), sum(moves)
