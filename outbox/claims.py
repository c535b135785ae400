"""Who publishes which event: the only code that moves an event from one state to another.

A claim is a lease: it ends by the database's clock, and then anybody may take the event over. Each
claim raises the event's `fence`, and every later move must show the fence and the claim's random
owner token, so whoever lost a claim can change nothing any more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import connection

from outbox.destinations.port import PAYLOAD_BYTES_MAX, Message
from outbox.models import ERROR_LENGTH_MAX, EventState

#: Each state, and the states it may be entered from; the statements below are its moves, and
#: `outbox/redrive.py` has the one from DEAD.
ENTERED_FROM: Final[Mapping[EventState, frozenset[EventState]]] = {
    EventState.PENDING: frozenset({EventState.CLAIMED, EventState.DEAD}),
    EventState.CLAIMED: frozenset({EventState.PENDING, EventState.CLAIMED}),
    EventState.PUBLISHED: frozenset({EventState.CLAIMED}),
    EventState.DEAD: frozenset({EventState.CLAIMED}),
}

# The head of line of an aggregate is its first event that is not published: while that one is
# claimed, waits or is dead, those behind it wait. As all go out in order, an event is the head if
# the one before it is published. (NOT EXISTS would say the same; but where the statistics know
# nothing yet of a backlog, PostgreSQL then plans a join that looks at all of it for each event: 8
# seconds a claim where 200,000 wait.) Locked rows are being claimed by somebody else.
CLAIM_SQL: Final = """
    WITH heads AS MATERIALIZED (
        SELECT head.id
        FROM outbox_event AS head
        WHERE head.published_at IS NULL
          AND (head.state = 'PENDING'
                   AND (head.next_attempt_at IS NULL OR head.next_attempt_at <= clock_timestamp())
               OR head.state = 'CLAIMED' AND head.lease_until <= clock_timestamp())
          AND (
              SELECT previous.published_at IS NULL
              FROM outbox_event AS previous
              WHERE previous.aggregate_type = head.aggregate_type
                AND previous.aggregate_id = head.aggregate_id
                AND previous.seq < head.seq
              ORDER BY previous.seq DESC
              LIMIT 1) IS NOT TRUE
        ORDER BY head.created_at
        LIMIT %(batch)s
        FOR NO KEY UPDATE OF head SKIP LOCKED
    )
    UPDATE outbox_event AS event
    SET state = 'CLAIMED', owner_token = %(owner)s, fence = event.fence + 1,
        lease_until = clock_timestamp() + %(lease)s
    FROM heads
    WHERE event.id = heads.id
    RETURNING event.id, event.fence, event.attempts, event.type, event.aggregate_type,
        event.aggregate_id, event.seq, event.created_at,
        CASE WHEN octet_length(event.payload::text) <= %(bytes_max)s THEN event.payload::text END,
        coalesce(event.headers ->> 'traceparent', '')
"""

MOVE_SQL: Final = """
    UPDATE outbox_event AS event
    SET owner_token = NULL, lease_until = NULL, {moves}
    FROM unnest(%(ids)s::uuid[], %(fences)s::integer[], %(waits)s::interval[], %(errors)s::text[])
        AS claim (id, fence, wait, error)
    WHERE event.id = claim.id AND event.fence = claim.fence
      AND event.owner_token = %(owner)s AND event.state = 'CLAIMED'
    RETURNING event.id, event.state
"""
PUBLISHED_SQL: Final = MOVE_SQL.format(
    moves="""state = 'PUBLISHED', published_at = clock_timestamp(), next_attempt_at = NULL,
        last_error = ''"""
)
RELEASED_SQL: Final = MOVE_SQL.format(
    moves="""state = 'PENDING', next_attempt_at = clock_timestamp() + claim.wait,
        last_error = claim.error"""
)
REFUSED_SQL: Final = MOVE_SQL.format(
    moves="""state = CASE WHEN event.attempts + 1 < %(attempts_max)s THEN 'PENDING' ELSE 'DEAD' END,
        attempts = event.attempts + 1, next_attempt_at = clock_timestamp() + claim.wait,
        last_error = claim.error"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One event that we may publish until its lease ends; `message` is None if it is too large."""

    id: UUID
    owner: UUID
    fence: int
    attempts: int
    message: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """Why a claimed event was not published, and how long it shall wait."""

    claim: Claim
    reason: str
    wait: timedelta


def claim_heads(*, batch: int, lease: timedelta) -> list[Claim]:
    """Take up to `batch` events that nobody holds, at most one of each aggregate, oldest first."""
    owner = uuid4()
    values: dict[str, Any] = {
        "batch": batch,
        "owner": owner,
        "lease": lease,
        "bytes_max": PAYLOAD_BYTES_MAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(CLAIM_SQL, values)
        rows = cursor.fetchall()
    return [_claim(owner, row) for row in sorted(rows, key=lambda row: (row[7], row[6]))]


def published(claims: Sequence[Claim]) -> set[UUID]:
    """Mark the events as published; the answer is those that were still ours."""
    nothing = timedelta()
    setbacks = [Setback(claim=claim, reason="", wait=nothing) for claim in claims]
    return set(_move(PUBLISHED_SQL, setbacks))


def released(setbacks: Sequence[Setback]) -> set[UUID]:
    """Give the events back, at no cost to them; the answer is those that were still ours."""
    return set(_move(RELEASED_SQL, setbacks))


def refused(setbacks: Sequence[Setback], *, attempts_max: int) -> Mapping[UUID, EventState]:
    """Count an attempt of each event; those with none left are DEAD. Tells of those still ours."""
    return _move(REFUSED_SQL, setbacks, attempts_max=attempts_max)


def _claim(owner: UUID, row: Sequence[Any]) -> Claim:
    event_id, fence, attempts, type_, aggregate_type, aggregate_id, seq, at, payload, trace = row
    message = None
    if payload is not None:
        message = Message(
            id=event_id,
            type=type_,
            aggregate_type=aggregate_type,
            aggregate_id=aggregate_id,
            seq=seq,
            created_at=at,
            payload=payload.encode(),
            traceparent=trace,
        )
    return Claim(id=event_id, owner=owner, fence=fence, attempts=attempts, message=message)


def _move(sql: str, setbacks: Iterable[Setback], **values: int) -> dict[UUID, EventState]:
    setbacks = list(setbacks)
    if not setbacks:
        return {}
    columns: dict[str, Any] = {
        "owner": setbacks[0].claim.owner,
        "ids": [setback.claim.id for setback in setbacks],
        "fences": [setback.claim.fence for setback in setbacks],
        "waits": [setback.wait for setback in setbacks],
        "errors": [setback.reason[:ERROR_LENGTH_MAX].replace("\0", "") for setback in setbacks],
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, columns | values)
        return {event_id: EventState(state) for event_id, state in cursor.fetchall()}
