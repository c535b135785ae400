"""Events that wait, how long they waited, and that each of them went out."""

import time
from collections.abc import Mapping, Sequence
from typing import Final

from django.db import connection

#: Where nothing goes out any more for so long, something is wrong.
_STUCK_SECONDS: Final = 30.0
_POLL_SECONDS: Final = 0.1

_WRITE_SQL: Final = """
    WITH event AS (
        INSERT INTO outbox_event (id, aggregate_type, aggregate_id, seq, type, tenant, payload,
                                  headers, created_at)
        SELECT gen_random_uuid(), 'order', 'bench/B' || number %% %(lines)s, number / %(lines)s,
               'order.paid', 'bench', %(payload)s, '{}',
               clock_timestamp() + number * interval '1 microsecond'
          FROM generate_series(0, %(events)s - 1) AS number
        RETURNING id, aggregate_type, aggregate_id, seq, created_at)
    INSERT INTO outbox_dispatch (event_id, destination_id, aggregate_type, aggregate_id, seq,
                                 created_at, state, attempts, fence, last_error)
    SELECT event.id, destination.id, aggregate_type, aggregate_id, seq, created_at, 'PENDING',
           0, 0, ''
      FROM event, unnest(%(destinations)s::bigint[]) AS destination (id)
"""
#: Of the length that `order.paid` has.
_PAYLOAD: Final = """{"order_no": "B100000000", "amount": "10.99", "currency": "USD",
    "provider": "stripe", "account": "bench", "txn_no": "pi_100000000",
    "paid_at": "2026-03-01T12:00:00Z", "version": 1}"""
_STATE_SQL: Final = """
    SELECT count(*) FILTER (WHERE published_at IS NULL),
           coalesce(extract(epoch FROM max(published_at))::float8, 0),
           count(*) FILTER (WHERE attempts > 0 OR dead_at IS NOT NULL)
      FROM outbox_dispatch
"""
_WAITING_SQL: Final = """
    SELECT EXISTS (SELECT FROM outbox_dispatch WHERE published_at IS NULL AND dead_at IS NULL),
           extract(epoch FROM clock_timestamp() - max(published_at))
      FROM outbox_dispatch
"""
_PUBLISHED_SQL: Final = """
    SELECT event_id::text, extract(epoch FROM published_at)::float8 FROM outbox_dispatch
"""


class NotPublished(RuntimeError):
    """Events wait, or were refused, although the relay should have published them."""


def forget() -> None:
    """Leave the outbox empty."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE outbox_attempt, outbox_dispatch, outbox_event")


def write(events: int, destinations: Sequence[int], *, per_line: int = 2) -> float:
    """Let so many wait for each destination, and return the moment at which they could leave.

    An order has `per_line` of them, which go out one after the other. Unix time, in seconds.
    """
    values: Mapping[str, int | str | list[int]] = {
        "events": events,
        "lines": max(1, events // per_line),
        "payload": _PAYLOAD,
        "destinations": list(destinations),
    }
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(_WRITE_SQL, values)
    return time.time()


def wait_until_gone() -> float:
    """The moment at which the last went out, by Unix time. Raises NotPublished."""
    began = time.monotonic()
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_WAITING_SQL)
            waiting, idle = cursor.fetchone()
            if not waiting:
                cursor.execute(_STATE_SQL)
                unpublished, last, refused = cursor.fetchone()
                break
        # Until the first is out it is we who have waited.
        quiet = time.monotonic() - began if idle is None else float(idle)
        if quiet > _STUCK_SECONDS and time.monotonic() - began > _STUCK_SECONDS:
            raise NotPublished(f"nothing has gone out for {quiet:.0f} seconds, and events wait")
        time.sleep(_POLL_SECONDS)
    if unpublished or refused:
        raise NotPublished(f"{unpublished} never went out, {refused} were refused at least once")
    return float(last)


def published() -> dict[str, float]:
    """When each event went out, by its id: Unix time, in seconds."""
    with connection.cursor() as cursor:
        cursor.execute(_PUBLISHED_SQL)
        return dict(cursor.fetchall())
