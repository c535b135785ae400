"""What must hold before a person's decision is carried out, or proposed to another."""

from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext_noop as _

from audit import chain
from audit.actors import Actor
from payments.clients.choice import Choice
from payments.conflicts import lifecycle, people
from payments.conflicts import seen as seeing
from payments.conflicts.fitting import ASKS_FOR_REFUND, NEEDS_EYES, why_not
from payments.conflicts.options import Option, option
from payments.conflicts.people import Person
from payments.conflicts.refusals import (
    AlreadyDecided,
    AlreadyProposed,
    DoesNotFit,
    Moved,
    Refused,
)
from payments.conflicts.seen import Held, Seen
from payments.models import ConflictStatus, Proposal, ProposalStatus, Resolution
from payments.policies.current import rules_of
from payments.saying import says

RESOLVE: Final = "payments.resolve_conflict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a person wants to be done. `order_no`: the order to match to."""

    how: Resolution
    why: str = ""
    order_no: str = ""


def checked(conflict_id: int, wanted: Wanted, *, seen: Seen, person: Person) -> tuple[Held, Option]:
    """The conflict, held, and what the resolution would do, if the person may decide it so now.

    Raises as `resolve.resolve` does.
    """
    people.must_hold(person, RESOLVE)
    held = seeing.lock(conflict_id, target_no=wanted.order_no)
    must_be_undecided(held)
    if held.conflict.status == ConflictStatus.PROPOSED:
        raise AlreadyProposed(
            Proposal.objects.get(conflict=held.conflict, status=ProposalStatus.PENDING)
        )
    changes = seen.changes(held.seen)
    if changes:
        raise Moved(changes)
    must_fit(held, wanted)
    return held, option(wanted.how, held.facts)


def alone_up_to(held: Held, choice: Option) -> int | None:
    """Up to how much one person decides this alone, if it is about more than that; else None."""
    if choice.resolution not in NEEDS_EYES:
        return None
    limit = rules_of(held.conflict.merchant_id).alone_up_to(choice.currency)
    return limit if choice.amount_minor > limit else None


def cannot_send(how: Resolution, way: Choice) -> str:
    """Why the account's refunds cannot be sent, if the resolution asks for one; else empty."""
    return way.why if how in ASKS_FOR_REFUND else ""


def must_be_undecided(held: Held) -> None:
    """Raise AlreadyDecided if it has ended."""
    if held.conflict.status not in lifecycle.UNDECIDED:
        raise AlreadyDecided(held.conflict)


def must_fit(held: Held, wanted: Wanted) -> None:
    """Raise DoesNotFit if the present state does not allow it."""
    hindrance = why_not(wanted.how, held.facts)
    if not hindrance and wanted.how is Resolution.ASK_PROVIDER:
        hindrance = says(_("Asking the provider decides nothing: ask, then look again."))
    if not hindrance and wanted.how is Resolution.MATCH and not wanted.order_no:
        hindrance = says(_("Name the order to match the payment to."))
    if hindrance:
        raise DoesNotFit(hindrance)


def keep_attempt(by: Actor, conflict_id: int, how: str, refusal: Refused) -> None:
    """Enter in the audit that somebody tried, and what he was told."""
    chain.record(
        by=by,
        action="conflict.refused",
        object_type="conflict",
        object_id=conflict_id,
        after={"how": how, "refusal": type(refusal).__name__, "says": refusal.kept},
    )


def as_wanted(proposal: Proposal) -> Wanted:
    """What a proposal wants."""
    how = Resolution(proposal.resolution)
    return Wanted(how=how, why=proposal.why, order_no=proposal.order_no)
