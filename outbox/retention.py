"""Forget events that everybody has.

An event goes when each of its destinations has had it for the whole of the time, and with it goes
the history of its ways. One that waits, is under way or is dead stays, however old it is; so
does one that left through the database's log, until the slot's reader has confirmed it.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import connection

#: No shorter time is accepted: a webhook is repeated for three days, and a consumer that was
#: stopped on a Friday asks again on Tuesday.
KEPT_MIN: Final = timedelta(days=4)
BATCH: Final = 1000
#: Some ten seconds of work; the next run goes on where this one stopped.
BATCHES_MAX: Final = 100

# Each call looks at one page of old events, in their order, and deletes those that may go: what
# may not go yet is passed by once in a run, however much of it there is. The slot's catalog_xmin
# is the oldest transaction that its reader may still ask about: whatever was written by an older
# one, the reader has confirmed. An xmin that seems to be of the future is one of two billion
# transactions ago.
_FORGET_SQL: Final = """
    WITH page AS MATERIALIZED (
        SELECT id, created_at, age(xmin) AS age
          FROM outbox_event
         WHERE created_at < statement_timestamp() - %(kept)s
           AND (created_at, id) > (%(at)s, %(id)s)
      ORDER BY created_at, id
         LIMIT %(batch)s
    ),
    done AS MATERIALIZED (
        SELECT page.id
          FROM page
         WHERE (SELECT bool_and(coalesce(published_at < statement_timestamp() - %(kept)s, false))
                  FROM outbox_dispatch
                 WHERE event_id = page.id) IS NOT FALSE
           AND ((SELECT true
                   FROM outbox_dispatch AS dispatch
                   JOIN outbox_destination AS destination ON destination.id = destination_id
                  WHERE dispatch.event_id = page.id AND destination.code = 'bus')
                OR coalesce((SELECT page.age < 0 OR page.age > age(catalog_xmin)
                               FROM pg_replication_slots
                              WHERE slot_name = %(slot)s AND wal_status <> 'lost'),
                            %(no_slot_needed)s))
    ),
    ways AS (
        DELETE FROM outbox_dispatch
         USING done WHERE event_id = done.id AND state = 'PUBLISHED'
    ),
    forgotten AS (
        DELETE FROM outbox_event AS event USING done WHERE event.id = done.id RETURNING event.id
    )
    SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM forgotten), last.created_at, last.id
      FROM (SELECT created_at, id FROM page ORDER BY created_at DESC, id DESC LIMIT 1) AS last
"""
#: Where a page begins: behind an event of this time and id.
Position = tuple[datetime, UUID]
BEGINNING: Final[Position] = (datetime(1970, 1, 1, tzinfo=UTC), UUID(int=0))


class KeptTooShort(ValueError):
    """Events would be forgotten while somebody may still ask for them again."""


def forget(
    *,
    kept: timedelta,
    start: Position = BEGINNING,
    batch: int = BATCH,
    batches_max: int = BATCHES_MAX,
) -> tuple[int, Position]:
    """Delete events that all their destinations have had for longer than `kept`.

    Tells how many, and where the next run should start: at the beginning again once all old events
    were looked at. Each batch is a transaction of its own. Raises KeptTooShort.
    """
    if kept < KEPT_MIN:
        raise KeptTooShort(f"{kept} is shorter than {KEPT_MIN}")
    values: dict[str, Any] = {
        "kept": kept,
        "batch": batch,
        "slot": settings.CDC_SLOT,
        # What left by a slot that was dropped in the orderly way was read to its end.
        "no_slot_needed": settings.RELAY != "cdc",
    }
    position, total = start, 0
    for _ in range(batches_max):
        with connection.cursor() as cursor:
            cursor.execute(_FORGET_SQL, values | {"at": position[0], "id": position[1]})
            row = cursor.fetchone()
        looked_at, forgotten, *last = row or (0, 0)
        total += forgotten
        if looked_at < batch:
            return total, BEGINNING
        position = (last[0], last[1])
    return total, position
