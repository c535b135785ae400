"""What follows from decisions later: a refund that failed asks again, a proposal ends by itself."""

from datetime import datetime
from functools import partial
from typing import Final

from django.db import connection, transaction

from idempotency.deadlocks import retry_deadlocks
from payments.conflicts import lifecycle, proposals
from payments.conflicts import seen as seeing
from payments.conflicts.open import DUE_IN
from payments.models import (
    WHY_LENGTH_MAX,
    ConflictStatus,
    ProposalStatus,
    RefundStatus,
    Severity,
)

SWEEP_MAX: Final = 200

# One that had succeeded before it failed has a question of its own: REFUND_REVERSED.
_FAILED_SQL: Final = """
    SELECT c.id FROM payments_refund r JOIN payments_conflict c ON c.refund_id = r.id
     WHERE r.status = 'FAILED' AND r.transaction_id IS NULL AND c.status = 'RESOLVED'
  ORDER BY c.id LIMIT %s
"""
_OVER_SQL: Final = """
    SELECT p.id FROM payments_proposal p JOIN payments_conflict c ON c.id = p.conflict_id
     WHERE p.status = 'PENDING' AND (p.expires_at <= %s OR c.status <> 'PROPOSED')
  ORDER BY p.id LIMIT %s
"""


def follow_up(*, now: datetime, limit: int = SWEEP_MAX) -> tuple[int, int]:
    """How many conflicts were opened again, and how many proposals ended."""
    failed = [retry_deadlocks(partial(_ask_again, row, now)) for row in _ids(_FAILED_SQL, limit)]
    over = [retry_deadlocks(partial(_expire, row, now)) for row in _ids(_OVER_SQL, now, limit)]
    return sum(failed), sum(over)


@transaction.atomic(durable=True)
def _ask_again(conflict_id: int, now: datetime) -> bool:
    conflict = seeing.lock(conflict_id).conflict
    refund = conflict.refund
    if conflict.status != ConflictStatus.RESOLVED or refund is None:
        return False
    if refund.status != RefundStatus.FAILED or refund.transaction_id is not None:
        return False
    due_at = now + DUE_IN[Severity(conflict.severity)]
    why = f"refund {refund.refund_no} failed: {refund.why}"
    lifecycle.reopen(conflict, why=why[:WHY_LENGTH_MAX], due_at=due_at, now=now)
    return True


@transaction.atomic(durable=True)
def _expire(proposal_id: int, now: datetime) -> bool:
    held, proposal = proposals.lock(proposal_id)
    is_over = proposal.expires_at <= now or held.conflict.status != ConflictStatus.PROPOSED
    if proposal.status != ProposalStatus.PENDING or not is_over:
        return False
    proposals.take_back(
        held, proposal, ProposalStatus.EXPIRED, why="its time has passed", user_id=None, now=now
    )
    return True


def _ids(sql: str, *parameters: datetime | int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [row[0] for row in cursor.fetchall()]
