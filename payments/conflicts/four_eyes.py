"""Two people: one proposes a decision, another approves exactly that.

The rule is kept here and by the database's constraints, not by a button. A proposal is bound to
the action, its parameters, the amount and the state that was seen; it ends by itself.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Final, TypeVar

from django.db import transaction
from django.utils.translation import gettext_noop as _

from audit import chain
from idempotency.deadlocks import retry_deadlocks
from payments.conflicts import checking, lifecycle, people, proposals, resolve
from payments.conflicts.checking import Wanted
from payments.conflicts.fitting import NEEDS_EYES
from payments.conflicts.lifecycle import Decider
from payments.conflicts.people import Person
from payments.conflicts.refusals import (
    AlreadyDecided,
    DoesNotFit,
    Moved,
    NoReason,
    NotAllowed,
    Refused,
)
from payments.conflicts.resolve import Resolved
from payments.conflicts.seen import Held, Seen
from payments.models import WHY_LENGTH_MAX, DecidedAs, Proposal, ProposalStatus
from payments.refunds.asking import ClientFor
from payments.saying import in_english, says

APPROVE: Final = "payments.approve_conflict"
#: From Friday evening to Monday evening.
LASTS: Final = timedelta(days=3)

_Result = TypeVar("_Result")


def propose(
    conflict_id: int, wanted: Wanted, *, seen: Seen, person: Person, now: datetime
) -> Proposal:
    """Propose a decision for another person to approve; nothing else moves.

    Raises as `resolve.resolve` does; the audit keeps the attempt.
    """
    try:
        return retry_deadlocks(partial(_propose, conflict_id, wanted, seen, person, now))
    except Refused as refusal:
        checking.keep_attempt(person.actor, conflict_id, wanted.how, refusal)
        raise


def approve(
    proposal_id: int, *, digest: str, person: Person, client_for: ClientFor, now: datetime
) -> Resolved:
    """Carry out what another person has proposed; `digest` names what the approver has read.

    Raises NoSuchProposal, or a Refused: NotAllowed also for the proposer himself, Moved if the
    state is not the one that the proposal was made in; the audit keeps the attempt.
    """
    work = partial(_approve, proposal_id, digest, person, client_for, now)
    return _kept(proposal_id, person, work)


def reject(proposal_id: int, *, why: str, person: Person, now: datetime) -> None:
    """Decline another's proposal; the conflict is open again. Raises as `approve` does."""
    _kept(
        proposal_id,
        person,
        partial(_decline, proposal_id, ProposalStatus.REJECTED, why, person, now),
    )


def withdraw(proposal_id: int, *, why: str, person: Person, now: datetime) -> None:
    """Take one's own proposal back; the conflict is open again. Raises as `approve` does."""
    _kept(
        proposal_id,
        person,
        partial(_decline, proposal_id, ProposalStatus.WITHDRAWN, why, person, now),
    )


@transaction.atomic(durable=True)
def _propose(
    conflict_id: int, wanted: Wanted, seen: Seen, person: Person, now: datetime
) -> Proposal:
    held, choice = checking.checked(conflict_id, wanted, seen=seen, person=person)
    if wanted.how not in NEEDS_EYES:
        raise DoesNotFit(
            says(_("%(how)s moves no money: one person decides it alone."), how=wanted.how)
        )
    why = wanted.why.strip()[:WHY_LENGTH_MAX]
    if not why:
        raise NoReason
    before = held.seen
    lifecycle.propose(held.conflict, wanted.how, now=now)
    proposal = Proposal(
        conflict=held.conflict,
        resolution=wanted.how,
        order_no=wanted.order_no,
        amount_minor=choice.amount_minor,
        currency=choice.currency,
        consequence=in_english(choice.consequence),
        seen=dict(held.seen.values),
        why=why,
        proposed_by_id=person.user_id,
        proposed_at=now,
        expires_at=now + LASTS,
    )
    proposal.digest = proposals.digest_of(proposal)
    proposal.save(force_insert=True)
    chain.record(
        by=person.actor,
        action="conflict.proposed",
        object_type="conflict",
        object_id=conflict_id,
        before=before.values,
        after={**held.seen.values, **proposals.shown(proposal)},
        why=why,
    )
    return proposal


@transaction.atomic(durable=True)
def _approve(
    proposal_id: int, digest: str, person: Person, client_for: ClientFor, now: datetime
) -> Resolved:
    people.must_hold(person, APPROVE)
    held, proposal = _held(proposal_id, now=now)
    if proposal.proposed_by_id == person.user_id:
        raise NotAllowed(
            says(_("%(who)s proposed it: another person must approve it."), who=person.name)
        )
    if digest != proposal.digest or proposal.digest != proposals.digest_of(proposal):
        raise DoesNotFit(says(_("That is not what was proposed: read the proposal again.")))
    changes = Seen(proposal.seen).changes(held.seen)
    if changes:
        raise Moved(changes)
    wanted = checking.as_wanted(proposal)
    checking.must_fit(held, wanted)
    proposals.end(proposal, ProposalStatus.APPROVED, person.user_id, why="", now=now)
    decider = Decider(
        decided_as=DecidedAs.PERSON,
        name=person.name,
        user_id=person.user_id,
        proposed_by_id=proposal.proposed_by_id,
        needs_two=True,
    )
    return resolve.settle(
        held, wanted, decider=decider, by=person.actor, client_for=client_for, now=now
    )


@transaction.atomic(durable=True)
def _decline(
    proposal_id: int, status: ProposalStatus, why: str, person: Person, now: datetime
) -> None:
    people.must_hold(person, APPROVE if status == ProposalStatus.REJECTED else checking.RESOLVE)
    held, proposal = _held(proposal_id, now=now)
    is_own = proposal.proposed_by_id == person.user_id
    if is_own != (status == ProposalStatus.WITHDRAWN):
        who = proposal.proposed_by.get_username()
        raise NotAllowed(
            says(_("%(who)s proposed it and may withdraw it; others reject it."), who=who)
        )
    if not why.strip():
        raise NoReason
    proposals.take_back(held, proposal, status, why=why, user_id=person.user_id, now=now)
    chain.record(
        by=person.actor,
        action=f"conflict.{status.lower()}",
        object_type="conflict",
        object_id=held.conflict.pk,
        before=proposals.shown(proposal),
        after=held.seen.values,
        why=why,
    )


def _held(proposal_id: int, *, now: datetime) -> tuple[Held, Proposal]:
    """A proposal that still waits. Raises AlreadyDecided, DoesNotFit."""
    held, proposal = proposals.lock(proposal_id)
    if held.conflict.status not in lifecycle.UNDECIDED:
        raise AlreadyDecided(held.conflict)
    if proposal.status != ProposalStatus.PENDING:
        by = proposal.decided_by.get_username() if proposal.decided_by else says(_("nobody"))
        raise DoesNotFit(
            says(
                _("The proposal is %(status)s, by %(who)s: %(why)s"),
                status=proposal.status,
                who=by,
                why=proposal.decided_why,
            )
        )
    if proposal.expires_at <= now:
        raise DoesNotFit(
            says(
                _("The proposal has expired at %(at)s."),
                at=f"{proposal.expires_at:%Y-%m-%d %H:%M} UTC",
            )
        )
    return held, proposal


def _kept(proposal_id: int, person: Person, work: Callable[[], _Result]) -> _Result:
    try:
        return retry_deadlocks(work)
    except Refused as refusal:
        known = Proposal.objects.filter(pk=proposal_id).first()
        if known is not None:
            checking.keep_attempt(person.actor, known.conflict_id, known.resolution, refusal)
        raise
