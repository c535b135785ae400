"""Who decides the demo shop's conflicts: two people, and up to which amount one of them alone."""

import secrets
from datetime import datetime
from typing import Final

from django.contrib.auth.models import User

from audit.actors import shell
from config.demo.shop import ADMIN
from orders.models import Merchant
from payments import giving_roles
from payments.conflicts.people import Person, person
from payments.models import ConflictPolicy
from payments.policies import changing

REVIEWER: Final = "reviewer"
APPROVER: Final = "approver"
#: Small enough that some of the conflicts to practise on take both of them.
ALONE_UP_TO: Final = {"EUR": 5000, "USD": 5000}
_WHY: Final = "to practise on the demo shop's conflicts"


def set_up(merchant: Merchant, *, now: datetime) -> dict[str, str]:
    """The passwords of those who were made just now; who and what is there already stays.

    All of it is the admin's deed, by the ways that everybody goes: the audit has it. Nothing is
    done where there is no such admin any more. Raises Refused.
    """
    admin = User.objects.filter(username=ADMIN).first()
    if admin is None:
        return {}
    deciding = person(admin, origin=shell())
    made = {name: _make(name, deciding) for name in (REVIEWER, APPROVER) if not _known(name)}
    if not ConflictPolicy.objects.filter(merchant=merchant).exists():
        approver = User.objects.get(username=APPROVER)
        content = {"four_eyes_above": ALONE_UP_TO}
        policy = changing.propose(merchant, content, why=_WHY, person=deciding, now=now)
        changing.approve(policy.pk, person=person(approver, origin=shell()), now=now)
    return made


def _known(name: str) -> bool:
    return User.objects.filter(username=name).exists()


def _make(name: str, admin: Person) -> str:
    """Somebody with the role of this name; his password."""
    password = secrets.token_urlsafe(12)
    user = User.objects.create_user(name, password=password)
    giving_roles.give(user.pk, [name], seen=[], why=_WHY, person=admin)
    return password
