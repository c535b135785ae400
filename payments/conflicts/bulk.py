"""Dismiss many conflicts at once, where that is harmless: each by its own guarded transition."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from django.utils.translation import gettext_noop as _

from payments.clients.choice import Choice
from payments.conflicts import checking, people, resolve
from payments.conflicts import seen as seeing
from payments.conflicts.checking import Wanted
from payments.conflicts.fitting import HARMLESS
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, Moved, NoReason, Refused
from payments.conflicts.seen import Change, NoSuchConflict, Seen
from payments.models import ProviderAccount, Resolution
from payments.saying import says

#: How many at once: the request stays short, and a person can still mean each of them.
DISMISSED_MAX: Final = 100


class Told(NamedTuple):
    """What became of one of them; `refused` is empty if it was dismissed."""

    conflict_id: int
    refused: str = ""


def dismiss(versions: Mapping[int, int], *, why: str, person: Person, now: datetime) -> list[Told]:
    """Dismiss those that are as they were seen; `versions` has the seen version of each.

    One that is refused, because it has moved or because its reason is not harmless, keeps none of
    the others. Raises NotAllowed and NoReason before any is touched.
    """
    people.must_hold(person, checking.RESOLVE)
    if not why.strip():
        raise NoReason
    asked = sorted(versions.items())[:DISMISSED_MAX]
    return [
        _told(conflict_id, version, why=why, person=person, now=now)
        for conflict_id, version in asked
    ]


def _told(conflict_id: int, version: int, *, why: str, person: Person, now: datetime) -> Told:
    try:
        resolve.resolve(
            conflict_id,
            Wanted(how=Resolution.DISMISS, why=why),
            seen=_seen(conflict_id, version, person),
            person=person,
            client_for=_no_client,
            now=now,
        )
    except (Refused, NoSuchConflict) as refusal:
        return Told(conflict_id, str(refusal))
    return Told(conflict_id)


def _seen(conflict_id: int, version: int, person: Person) -> Seen:
    """What it rests on now. Raises DoesNotFit, Moved; the audit keeps the attempt."""
    held = seeing.look(conflict_id)
    conflict = held.conflict
    refusal: Refused | None = None
    if conflict.reason not in HARMLESS:
        refusal = DoesNotFit(says(_("%(reason)s is decided one by one."), reason=conflict.reason))
    elif conflict.version != version:
        refusal = Moved([Change("conflict.version", version, conflict.version)])
    if refusal is not None:
        checking.keep_attempt(person.actor, conflict_id, Resolution.DISMISS, refusal)
        raise refusal
    return held.seen


def _no_client(_: ProviderAccount) -> Choice:
    return Choice(None, "nothing is sent")
