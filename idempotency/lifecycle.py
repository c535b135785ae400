"""The life of a record: which status may follow which, and the only code that changes one.

Each move is one conditional UPDATE that shows the owner's token and fence: whoever lost the
record matches nothing and is told so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection

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

_OWNED_SQL: Final = """
    UPDATE idempotency_record
       SET version = version + 1, {moves}
     WHERE id = %(id)s AND status = 'PROCESSING' AND owner_token = %(owner)s AND fence = %(fence)s
 RETURNING fence
"""
_FINISH_SQL: Final = _OWNED_SQL.format(
    moves="""status = %(status)s, result_code = %(code)s, result_body = %(body)s,
           resource_id = %(resource_id)s, finished_at = clock_timestamp(), lease_until = NULL,
           handed_over_at = NULL, reason = ''"""
)
_GIVE_UP_SQL: Final = _OWNED_SQL.format(
    moves="""status = 'FAILED_RETRYABLE', retry_count = retry_count + 1, reason = %(reason)s,
           lease_until = NULL, handed_over_at = NULL"""
)
_HAND_OVER_SQL: Final = _OWNED_SQL.format(
    moves="handed_over_at = clock_timestamp(), reason = %(reason)s"
)
# SKIP LOCKED: whoever is moving the record right now decides, and nobody waits for him.
_ENTER_PROCESSING_SQL: Final = """
    UPDATE idempotency_record
       SET version = version + 1, status = 'PROCESSING', fence = fence + 1,
           owner_token = %(new_owner)s, lease_until = clock_timestamp() + %(lease)s
     WHERE id = (SELECT id FROM idempotency_record
                  WHERE id = %(id)s AND owner_token = %(owner)s AND fence = %(fence)s
                    AND {condition}
                    FOR NO KEY UPDATE SKIP LOCKED)
 RETURNING fence
"""
_RECLAIM_SQL: Final = _ENTER_PROCESSING_SQL.format(
    condition="status = 'FAILED_RETRYABLE' AND version = %(version)s"
)
_TAKE_OVER_SQL: Final = _ENTER_PROCESSING_SQL.format(
    condition="""status = 'PROCESSING' AND lease_until <= clock_timestamp()
                    AND handed_over_at IS NULL"""
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
class Claim:
    """The right to carry out an intent, until its lease ends and somebody takes it over."""

    record_id: int
    owner: UUID
    fence: int
    retry_count: int = 0


def finish(claim: Claim, status: RecordStatus, result: Result) -> None:
    """Enter SUCCEEDED or FAILED_FINAL with the answer that every repeat will get.

    Call it before the business rows of the same transaction. Raises StaleOwner, ResultTooLarge.
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
    )


def give_up(claim: Claim, reason: str) -> None:
    """Enter FAILED_RETRYABLE: nothing happened, and a repeat may try again. Raises StaleOwner."""
    _move(_GIVE_UP_SQL, claim, reason=_bounded(reason))


def hand_over(claim: Claim, reason: str) -> None:
    """Stay in PROCESSING until a person has decided; nobody takes it over. Raises StaleOwner."""
    _move(_HAND_OVER_SQL, claim, reason=_bounded(reason))


def reclaim(seen: Claim, *, version: int, owner: UUID, lease: timedelta) -> Claim | None:
    """Leave FAILED_RETRYABLE for another attempt; None if somebody else was faster."""
    return _enter(_RECLAIM_SQL, seen, owner, lease, version=version)


def take_over(seen: Claim, *, owner: UUID, lease: timedelta) -> Claim | None:
    """Own a record whose lease has ended, in order to find out what became of its work.

    None if its owner finished meanwhile, if somebody else was faster, or if a person decides.
    """
    return _enter(_TAKE_OVER_SQL, seen, owner, lease)


def _enter(sql: str, seen: Claim, owner: UUID, lease: timedelta, **values: Any) -> Claim | None:
    values |= {"new_owner": owner, "lease": lease}
    fence = _update(sql, seen, values)
    if fence is None:
        return None
    return Claim(record_id=seen.record_id, owner=owner, fence=fence, retry_count=seen.retry_count)


def _move(sql: str, claim: Claim, **values: Any) -> None:
    if _update(sql, claim, values) is None:
        raise StaleOwner(f"record {claim.record_id} is not ours with fence {claim.fence}")


def _update(sql: str, claim: Claim, values: dict[str, Any]) -> int | None:
    values |= {"id": claim.record_id, "owner": claim.owner, "fence": claim.fence}
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def _bounded(reason: str) -> str:
    return reason[:REASON_LENGTH_MAX].replace("\0", "")
