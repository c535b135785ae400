"""Carry out the refunds that were asked for.

Claim, with a commit; then the provider, outside any transaction; then the answer, in a short
transaction that the claim guards. A process that dies in between leaves a refund whose lease ends:
`recover` asks the provider about it before anything is sent again.
"""

from collections import Counter
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from payments.refunds import answers, asking, lifecycle, one_by_one
from payments.refunds.asking import ClientFor
from payments.refunds.lifecycle import Claim

#: Longer than a client may take. Somebody who was slower than this is asked after, not repeated.
LEASE: Final = timedelta(minutes=2)
#: How many refunds one run carries out; the next tick takes the rest.
RUN_MAX: Final = 20


def carry_out(
    client_for: ClientFor, *, now: datetime, lease: timedelta = LEASE, limit: int = RUN_MAX
) -> Counter[str]:
    """Send the refunds that are due; how many were answered how."""
    return one_by_one.work_off(
        partial(lifecycle.claim_to_send, lease),
        lambda claim: _send(claim, client_for, now=now),
        limit=limit,
        now=now,
    )


def _send(claim: Claim, client_for: ClientFor, *, now: datetime) -> str:
    said = asking.send(claim.refund_id, client_for)
    if said.has_client:
        return answers.record(claim, said.answer, now=now)
    return answers.not_sent(claim, why=said.answer.why, now=now)
