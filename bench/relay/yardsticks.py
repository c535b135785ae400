"""What the parts can do that a relay stands on: the database's updates, and plain HTTP."""

import time
from typing import Final

import httpx2
from django.db import connection

from bench.relay import events

_BATCH: Final = 100
# What a claim and a mark write, without looking for it and without the event's own row.
_CLAIM_SQL: Final = """
    UPDATE outbox_dispatch SET state = 'CLAIMED', owner_token = gen_random_uuid(),
           fence = fence + 1, lease_until = clock_timestamp() + interval '30 seconds'
     WHERE id = ANY (%s)
"""
_MARK_SQL: Final = """
    UPDATE outbox_dispatch SET state = 'PUBLISHED', owner_token = NULL, lease_until = NULL,
           published_at = clock_timestamp()
     WHERE id = ANY (%s)
"""


def updates(destination: int, number: int) -> float:
    """Events a second that one connection can mark as claimed and as published, by their keys."""
    events.forget()
    events.write(number, [destination])
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM outbox_dispatch ORDER BY id")
        ids = [row[0] for row in cursor.fetchall()]
        began = time.perf_counter()
        for first in range(0, len(ids), _BATCH):
            for statement in (_CLAIM_SQL, _MARK_SQL):
                cursor.execute(statement, [ids[first : first + _BATCH]])
        seconds = time.perf_counter() - began
    events.forget()
    return number / seconds


def plain_posts(url: str, number: int) -> float:
    """Requests a second of one loop over one connection that is kept, unsigned."""
    body = b"x" * 400
    with httpx2.Client(trust_env=False) as client:
        began = time.perf_counter()
        for _ in range(number):
            client.post(
                url, content=body, headers={"content-type": "application/json"}
            ).raise_for_status()
        return number / (time.perf_counter() - began)
