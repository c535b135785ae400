"""Ask about one refund now, because a person wants to know; it is never sent again from here.

Whoever was about to ask or to send loses the refund to this claim, as to the recovery: what he
is told counts no more, and the refund is asked about again.
"""

from datetime import datetime

from payments.clients.port import RefundAnswer
from payments.refunds import answers, asking, lifecycle
from payments.refunds.asking import ClientFor
from payments.refunds.carry_out import LEASE
from payments.refunds.lifecycle import Claim


def claim(refund_id: int) -> Claim | None:
    """Take over this refund, if it was sent and has not ended."""
    return lifecycle.claim_one(refund_id, LEASE)


def ask(claim: Claim, client_for: ClientFor, *, now: datetime) -> RefundAnswer:
    """Ask the provider, outside any transaction, and settle the refund if it is clear."""
    said = asking.query(claim.refund_id, client_for)
    answers.record(claim, said.answer, now=now)
    return said.answer
