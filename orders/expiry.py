"""Close the orders whose time to be paid has passed.

A payment that comes later is not lost: it finds a closed order, and a person decides.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q

from orders.closing import close_unpaid
from orders.models import Order, OrderStatus

#: A batch holds its row locks for about a millisecond an order: a payment waits for a tenth of
#: a second at worst, far within `lock_timeout`.
BATCH_SIZE: Final = 100
#: One run ends well within the time limit of a task; the next run goes on.
BATCHES_MAX: Final = 100

#: Whether an order that is due may be closed now; it may ask whoever could know of a payment.
MayClose = Callable[[Order], bool]


def expire_due(
    *,
    now: datetime,
    may_close: MayClose = lambda _: True,
    batch_size: int = BATCH_SIZE,
    batches_max: int = BATCHES_MAX,
) -> int:
    """Close what is due, batch by batch, and return how many orders were closed.

    `may_close` is asked about each order, outside any transaction; one that it keeps open is
    asked about again in the next run. Safe beside payments and beside itself: locked orders are
    left to whoever holds them. Stops at a batch that is not full, or after `batches_max`.
    """
    closed, after = 0, None
    for _ in range(batches_max):
        due = _due(now, after, batch_size)
        closed += _close([order.pk for order in due if may_close(order)], now)
        if len(due) < batch_size:
            break
        after = due[-1]
    return closed


def _due(now: datetime, after: Order | None, batch_size: int) -> list[Order]:
    """The first rows after the last of the batch before: by their keys, never by a count.

    Rows leave the set as they are closed, and some stay.
    """
    orders = Order.objects.filter(status=OrderStatus.WAIT_PAY, expires_at__lte=now)
    if after is not None:
        orders = orders.filter(
            Q(expires_at__gt=after.expires_at) | Q(expires_at=after.expires_at, pk__gt=after.pk)
        )
    return list(orders.order_by("expires_at", "pk")[:batch_size])


@transaction.atomic(durable=True)
def _close(order_ids: Sequence[int], now: datetime) -> int:
    due = (
        Order.objects.select_related("merchant")
        .filter(pk__in=order_ids, status=OrderStatus.WAIT_PAY)
        .order_by("pk")
        .select_for_update(skip_locked=True, no_key=True, of=("self",))
    )
    return sum(close_unpaid(order, now=now) for order in due)
