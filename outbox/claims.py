"""Who publishes which dispatch: the only code that moves one from one state to another.

A claim is a lease: it ends by the database's clock, and then anybody may take the dispatch over.
Each claim raises the dispatch's `fence`, and every later move must show the fence and the claim's
random owner token, so whoever lost a claim can change nothing any more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection

from outbox.destinations.port import PAYLOAD_BYTES_MAX, Message
from outbox.models import ERROR_LENGTH_MAX, DispatchState

#: Each state, and the states it may be entered from; the statements below are its moves, and
#: `outbox/redrive.py` has the one from DEAD.
ENTERED_FROM: Final[Mapping[DispatchState, frozenset[DispatchState]]] = {
    DispatchState.PENDING: frozenset({DispatchState.CLAIMED, DispatchState.DEAD}),
    DispatchState.CLAIMED: frozenset({DispatchState.PENDING, DispatchState.CLAIMED}),
    DispatchState.PUBLISHED: frozenset({DispatchState.CLAIMED}),
    DispatchState.DEAD: frozenset({DispatchState.CLAIMED}),
}

# The head of line of an aggregate at a destination is its first dispatch that is not published:
# while that one is claimed, waits or is dead, those behind it wait. As all go out in order, a
# dispatch is the head if the one before it is published, or dead and of a type that lets others
# pass. (NOT EXISTS would say the same; but where the statistics know nothing yet of a backlog,
# PostgreSQL then plans a join that looks at all of it for each event: 8 seconds a claim where
# 200,000 wait.) Locked rows are being claimed by somebody else. What rests is not claimed for.
CLAIM_SQL: Final = """
    WITH heads AS MATERIALIZED (
        SELECT head.id
        FROM outbox_dispatch AS head
        WHERE head.destination_id = %(destination)s
          AND (SELECT state = 'ACTIVE' FROM outbox_destination WHERE id = %(destination)s)
          AND head.published_at IS NULL AND head.dead_at IS NULL
          AND (head.state = 'PENDING'
                   AND (head.next_attempt_at IS NULL OR head.next_attempt_at <= clock_timestamp())
               OR head.state = 'CLAIMED' AND head.lease_until <= clock_timestamp())
          AND (
              SELECT previous.published_at IS NULL
                 AND (previous.dead_at IS NULL OR NOT EXISTS (
                      SELECT FROM outbox_event AS passed
                       WHERE passed.id = previous.event_id
                         AND passed.type = ANY(%(passable)s::varchar[])))
              FROM outbox_dispatch AS previous
              WHERE previous.destination_id = head.destination_id
                AND previous.aggregate_type = head.aggregate_type
                AND previous.aggregate_id = head.aggregate_id
                AND previous.seq < head.seq
              ORDER BY previous.seq DESC
              LIMIT 1) IS NOT TRUE
        ORDER BY head.created_at {direction}
        LIMIT %(batch)s
        FOR NO KEY UPDATE OF head SKIP LOCKED
    )
    UPDATE outbox_dispatch AS dispatch
    SET state = 'CLAIMED', owner_token = %(owner)s, fence = dispatch.fence + 1,
        lease_until = clock_timestamp() + %(lease)s
    FROM heads, outbox_event AS event
    WHERE dispatch.id = heads.id AND event.id = dispatch.event_id
    RETURNING dispatch.id, dispatch.fence, dispatch.attempts, event.id, event.type,
        event.aggregate_type, event.aggregate_id, event.seq, event.created_at,
        CASE WHEN octet_length(event.payload::text) <= %(bytes_max)s THEN event.payload::text END,
        coalesce(event.headers ->> 'traceparent', '')
"""
OLDEST_FIRST_SQL: Final = CLAIM_SQL.format(direction="")
NEWEST_FIRST_SQL: Final = CLAIM_SQL.format(direction="DESC")

# The ids are named twice: where the statistics know of nobody who holds a claim, PostgreSQL would
# look for the claims by their owner, through the whole table.
MOVE_SQL: Final = """
    UPDATE outbox_dispatch AS dispatch
    SET owner_token = NULL, lease_until = NULL, {moves}
    FROM unnest(%(ids)s::bigint[], %(fences)s::integer[], %(waits)s::interval[], %(errors)s::text[])
        AS claim (id, fence, wait, error)
    WHERE dispatch.id = ANY (%(ids)s::bigint[])
      AND dispatch.id = claim.id AND dispatch.fence = claim.fence
      AND dispatch.owner_token = %(owner)s AND dispatch.state = 'CLAIMED'
    RETURNING dispatch.id, dispatch.state
"""
PUBLISHED_SQL: Final = MOVE_SQL.format(
    moves="""state = 'PUBLISHED', published_at = clock_timestamp(), next_attempt_at = NULL,
        last_error = ''"""
)
RELEASED_SQL: Final = MOVE_SQL.format(
    moves="""state = 'PENDING', next_attempt_at = clock_timestamp() + claim.wait,
        last_error = claim.error"""
)
_LAST: Final = "dispatch.attempts + 1 >= %(attempts_max)s"
REFUSED_SQL: Final = MOVE_SQL.format(
    moves=f"""state = CASE WHEN {_LAST} THEN 'DEAD' ELSE 'PENDING' END,
        dead_at = CASE WHEN {_LAST} THEN clock_timestamp() END,
        attempts = dispatch.attempts + 1, next_attempt_at = clock_timestamp() + claim.wait,
        last_error = claim.error"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One dispatch that we may publish until its lease ends; `message` is None if too large."""

    id: int
    event_id: UUID
    owner: UUID
    fence: int
    attempts: int
    message: Message | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """Why a claimed dispatch was not published, and how long it shall wait."""

    claim: Claim
    reason: str
    wait: timedelta


def claim_heads(
    destination_id: int, *, batch: int, lease: timedelta, newest_first: bool = False
) -> list[Claim]:
    """Take up to `batch` dispatches that nobody holds, at most one of each aggregate.

    The oldest are taken, or the newest, and told in the order of their events' times. Nothing
    is taken for a destination that is not ACTIVE.
    """
    owner = uuid4()
    values: dict[str, Any] = {
        "destination": destination_id,
        "passable": settings.OUTBOX_FOLLOWERS_PASS,
        "batch": batch,
        "owner": owner,
        "lease": lease,
        "bytes_max": PAYLOAD_BYTES_MAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(NEWEST_FIRST_SQL if newest_first else OLDEST_FIRST_SQL, values)
        rows = cursor.fetchall()
    return [_claim(owner, row) for row in sorted(rows, key=lambda row: (row[8], row[7]))]


def published(claims: Sequence[Claim]) -> set[int]:
    """Mark the dispatches as published; the answer is those that were still ours."""
    nothing = timedelta()
    setbacks = [Setback(claim=claim, reason="", wait=nothing) for claim in claims]
    return set(_move(PUBLISHED_SQL, setbacks))


def released(setbacks: Sequence[Setback]) -> set[int]:
    """Give the dispatches back, at no cost to them; the answer is those that were still ours."""
    return set(_move(RELEASED_SQL, setbacks))


def refused(setbacks: Sequence[Setback], *, attempts_max: int) -> Mapping[int, DispatchState]:
    """Count an attempt of each; those with none left are DEAD. Tells of those still ours."""
    return _move(REFUSED_SQL, setbacks, attempts_max=attempts_max)


def _claim(owner: UUID, row: Sequence[Any]) -> Claim:
    dispatch_id, fence, attempts, event_id = row[:4]
    type_, aggregate_type, aggregate_id, seq, at, payload, trace = row[4:]
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
    return Claim(
        id=dispatch_id,
        event_id=event_id,
        owner=owner,
        fence=fence,
        attempts=attempts,
        message=message,
    )


def _move(sql: str, setbacks: Iterable[Setback], **values: int) -> dict[int, DispatchState]:
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
        return {dispatch_id: DispatchState(state) for dispatch_id, state in cursor.fetchall()}
