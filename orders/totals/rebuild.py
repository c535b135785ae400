"""Count days anew, from the events in the outbox, beside consumers that go on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q

from orders.events import AGGREGATE_TYPE
from orders.models import CountedMove, DailyTotal
from orders.totals import counting, moves
from orders.totals.moves import Move
from outbox.consumers.port import Unreadable
from outbox.models import Event

BATCH: Final = 1000

# Whoever counts meanwhile waits in front of the lock, or is done before we have it; so the
# statements after it see all that was ever counted. The limits are those of a callback's path.
_ALONE_SQL: Final = (
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL lock_timeout = '60s'",
    f"SELECT pg_advisory_xact_lock({counting.LOCK})",
)
_UNTOLD_SQL: Final = """
    SELECT max(move.day) FROM orders_countedmove AS move
     WHERE move.day >= %s AND NOT EXISTS (
               SELECT FROM outbox_event AS event
                WHERE event.aggregate_type = 'order'
                  AND event.aggregate_id = move.merchant || '/' || move.order_no
                  AND event.seq = move.seq)
"""


class EventsGone(ValueError):
    """Events of these days are no longer in the outbox: what they told would be lost."""


class UnreadableEvent(ValueError):
    """An event in the outbox cannot be counted; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many events were counted, and how many totals came of them."""

    events: int
    totals: int


def rebuild(first: date) -> Rebuilt:
    """Replace the totals from this day (UTC) on by what the events tell, in one transaction.

    Events that are still on their way are counted here, and not again when they arrive. Consumers
    wait meanwhile, and count after it what is committed while it runs. Raises EventsGone,
    UnreadableEvent.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            for statement in _ALONE_SQL:
                cursor.execute(statement)
            cursor.execute(_UNTOLD_SQL, [first])
            untold: date | None = cursor.fetchone()[0]
        if untold is not None:
            raise EventsGone(
                f"events that were counted on {untold} have been deleted from the outbox: count "
                f"anew from {untold + timedelta(days=1)} on"
            )
        CountedMove.objects.filter(day__gte=first).delete()
        DailyTotal.objects.filter(day__gte=first).delete()
        events = 0
        for batch in _batches(first):
            counting.count(batch)
            events += len(batch)
        return Rebuilt(events, DailyTotal.objects.filter(day__gte=first).count())


def _batches(first: date) -> Iterator[list[Move]]:
    """What the outbox tells of that day and later, in order; all as it stood at one moment."""
    # Our events write times in UTC, as ISO 8601 has them: as texts they compare like times.
    since = first.isoformat()
    told = (
        Event.objects.filter(aggregate_type=AGGREGATE_TYPE)
        .filter(
            Q(type="order.paid", payload__paid_at__gte=since)
            | Q(type="order.refunded", payload__refunded_at__gte=since)
        )
        .order_by("aggregate_id", "seq")
        .values_list("id", "type", "payload")
    )
    batch: list[Move] = []
    for event_id, type_, payload in told.iterator(chunk_size=BATCH):
        batch.append(_read(event_id, type_, payload))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _read(event_id: UUID, type_: str, payload: dict[str, object]) -> Move:
    try:
        return moves.read(type_, payload)
    except Unreadable as error:
        raise UnreadableEvent(f"event {event_id}: {error}") from error
