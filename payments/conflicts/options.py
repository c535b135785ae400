"""What can be done about a conflict now, and what each choice would do; nothing is done here."""

from dataclasses import dataclass

from payments.conflicts.consequences import CONSEQUENCES
from payments.conflicts.facts import Facts
from payments.conflicts.fitting import NEEDS_EYES, why_not
from payments.models import Resolution


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A resolution that fits now, what it would do in one sentence, and how much it is about.

    `needs_order_no`: whoever chooses it must name the order, and then ask again.
    """

    resolution: Resolution
    consequence: str
    amount_minor: int = 0
    currency: str = ""
    needs_order_no: bool = False


def options(facts: Facts) -> list[Option]:
    """All that fits now, in the order of the vocabulary."""
    return [option(how, facts) for how in Resolution if not why_not(how, facts)]


def option(how: Resolution, facts: Facts) -> Option:
    """What a resolution that fits would do."""
    amount_minor, currency = _at_stake(how, facts)
    return Option(
        resolution=how,
        consequence=CONSEQUENCES[how](facts),
        amount_minor=amount_minor,
        currency=currency,
        needs_order_no=how is Resolution.MATCH and not facts.target_no,
    )


def _at_stake(how: Resolution, facts: Facts) -> tuple[int, str]:
    """How much a decision is about: what moves, or what is given up if that is more."""
    money, order = facts.money, facts.order
    if how not in NEEDS_EYES or money is None:
        return 0, ""
    amount = money.amount_minor
    if how in (Resolution.REFUND, Resolution.NOT_OURS):
        amount = money.left_minor
    elif how in (Resolution.ACCEPT_RECEIVED, Resolution.ACCEPT_OWED) and order is not None:
        amount = max(amount, order.amount_minor)
    return amount, money.currency
