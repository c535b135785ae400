"""Recover the refunds whose answer was lost, or whose end comes later: ask, and never guess.

The provider is asked before anything is repeated. That it does not know a refund proves nothing
for a while after the request: only then is it sent again, under the same number, which makes it
the same refund.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from payments.clients.port import Answer, RefundAnswer
from payments.refunds import answers, asking, lifecycle
from payments.refunds.asking import ClientFor
from payments.refunds.carry_out import LEASE, RUN_MAX
from payments.refunds.lifecycle import Claim

#: Within this time every provider shows a refund that it has accepted.
VISIBILITY_WINDOW: Final = timedelta(minutes=10)
SENT_AGAIN: Final = "SENT_AGAIN"


def recover(
    client_for: ClientFor,
    *,
    now: datetime,
    lease: timedelta = LEASE,
    window: timedelta = VISIBILITY_WINDOW,
    limit: int = RUN_MAX,
) -> Counter[str]:
    """Ask about the refunds whose lease has ended; how many were answered how."""
    answered: Counter[str] = Counter()
    for _ in range(limit):
        claim = lifecycle.claim_to_ask(lease)
        if claim is None:
            break
        answer = asking.query(claim.refund_id, client_for)
        answered[_record(claim, answer, window=window, now=now)] += 1
    return answered


def _record(claim: Claim, answer: RefundAnswer, *, window: timedelta, now: datetime) -> str:
    if answer.answer is Answer.NOT_FOUND and lifecycle.send_again(
        claim, window=window, why=answer.why
    ):
        return SENT_AGAIN
    return answers.record(claim, answer, now=now)
