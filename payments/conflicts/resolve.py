"""Decide a conflict: one guarded transition, with the money's move, its event and its entry.

Everything commits together or nothing does. Whoever comes second is told who did what and when;
whoever decides on what is not true any more is told what has moved.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction

from audit import chain
from audit.actors import Actor
from idempotency.deadlocks import retry_deadlocks
from payments.conflicts import checking, effects, lifecycle
from payments.conflicts import seen as seeing
from payments.conflicts.checking import Wanted
from payments.conflicts.fitting import NEEDS_REASON
from payments.conflicts.lifecycle import Decider
from payments.conflicts.people import Person
from payments.conflicts.refusals import NeedsTwoPeople, NoReason, Refused
from payments.conflicts.seen import Held, Seen
from payments.models import WHY_LENGTH_MAX, Conflict, DecidedAs, Refund
from payments.refunds.asking import ClientFor


@dataclass(frozen=True, slots=True)
class Resolved:
    """The conflict as it was decided, and the refund that was asked for, if one was."""

    conflict: Conflict
    refund: Refund | None


def resolve(
    conflict_id: int,
    wanted: Wanted,
    *,
    seen: Seen,
    person: Person,
    client_for: ClientFor,
    now: datetime,
) -> Resolved:
    """Decide it alone, on what the person has seen.

    Raises NoSuchConflict, or a Refused: NotAllowed, AlreadyDecided, AlreadyProposed, Moved,
    DoesNotFit, NeedsTwoPeople, NoReason. Nothing has changed then but the audit, which keeps the
    attempt.
    """
    work = partial(
        _resolve, conflict_id, wanted, seen=seen, person=person, client_for=client_for, now=now
    )
    try:
        return retry_deadlocks(work)
    except Refused as refusal:
        checking.keep_attempt(person.actor, conflict_id, wanted.how, refusal)
        raise


@transaction.atomic(durable=True)
def _resolve(
    conflict_id: int,
    wanted: Wanted,
    *,
    seen: Seen,
    person: Person,
    client_for: ClientFor,
    now: datetime,
) -> Resolved:
    held, choice = checking.checked(conflict_id, wanted, seen=seen, person=person)
    limit = checking.alone_up_to(held, choice)
    if limit is not None:
        raise NeedsTwoPeople(choice.amount_minor, limit, choice.currency)
    if wanted.how in NEEDS_REASON and not wanted.why.strip():
        raise NoReason
    decider = Decider(decided_as=DecidedAs.PERSON, name=person.name, user_id=person.user_id)
    return settle(held, wanted, decider=decider, by=person.actor, client_for=client_for, now=now)


def settle(
    held: Held,
    wanted: Wanted,
    *,
    decider: Decider,
    by: Actor,
    client_for: ClientFor,
    now: datetime,
) -> Resolved:
    """Do what was decided and end the conflict, in the caller's transaction, which ends with it.

    Raises DoesNotFit where the refunds machine refuses.
    """
    before = held.seen
    why = wanted.why.strip()[:WHY_LENGTH_MAX]
    effect = effects.carry_out(held, wanted.how, client_for=client_for, now=now)
    lifecycle.end(
        held.conflict,
        wanted.how,
        text=effect.text,
        why=why,
        decider=decider,
        refund=effect.refund,
        now=now,
    )
    after = seeing.look(held.conflict.pk, target_no=wanted.order_no).seen
    chain.record(
        by=by,
        action="conflict.resolved",
        object_type="conflict",
        object_id=held.conflict.pk,
        before=before.values,
        after={
            **after.values,
            "how": wanted.how,
            "resolution": effect.text,
            "proposed_by": decider.proposed_by_id,
            "refund_no": effect.refund.refund_no if effect.refund else None,
        },
        why=why,
    )
    return Resolved(held.conflict, effect.refund)
