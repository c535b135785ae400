"""What rules make of one conflict, and which rules reach further than others. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from payments.models import ConflictReason, Resolution


class Kind(StrEnum):
    """The conflicts that rules may decide."""

    LATE = "late"
    OVER = "over"
    UNDER = "under"
    DUPLICATE = "duplicate"
    PARKED = "parked"


class Do(StrEnum):
    """What is done about them."""

    ASK = "ask"
    ACCEPT = "accept"
    REFUND = "refund"


_REASONS: Final[Mapping[ConflictReason, Kind]] = {
    ConflictReason.LATE_PAYMENT: Kind.LATE,
    ConflictReason.DUPLICATE_PAYMENT: Kind.DUPLICATE,
    ConflictReason.ORDER_NOT_FOUND: Kind.PARKED,
}
REASONS: Final = (*_REASONS, ConflictReason.AMOUNT_MISMATCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is done about one kind of conflict."""

    do: Do = Do.ASK
    limits: Mapping[str, int] = field(default_factory=dict)
    tolerance_minor: int | None = None
    tolerance_per_mille: int | None = None

    @property
    def moves_money(self) -> bool:
        """Whether it may ever do something."""
        return self.do is not Do.ASK and bool(self.limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A merchant's rules; what they do not name asks a person, and four eyes see all of it."""

    by_kind: Mapping[Kind, Rule] = field(default_factory=dict)
    four_eyes_above: Mapping[str, int] = field(default_factory=dict)

    def rule(self, kind: Kind) -> Rule:
        """The rule for that kind."""
        return self.by_kind.get(kind, Rule())

    def alone_up_to(self, currency: str) -> int:
        """Up to how much one person may decide alone, in minor units."""
        return self.four_eyes_above.get(currency, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What of a conflict the rules look at. `owed_minor` None: there is no order."""

    reason: ConflictReason
    came_minor: int
    currency: str
    owed_minor: int | None = None
    owed_currency: str = ""


def decide(rules: Rules, question: Question) -> Resolution | None:
    """What the rules make of it; None asks a person."""
    kind = kind_of(question)
    if kind is None:
        return None
    rule = rules.rule(kind)
    if question.came_minor > rule.limits.get(question.currency, -1):
        return None
    if rule.do is Do.REFUND:
        return Resolution.REFUND
    if rule.do is not Do.ACCEPT:
        return None
    if kind is Kind.LATE:
        return Resolution.ACCEPT
    return Resolution.ACCEPT_RECEIVED if _within(rule, question) else None


def kind_of(question: Question) -> Kind | None:
    """Which kind of conflict it is, if it is one that rules may decide."""
    if question.reason != ConflictReason.AMOUNT_MISMATCH:
        return _REASONS.get(question.reason)
    if question.owed_minor is None or question.currency != question.owed_currency:
        return None
    return Kind.OVER if question.came_minor > question.owed_minor else Kind.UNDER


def widens(old: Rules, new: Rules) -> bool:
    """Whether the new rules move money where the old did not, or ask two people less often."""
    moves = any(new.rule(kind).moves_money and new.rule(kind) != old.rule(kind) for kind in Kind)
    return moves or any(
        limit > old.alone_up_to(currency) for currency, limit in new.four_eyes_above.items()
    )


def _within(rule: Rule, question: Question) -> bool:
    owed = question.owed_minor or 0
    difference = abs(question.came_minor - owed)
    within_minor = rule.tolerance_minor is None or difference <= rule.tolerance_minor
    # In whole numbers: difference / owed <= per mille / 1000.
    per_mille = rule.tolerance_per_mille
    return within_minor and (per_mille is None or difference * 1000 <= per_mille * owed)
