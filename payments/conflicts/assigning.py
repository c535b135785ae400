"""Who has taken a conflict on: so that two people do not read the same one at the same time.

It binds nobody: anyone who may decide still may. So it is no event, and no part of what a
decision rests on; it is guarded and kept in the audit like everything that a person does.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext_noop as _

from audit import chain
from idempotency.deadlocks import retry_deadlocks
from payments.conflicts import lifecycle, people
from payments.conflicts.checking import RESOLVE, keep_attempt
from payments.conflicts.people import Person
from payments.conflicts.refusals import AlreadyDecided, DoesNotFit, Moved, Refused
from payments.conflicts.seen import Change, NoSuchConflict
from payments.models import Conflict
from payments.saying import says

#: How the audit names it, beside the resolutions.
ASSIGN: Final = "ASSIGN"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Whom to give it to, None for nobody, and who had it when that was asked for."""

    to: int | None
    seen: int | None


def assign(conflict_id: int, wanted: Assignment, *, person: Person, now: datetime) -> bool:
    """Give an undecided conflict to somebody who may decide it; False if he had it already.

    Raises NoSuchConflict, or a Refused: NotAllowed, AlreadyDecided, DoesNotFit for somebody who
    may not decide, Moved if somebody else has it meanwhile. The audit keeps the attempt.
    """
    try:
        return retry_deadlocks(partial(_assign, conflict_id, wanted, person, now))
    except Refused as refusal:
        keep_attempt(person.actor, conflict_id, ASSIGN, refusal)
        raise


@transaction.atomic(durable=True)
def _assign(conflict_id: int, wanted: Assignment, person: Person, now: datetime) -> bool:
    people.must_hold(person, RESOLVE)
    locked = Conflict.objects.select_for_update(no_key=True, of=("self",))
    conflict = locked.select_related("assignee").filter(pk=conflict_id).first()
    if conflict is None:
        raise NoSuchConflict(f"there is no conflict {conflict_id}")
    if conflict.status not in lifecycle.UNDECIDED:
        raise AlreadyDecided(conflict)
    if conflict.assignee_id == wanted.to:
        return False
    holder = _name(conflict.assignee)
    if conflict.assignee_id != wanted.seen:
        then = _name(User.objects.filter(pk=wanted.seen or 0).first())
        raise Moved([Change("assignee", then, holder)])
    chosen = None if wanted.to is None else _who_decides(wanted.to)
    Conflict.objects.filter(pk=conflict_id).update(
        assignee=chosen, assigned_at=None if chosen is None else now
    )
    chain.record(
        by=person.actor,
        action="conflict.assigned",
        object_type="conflict",
        object_id=conflict_id,
        before={"assignee": holder},
        after={"assignee": _name(chosen)},
    )
    return True


def who_decide() -> list[User]:
    """The people to whom a conflict can be given, by name."""
    found = User.objects.with_perm(RESOLVE, backend="django.contrib.auth.backends.ModelBackend")
    return list(found.filter(is_active=True).order_by("username"))


def _who_decides(user_id: int) -> User:
    user = User.objects.filter(pk=user_id).first()
    if user is None or not user.has_perm(RESOLVE):
        raise DoesNotFit(says(_("Only somebody who may decide conflicts can take one on.")))
    return user


def _name(user: User | None) -> str:
    return "nobody" if user is None else user.get_username()
