"""Claim an intent: one INSERT decides who was first, and everybody else is told how it stands.

The unique constraint on (scope, key) decides, and whose token the row then carries says who won.
A lock, which is tried and never waited for, only keeps the others from queueing behind an
INSERT that has not committed: a key that is being worked on is answered at once.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import connection

from idempotency import holder, lifecycle
from idempotency.keys import Intent, Scope, intent
from idempotency.lifecycle import Claim, Result
from idempotency.models import FINAL_STATUSES, Record, RecordStatus

LEASE_DEFAULT: Final = timedelta(seconds=60)

# CASE, because AND promises no order: whoever shows his meaning holds the key's lock already.
_CLAIM_SQL: Final = """
    WITH locked AS MATERIALIZED (
        SELECT CASE WHEN pg_try_advisory_xact_lock(%(lock)s::bigint)
                    THEN pg_try_advisory_xact_lock_shared(%(lock_a)s::int, %(lock_b)s::int)
                    ELSE false END AS held
    )
    INSERT INTO idempotency_record (scope, idem_key, request_hash, status, owner_token, fence,
                                    lease_until, resource_id, retry_count, version, reason,
                                    created_at)
    SELECT %(scope)s, %(key)s, %(digest)s, 'PROCESSING', %(owner)s, 1,
           clock_timestamp() + %(lease)s, '', 0, 0, '', clock_timestamp()
      FROM locked WHERE held
    ON CONFLICT (scope, idem_key) DO NOTHING
    RETURNING id, owner_token
"""
_READ_SQL: Final = """
    SELECT id, request_hash, status, owner_token, fence, retry_count, version, result_code,
           result_body, resource_id, handed_over_at IS NOT NULL,
           extract(epoch FROM lease_until - clock_timestamp())::float8
      FROM idempotency_record
     WHERE scope = %(scope)s AND idem_key = %(key)s
"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """Carry it out: nobody else may."""

    claim: Claim


@dataclass(frozen=True, slots=True)
class Replay:
    """It is decided; this was the answer."""

    status: RecordStatus
    result: Result


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The key stands for something else."""


@dataclass(frozen=True, slots=True)
class Running:
    """Somebody is at it.

    `lease_left` is None while its transaction is open, which is a matter of milliseconds.
    """

    lease_left: timedelta | None = None
    handed_over: bool = False


@dataclass(frozen=True, slots=True)
class Recover:
    """Its owner's lease has ended: take it over, ask what became of the work, then decide."""

    seen: Claim


@dataclass(frozen=True, slots=True)
class Retryable:
    """An attempt was given up and changed nothing; whoever repeats the request tries again."""

    seen: Claim
    version: int


#: What `look` can find.
Standing = Claimed | Replay | Mismatch | Running | Recover | Retryable
#: What `claim` can answer.
Answer = Claimed | Replay | Mismatch | Running | Recover


def claim(intent: Intent, *, lease: timedelta = LEASE_DEFAULT) -> Answer:
    """Insert the intent's record, or say how the one that exists stands.

    Call it in a transaction; it stays usable whatever the answer is, and no answer waits for
    another transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_SQL, _values(intent) | {"lease": lease})
        row = cursor.fetchone()
    if row is not None and row[1] == intent.owner:
        return Claimed(Claim(row_id=row[0], owner=intent.owner, fence=1))
    match look(intent) or _held(intent) or look(intent):
        case None:
            return Running()
        case Retryable(seen, version):
            again = lifecycle.reclaim(seen, version=version, owner=intent.owner, length=lease)
            return Running() if again is None else Claimed(again)
        case standing:
            return standing


def look(intent: Intent) -> Standing | None:
    """How the record stands, without a claim; None if none is committed. Waits for nobody.

    Another meaning comes before everything else.
    """
    with connection.cursor() as cursor:
        cursor.execute(_READ_SQL, _values(intent))
        row = cursor.fetchone()
    return None if row is None else _standing(intent, row)


def find(scope: Scope, key: str) -> Record | Running | None:
    """The record of a key, or Running where a claim has not committed; for those who ask only.

    Raises MalformedKey.
    """
    # Whose meaning it is makes no difference here.
    anybody = intent(scope=scope, key=key, digest=bytes(32))
    record = Record.objects.filter(scope=str(scope), idem_key=key)
    found = record.first()
    if found is None and holder.find(anybody) is not None:
        return Running()
    # Whoever held the lock a moment ago has committed since, or never will.
    return found or record.first()


def _standing(intent: Intent, row: Any) -> Standing:
    record_id, digest, status, owner, fence, retries, version, *answer, handed_over, left = row
    seen = Claim(row_id=record_id, owner=owner, fence=fence, retry_count=retries)
    if bytes(digest) != intent.digest:
        return Mismatch()
    if status in FINAL_STATUSES:
        code, body, resource_id = answer
        return Replay(RecordStatus(status), Result(code, bytes(body or b""), resource_id))
    if status == RecordStatus.FAILED_RETRYABLE:
        return Retryable(seen, version)
    if owner == intent.owner:
        return Claimed(seen)
    if left > 0 or handed_over:
        return Running(timedelta(seconds=max(left, 0.0)), handed_over=handed_over)
    return Recover(seen)


def _held(intent: Intent) -> Running | Mismatch | None:
    """How it stands with whoever has not committed; None if his meaning is not seen.

    He may be letting go of his locks just now: then he has committed, or never will.
    """
    match holder.find(intent):
        case (True,):
            return Running()
        case (False,):
            return Mismatch()
        case _:
            return None


def _values(intent: Intent) -> dict[str, Any]:
    lock_a, lock_b = intent.meaning_lock
    return {
        "scope": str(intent.scope),
        "key": intent.key,
        "digest": intent.digest,
        "owner": intent.owner,
        "lock": intent.lock_key,
        "lock_a": lock_a,
        "lock_b": lock_b,
    }
