"""Recover the refunds whose answer was lost, or whose end comes later: ask, and never guess.

The provider is asked before anything is repeated. That it does not know a refund proves nothing
for a while after the request: only then is it sent again, under the same number, which makes it
the same refund.
"""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from payments.clients.port import VISIBILITY_WINDOW, Answer
from payments.refunds import answers, asking, lifecycle, one_by_one
from payments.refunds.asking import ClientFor
from payments.refunds.carry_out import LEASE, RUN_MAX
from payments.refunds.lifecycle import Claim

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
    return one_by_one.work_off(
        partial(lifecycle.claim_to_ask, lease),
        lambda claim: _ask(claim, client_for, window=window, now=now),
        limit=limit,
        now=now,
    )


def _ask(claim: Claim, client_for: ClientFor, *, window: timedelta, now: datetime) -> str:
    said = asking.query(claim.refund_id, client_for)
    never_arrived = said.answer.answer is Answer.NOT_FOUND
    # Who tells nothing of refunds answers the same request with the same answer.
    must_repeat = said.answer.answer is Answer.UNKNOWN and not said.tells_refunds
    if (never_arrived or must_repeat) and lifecycle.send_again(
        claim,
        window=timedelta(0) if must_repeat else window,
        repeatable_for=said.repeatable_for,
        why=said.answer.why,
    ):
        return SENT_AGAIN
    return answers.record(claim, said.answer, now=now)
