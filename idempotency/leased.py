"""Mode 2: a claim with a lease, long work outside any transaction, then the answer.

For work that leaves the database, such as a call of a payment provider. Whoever dies leaves a
claim whose lease ends. That never runs the work again by itself: `recover` first asks the source
of truth (our rows, then the provider) and decides.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Final

from django.db import transaction

from idempotency import claims, lifecycle, one_transaction
from idempotency.claims import LEASE_DEFAULT, Claimed, Mismatch, Recover, Replay, Running
from idempotency.deadlocks import retry_deadlocks
from idempotency.keys import Intent
from idempotency.lifecycle import Claim, Result, StaleOwner
from idempotency.models import RecordStatus
from idempotency.one_transaction import Executed, Refused

#: How often an attempt may be given up as retryable; the last one is a final failure.
ATTEMPTS_MAX: Final = 5


def nothing(*_: object) -> None:
    """No business rows beside the record."""


@dataclass(frozen=True, slots=True)
class Finished:
    """It is known what happened. `rows` runs in the transaction that records the answer."""

    status: RecordStatus
    result: Result
    rows: Callable[[], None] = nothing


@dataclass(frozen=True, slots=True)
class GaveUp:
    """Certainly nothing happened, and a later attempt may succeed.

    `last_answer` becomes the final one when ATTEMPTS_MAX is reached.
    """

    reason: str
    last_answer: Result


@dataclass(frozen=True, slots=True)
class Unknown:
    """It may have happened: a timeout, a lost reply. Recovery asks when the lease has ended."""


@dataclass(frozen=True, slots=True)
class HandOver:
    """No rule can decide: a person must (`idempotency/by_hand.py`)."""

    reason: str


@dataclass(frozen=True, slots=True)
class RetryWithSameKey:
    """The source of truth knows nothing of it: run the work again, with the provider's same key."""


#: What work may find. An exception counts as Unknown, and is raised.
Finding = Finished | GaveUp | Unknown | HandOver
Work = Callable[[Intent, Claim], Finding]
Recovery = Callable[[Intent, Claim], Finding | RetryWithSameKey]
#: Business rows that commit with the claim, so that recovery knows what was meant. It may raise
#: `one_transaction.Refused`, which then is the final answer.
Prepare = Callable[[Claim], None]


@dataclass(frozen=True, slots=True)
class NotNow:
    """The attempt was given up and changed nothing: repeat the request later."""

    reason: str


Outcome = Executed | Replay | Mismatch | Running | NotNow


def run(
    intent: Intent,
    *,
    work: Work,
    recover: Recovery,
    prepare: Prepare = nothing,
    lease: timedelta = LEASE_DEFAULT,
) -> Outcome:
    """Carry out the intent unless its key has an answer or is being worked on.

    `lease` must be longer than the work ever takes: whoever outlives it may find the record in
    other hands, and then writes nothing. Neither `work` nor `recover` runs in a transaction.
    """
    try:
        answer = retry_deadlocks(partial(_claim, intent, prepare, lease))
    except Refused as refusal:
        return one_transaction.record_refusal(intent, refusal.result)
    match answer:
        case Claimed(claim):
            return _conclude(intent, claim, work(intent, claim), lease)
        case Recover(seen):
            return resume(intent, seen, work=work, recover=recover, lease=lease)
        case _:
            return answer


@transaction.atomic(durable=True)
def _claim(intent: Intent, prepare: Prepare, lease: timedelta) -> claims.Answer:
    answer = claims.claim(intent, lease=lease)
    # A later owner finds the rows of the first.
    if isinstance(answer, Claimed) and answer.claim.fence == 1:
        prepare(answer.claim)
    return answer


def resume(
    intent: Intent,
    seen: Claim,
    *,
    work: Work,
    recover: Recovery,
    lease: timedelta = LEASE_DEFAULT,
) -> Outcome:
    """Take over an expired claim, ask what became of its work, and conclude it."""
    with transaction.atomic(durable=True):
        claim = lifecycle.take_over(seen, owner=intent.owner, length=lease)
    if claim is None:
        return _as_it_stands(intent, lease)
    return recovered(intent, claim, work=work, recover=recover, lease=lease)


def recovered(
    intent: Intent, claim: Claim, *, work: Work, recover: Recovery, lease: timedelta
) -> Outcome:
    """Ask what became of the work of a claim that was taken over, and conclude it."""
    finding = recover(intent, claim)
    if isinstance(finding, RetryWithSameKey):
        finding = work(intent, claim)
    return _conclude(intent, claim, finding, lease)


def _conclude(intent: Intent, claim: Claim, finding: Finding, lease: timedelta) -> Outcome:
    try:
        return retry_deadlocks(partial(_record, claim, finding, lease))
    except StaleOwner:
        return _as_it_stands(intent, lease)


@transaction.atomic(durable=True)
def _record(claim: Claim, finding: Finding, lease: timedelta) -> Outcome:
    match finding:
        case Finished(status, result, rows):
            lifecycle.finish(claim, status, result)
            rows()
            return Executed(status, result)
        case GaveUp(reason, last_answer) if claim.retry_count + 1 < ATTEMPTS_MAX:
            lifecycle.give_up(claim, reason)
            return NotNow(reason)
        case GaveUp(_, last_answer):
            lifecycle.finish(claim, RecordStatus.FAILED_FINAL, last_answer)
            return Executed(RecordStatus.FAILED_FINAL, last_answer)
        case HandOver(reason):
            lifecycle.hand_over(claim, reason)
            return Running(lease, handed_over=True)
        case Unknown():
            return Running(lease)


def _as_it_stands(intent: Intent, lease: timedelta) -> Outcome:
    standing = claims.look(intent)
    if isinstance(standing, Replay | Mismatch | Running):
        return standing
    return Running(lease)
