"""Mode 1: the claim, the business rows and the answer commit together, or none of them do.

For work that is local to the database. Nothing can be left behind: whoever dies leaves no
record, and the next one simply runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.db import transaction

from idempotency import claims, lifecycle, patience
from idempotency.claims import Claimed, Mismatch, Replay, Running
from idempotency.deadlocks import retry_deadlocks
from idempotency.keys import Intent
from idempotency.lifecycle import Result
from idempotency.models import RecordStatus


class Refused(Exception):
    """The work decided against it; what it wrote is undone, and this answer is final."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"refused with {result.code}")
        self.result = result


class NotOneTransaction(RuntimeError):
    """Keys of this scope were claimed with a lease: a programming error.

    An operation that changes its mode takes a new version of its scope.
    """


@dataclass(frozen=True, slots=True)
class Executed:
    """This call did it; what it decided is recorded."""

    status: RecordStatus
    result: Result


Outcome = Executed | Replay | Mismatch | Running


def run(intent: Intent, work: Callable[[], Result]) -> Outcome:
    """Carry out the intent unless its key has an answer, and record the answer with it.

    `work` runs in the transaction and may be run again if a deadlock or a serialization failure
    ended it. It raises Refused for a refusal that repeats shall get as well; after any other
    exception nothing has happened, nothing is recorded, and a repeat runs it anew.
    """
    attempt = partial(retry_deadlocks, partial(_attempt, intent, work))
    outcome = attempt()
    if not isinstance(outcome, Running):
        return outcome
    return patience.ask_repeatedly(lambda: _decided(attempt())) or outcome


def _decided(outcome: Outcome) -> Outcome | None:
    return None if isinstance(outcome, Running) else outcome


def _attempt(intent: Intent, work: Callable[[], Result]) -> Outcome:
    try:
        return _transact(intent, RecordStatus.SUCCEEDED, work)
    except Refused as refusal:
        return record_refusal(intent, refusal.result)


def record_refusal(intent: Intent, result: Result) -> Outcome:
    """Record a refusal after the transaction that ended with it.

    The rows of the work are gone, and so is the claim. Should somebody else have been faster in
    between, then his answer is the answer.
    """
    return _transact(intent, RecordStatus.FAILED_FINAL, lambda: result)


@transaction.atomic(durable=True)
def _transact(intent: Intent, status: RecordStatus, work: Callable[[], Result]) -> Outcome:
    match claims.claim(intent):
        case Claimed(claim):
            result = work()
            lifecycle.finish(claim, status, result)
            return Executed(status, result)
        case claims.Recover():
            raise NotOneTransaction(str(intent.scope))
        case answer:
            return answer
