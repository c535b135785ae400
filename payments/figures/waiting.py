"""What waits for a person: conflicts by reason and age, and what else is not settled."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.db.models import QuerySet

from payments.models import (
    Confirmation,
    ConfirmationStatus,
    Disposition,
    Proposal,
    ProposalStatus,
    ProviderTransaction,
    Refund,
    RefundStatus,
)

#: Nothing is counted any further: beyond it, a person needs to know that it is too much.
COUNTED_MAX: Final = 1000

_BY_REASON_SQL: Final = """
    SELECT reason, count(*), count(*) FILTER (WHERE due_at <= %(now)s), min(opened_at)
      FROM (SELECT reason, due_at, opened_at FROM payments_conflict
             WHERE status IN ('OPEN', 'PROPOSED') ORDER BY due_at LIMIT %(most)s) AS undecided
  GROUP BY reason ORDER BY 3 DESC, 2 DESC, reason
"""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The undecided conflicts of one reason, of the first COUNTED_MAX that are due."""

    reason: str
    number: int
    overdue: int
    oldest: datetime


def conflicts_by_reason(*, now: datetime) -> Sequence[Undecided]:
    """Those that are overdue first."""
    values: dict[str, Any] = {"now": now, "most": COUNTED_MAX + 1}
    with connection.cursor() as cursor:
        cursor.execute(_BY_REASON_SQL, values)
        return [Undecided(*row) for row in cursor.fetchall()]


def to_approve(user_id: int, *, now: datetime) -> int:
    """Proposals that wait for somebody else than who proposed them."""
    pending = Proposal.objects.filter(status=ProposalStatus.PENDING, expires_at__gt=now)
    return _counted(pending.exclude(proposed_by=user_id))


def parked() -> int:
    """Payments, refunds and chargebacks that wait for what they belong to."""
    return _counted(ProviderTransaction.objects.filter(disposition=Disposition.PARKED))


def held() -> int:
    """Claims of a payment that wait for the provider to confirm them."""
    return _counted(Confirmation.objects.filter(status=ConfirmationStatus.WAITING))


def refunds_in_doubt() -> int:
    """Refunds that were sent and of which the answer is not known yet."""
    return _counted(Refund.objects.filter(status=RefundStatus.PROCESSING))


def _counted(rows: QuerySet[Any]) -> int:
    return rows.order_by()[: COUNTED_MAX + 1].count()
