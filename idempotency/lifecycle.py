"""The life of a record: which status may follow which, and the only code that changes one.

Each move is one conditional UPDATE under a lease (`idempotency/lease.py`): whoever lost the record
matches nothing and is told so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from idempotency import lease
from idempotency.keys import Intent, Scope
from idempotency.lease import NOW, Held
from idempotency.models import (
    REASON_LENGTH_MAX,
    RESOURCE_ID_LENGTH_MAX,
    RESULT_BODY_BYTES_MAX,
    RecordStatus,
)

#: Each status, and the statuses it may be entered from. An expired PROCESSING is taken over by a
#: new owner, who first asks what became of the work.
ENTERED_FROM: Final[Mapping[RecordStatus, frozenset[RecordStatus]]] = {
    RecordStatus.PROCESSING: frozenset({RecordStatus.FAILED_RETRYABLE, RecordStatus.PROCESSING}),
    RecordStatus.SUCCEEDED: frozenset({RecordStatus.PROCESSING}),
    RecordStatus.FAILED_RETRYABLE: frozenset({RecordStatus.PROCESSING}),
    RecordStatus.FAILED_FINAL: frozenset({RecordStatus.PROCESSING}),
}

_TABLE: Final = "idempotency_record"
_FINISH_SQL: Final = lease.owned(
    _TABLE,
    moves=f"""version = version + 1, status = %(status)s, result_code = %(code)s,
           result_body = %(body)s, resource_id = %(resource_id)s, finished_at = {NOW},
           lease_until = NULL, handed_over_at = NULL, reason = %(reason)s""",
)
_GIVE_UP_SQL: Final = lease.owned(
    _TABLE,
    moves="""version = version + 1, status = 'FAILED_RETRYABLE', retry_count = retry_count + 1,
           reason = %(reason)s, lease_until = NULL, handed_over_at = NULL""",
)
_HAND_OVER_SQL: Final = lease.owned(
    _TABLE, moves=f"version = version + 1, handed_over_at = {NOW}, reason = %(reason)s"
)
_COUNTED: Final = ", version = leased.version + 1"
_RECLAIM_SQL: Final = lease.entering(
    _TABLE,
    which=f"{lease.OURS} AND status = 'FAILED_RETRYABLE' AND version = %(version)s",
    moves=_COUNTED,
    returning=", leased.retry_count",
)
_TO_RECOVER: Final = f"{lease.EXPIRED} AND handed_over_at IS NULL"
_TAKE_OVER_SQL: Final = lease.entering(
    _TABLE,
    which=f"{lease.OURS} AND {_TO_RECOVER}",
    moves=_COUNTED,
    returning=", leased.retry_count",
)
_TAKE_NEXT_SQL: Final = lease.entering(
    _TABLE,
    which=f"{_TO_RECOVER} AND split_part(scope, '/', 2) = %(operation)s",
    order="lease_until",
    moves=_COUNTED,
    returning=", leased.retry_count, leased.scope, leased.idem_key, leased.request_hash",
)


class StaleOwner(Exception):
    """The record has another owner or is decided; nothing was written.

    Raised within the transaction that was to write the result, so that the business rows of an
    owner who slept too long are not written either.
    """


class ResultTooLarge(ValueError):
    """The answer is longer than RESULT_BODY_BYTES_MAX: name a resource instead."""


@dataclass(frozen=True, slots=True)
class Result:
    """A final answer: a code (of HTTP, where the intent came that way) and its body as sent."""

    code: int
    body: bytes = b""
    resource_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Held):
    """The right to carry out an intent, until its lease ends and somebody takes it over."""

    retry_count: int = 0


def finish(claim: Claim, status: RecordStatus, result: Result, *, reason: str = "") -> None:
    """Enter SUCCEEDED or FAILED_FINAL with the answer that every repeat will get.

    `reason` is kept where a person decided. Call it before the business rows of the same
    transaction. Raises StaleOwner, ResultTooLarge.
    """
    if len(result.body) > RESULT_BODY_BYTES_MAX or len(result.resource_id) > RESOURCE_ID_LENGTH_MAX:
        raise ResultTooLarge(f"{len(result.body)} bytes")
    _move(
        _FINISH_SQL,
        claim,
        status=status,
        code=result.code,
        body=result.body,
        resource_id=result.resource_id,
        reason=_bounded(reason),
    )


def give_up(claim: Claim, reason: str) -> None:
    """Enter FAILED_RETRYABLE: nothing happened, and a repeat may try again. Raises StaleOwner."""
    _move(_GIVE_UP_SQL, claim, reason=_bounded(reason))


def hand_over(claim: Claim, reason: str) -> None:
    """Stay in PROCESSING until a person has decided; nobody takes it over. Raises StaleOwner."""
    _move(_HAND_OVER_SQL, claim, reason=_bounded(reason))


def reclaim(seen: Claim, *, version: int, owner: UUID, length: timedelta) -> Claim | None:
    """Leave FAILED_RETRYABLE for another attempt; None if somebody else was faster."""
    return _enter(_RECLAIM_SQL, seen, owner, length, version=version)


def take_over(seen: Claim, *, owner: UUID, length: timedelta) -> Claim | None:
    """Own a record whose lease has ended, in order to find out what became of its work.

    None if its owner finished meanwhile, if somebody else was faster, or if a person decides.
    """
    return _enter(_TAKE_OVER_SQL, seen, owner, length)


def take_over_next(operation: str, length: timedelta) -> tuple[Intent, Claim] | None:
    """Own the record of an operation whose lease ended first, in the same way; None if none has."""
    owner = uuid4()
    taken = lease.enter(_TAKE_NEXT_SQL, owner=owner, lease=length, operation=operation)
    if taken is None:
        return None
    held, (retry_count, scope, key, digest) = taken
    return Intent(Scope.parse(scope), key, bytes(digest), owner), _claim(held, retry_count)


def _enter(sql: str, seen: Claim, owner: UUID, length: timedelta, **values: Any) -> Claim | None:
    taken = lease.enter(sql, owner=owner, lease=length, seen=seen, **values)
    if taken is None:
        return None
    held, (retry_count,) = taken
    return _claim(held, retry_count)


def _claim(held: Held, retry_count: int) -> Claim:
    return Claim(row_id=held.row_id, owner=held.owner, fence=held.fence, retry_count=retry_count)


def _move(sql: str, claim: Claim, **values: Any) -> None:
    if not lease.move(sql, claim, **values):
        raise StaleOwner(f"record {claim.row_id} is not ours with fence {claim.fence}")


def _bounded(reason: str) -> str:
    return reason[:REASON_LENGTH_MAX].replace("\0", "")
