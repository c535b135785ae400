"""What a policy would have done to the last days' conflicts, as they were opened. Reads only."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from orders.models import Merchant, OrderStatus
from payments.models import Conflict, ConflictReason, Resolution
from payments.policies import rules
from payments.policies.rules import REASONS, Question, Rules

DAYS: Final = timedelta(days=30)
#: How many lines are listed; the sums count all.
LINES_MAX: Final = 1000
PAGE: Final = 500
_UNPAID: Final = (OrderStatus.WAIT_PAY, OrderStatus.CLOSED)


class Line(NamedTuple):
    """One conflict, and what the policy would have done."""

    conflict_id: int
    reason: str
    opened_at: datetime
    how: Resolution
    amount_minor: int
    currency: str


class Sum(NamedTuple):
    """So many conflicts, and so much money in minor units."""

    number: int
    amount_minor: int


@dataclass(slots=True)
class DryRun:
    """What would have been done: sums by resolution and currency, and the newest lines."""

    looked_at: int = 0
    decided: int = 0
    sums: dict[tuple[Resolution, str], Sum] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    #: Whether there were more conflicts than were looked at.
    is_cut: bool = False

    @property
    def asked(self) -> int:
        """How many a person would still have been asked about."""
        return self.looked_at - self.decided


def dry_run(
    merchant: Merchant,
    wanted: Rules,
    *,
    now: datetime,
    since: timedelta = DAYS,
    lines_max: int = LINES_MAX,
    page: int = PAGE,
    most: int | None = None,
) -> DryRun:
    """Try the rules on every conflict that they could have decided, newest first, up to `most`."""
    found = DryRun()
    for conflict in _conflicts(merchant, now - since, page):
        if found.looked_at == most:
            found.is_cut = True
            break
        found.looked_at += 1
        question = _question(conflict)
        how = None if question is None else rules.decide(wanted, question)
        if question is None or how is None:
            continue
        found.decided += 1
        name = (how, question.currency)
        known = found.sums.get(name, Sum(0, 0))
        found.sums[name] = Sum(known.number + 1, known.amount_minor + question.came_minor)
        if len(found.lines) < lines_max:
            line = (conflict.pk, conflict.reason, conflict.opened_at, how)
            found.lines.append(Line(*line, question.came_minor, question.currency))
    return found


def _conflicts(merchant: Merchant, since: datetime, size: int) -> Iterator[Conflict]:
    rows = Conflict.objects.filter(merchant=merchant, opened_at__gte=since, reason__in=REASONS)
    rows = rows.only("id", "reason", "opened_at", "expected", "received").order_by("-id")
    last = None
    while True:
        page = list((rows if last is None else rows.filter(pk__lt=last))[:size])
        yield from page
        if len(page) < size:
            return
        last = page[-1].pk


def _question(conflict: Conflict) -> Question | None:
    """As it was when it was opened; None for a case that no rule may decide."""
    came, owed = conflict.received, conflict.expected
    if not (_is_amount(came) and came.get("txn_no")):
        return None
    reason = ConflictReason(conflict.reason)
    if reason == ConflictReason.AMOUNT_MISMATCH and owed.get("order_status") not in _UNPAID:
        return None  # Of a refund, or of an order that was not waiting: not a matter of tolerance.
    return Question(
        reason=reason,
        came_minor=came["amount_minor"],
        currency=came["currency"],
        owed_minor=owed["amount_minor"] if _is_amount(owed) else None,
        owed_currency=owed.get("currency", ""),
    )


def _is_amount(side: Any) -> bool:
    return type(side.get("amount_minor")) is int and isinstance(side.get("currency"), str)
