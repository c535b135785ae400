"""Say it if and only if it is true: write an event in the transaction that makes it so."""

import json
import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection

INSERT_SQL = """
    INSERT INTO outbox_event (id, aggregate_type, aggregate_id, seq, type, payload, headers,
                              created_at, state, attempts, fence, last_error)
    VALUES (%s, %s, %s, %s, %s, %s::jsonb, '{}'::jsonb, %s, 'PENDING', 0, 0, '')
"""


class NoTransaction(RuntimeError):
    """emit() was called outside a transaction: the event could outlive, or miss, its cause."""


def emit(
    *,
    aggregate_type: str,
    aggregate_id: str,
    seq: int,
    type: str,  # noqa: A002 - the field's standard name
    payload: Mapping[str, Any],
    at: datetime,
) -> uuid.UUID:
    """Write an event beside the change that it tells, and return its id.

    `seq` is the aggregate's version after that change. The relay publishes the event after
    the commit, at least once, in the order of `seq`.

    Raises NoTransaction outside a transaction, and IntegrityError if `seq` was used already:
    both are programming errors.
    """
    if not connection.in_atomic_block:
        raise NoTransaction(f"emit({type}) must share the transaction of the change it tells")
    event_id = uuid.uuid4()
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT_SQL,
            [event_id, aggregate_type, aggregate_id, seq, type, json.dumps(payload), at],
        )
    return event_id
