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

from outbox.claims_sql import (
    NEWEST_FIRST_SQL,
    OLDEST_FIRST_SQL,
    PUBLISHED_SQL,
    REFUSED_SQL,
    RELEASED_SQL,
)
from outbox.destinations.port import PAYLOAD_BYTES_MAX, Message
from outbox.models import ERROR_LENGTH_MAX, Dispatch, DispatchState
from outbox.planning import planned_anew

#: What the payloads of one batch may come to: they are in memory until they are out.
BATCH_BYTES_MAX: Final = 8 * PAYLOAD_BYTES_MAX

#: Each state, and the states it may be entered from; `outbox/claims_sql.py` has its moves, and
#: `outbox/redrive.py` has the one from DEAD.
ENTERED_FROM: Final[Mapping[DispatchState, frozenset[DispatchState]]] = {
    DispatchState.PENDING: frozenset({DispatchState.CLAIMED, DispatchState.DEAD}),
    DispatchState.CLAIMED: frozenset({DispatchState.PENDING, DispatchState.CLAIMED}),
    DispatchState.PUBLISHED: frozenset({DispatchState.CLAIMED}),
    DispatchState.DEAD: frozenset({DispatchState.CLAIMED}),
}


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

    Their payloads come to BATCH_BYTES_MAX at most; what does not fit is the next batch's.

    The oldest are taken, or the newest, and told in the order of their events' times; the newest
    are looked for among the last ten batches only, so none may be found while others wait.
    Nothing is taken for a destination that is not ACTIVE.
    """
    owner = uuid4()
    values: dict[str, Any] = {
        "destination": destination_id,
        "passable": settings.OUTBOX_FOLLOWERS_PASS,
        "batch": batch,
        "owner": owner,
        "lease": lease,
        "bytes_max": PAYLOAD_BYTES_MAX,
        "batch_bytes_max": BATCH_BYTES_MAX,
    }
    with planned_anew(), connection.cursor() as cursor:
        cursor.execute(NEWEST_FIRST_SQL if newest_first else OLDEST_FIRST_SQL, values)
        rows = cursor.fetchall()
    return [_claim(owner, row) for row in sorted(rows, key=lambda row: (row[8], row[7]))]


def published(claims: Sequence[Claim], *, again: bool = False) -> set[int]:
    """Mark the dispatches as published; the answer is those that were still ours.

    `again`: we may have marked them already, and only the database's answer was lost.
    """
    nothing = timedelta()
    setbacks = [Setback(claim=claim, reason="", wait=nothing) for claim in claims]
    ours = set(_move(PUBLISHED_SQL, setbacks))
    if again:
        # A fence belongs to one claim, so whoever published it under ours was us.
        fences = {claim.id: claim.fence for claim in claims}
        rows = Dispatch.objects.filter(pk__in=fences, state=DispatchState.PUBLISHED)
        ours |= {pk for pk, fence in rows.values_list("pk", "fence") if fences[pk] == fence}
    return ours


def released(setbacks: Sequence[Setback]) -> set[int]:
    """Give the dispatches back, at no cost to them; the answer is those that were still ours."""
    return set(_move(RELEASED_SQL, setbacks))


def refused(setbacks: Sequence[Setback], *, attempts_max: int) -> Mapping[int, DispatchState]:
    """Count an attempt of each; those with none left are DEAD. Tells of those still ours."""
    return _move(REFUSED_SQL, setbacks, attempts_max=attempts_max)


def _claim(owner: UUID, row: Sequence[Any]) -> Claim:
    dispatch_id, fence, attempts, event_id = row[:4]
    type_, aggregate_type, aggregate_id, seq, at, payload, traceparent, dataschema = row[4:]
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
            traceparent=traceparent,
            dataschema=dataschema,
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
    with planned_anew(), connection.cursor() as cursor:
        cursor.execute(sql, columns | values)
        return {dispatch_id: DispatchState(state) for dispatch_id, state in cursor.fetchall()}
