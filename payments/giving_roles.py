"""Give somebody roles, or take them: by another person, kept in the audit, never the last admin's.

Other groups and Django's own flags are left as they are.
"""

from collections.abc import Iterable
from typing import Final

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop as _

from audit import chain
from payments.conflicts import people
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NoReason, NotAllowed
from payments.roles import ROLES
from payments.saying import says

GIVE: Final = "auth.change_user"
_ADMIN: Final = "admin"


class NoSuchUser(LookupError):
    """There is no user of this number."""


@transaction.atomic(durable=True)
def give(
    user_id: int, wanted: Iterable[str], *, seen: Iterable[str], why: str, person: Person
) -> User:
    """Let somebody have exactly these roles; whoever has one may enter the console.

    `seen` are the roles that he had when the person looked. Raises NoSuchUser, and a Refused:
    NotAllowed (also for a role for oneself, and for the account of a superuser), DoesNotFit
    (other roles by now; the last admin's role), NoReason.
    """
    roles = frozenset(wanted) & ROLES.keys()
    # One change at a time: of two admins who take each other's role one comes second.
    groups = {
        group.name: group
        for group in Group.objects.select_for_update(no_key=True).filter(name__in=ROLES)
    }
    people.must_hold(person, GIVE)
    user = User.objects.select_for_update(no_key=True).filter(pk=user_id).first()
    if user is None:
        raise NoSuchUser(f"there is no user {user_id}")
    held = roles_of(user)
    _may_give(user, roles, held, person)
    if held != frozenset(seen):
        raise DoesNotFit(
            says(
                _("%(user)s has other roles by now: %(roles)s."),
                user=user.username,
                roles=_listed(held),
            )
        )
    if held == roles:
        raise DoesNotFit(says(_("%(user)s has just these roles already."), user=user.username))
    if not why.strip():
        raise NoReason
    user.groups.remove(*(groups[role] for role in held - roles))
    user.groups.add(*(groups[role] for role in roles - held))
    if roles and not user.is_staff:
        user.is_staff = True
        user.save(update_fields=["is_staff"])
    if _ADMIN in held - roles and not admins().exists():
        raise DoesNotFit(
            says(_("%(user)s is the last admin: make another one first."), user=user.username)
        )
    chain.record(
        by=person.actor,
        action="user.roles",
        object_type="user",
        object_id=user.pk,
        before={"username": user.username, "roles": sorted(held)},
        after={"username": user.username, "roles": sorted(roles)},
        why=why,
    )
    return user


def roles_of(user: User) -> frozenset[str]:
    """The roles that he has; groups that are none are left out."""
    return frozenset(user.groups.filter(name__in=ROLES).values_list("name", flat=True))


def admins() -> QuerySet[User]:
    """Who could give roles now."""
    return User.objects.filter(is_active=True, is_staff=True, groups__name=_ADMIN)


def _may_give(user: User, roles: frozenset[str], held: frozenset[str], person: Person) -> None:
    if user.is_superuser:
        raise NotAllowed(
            says(
                _("%(user)s is a superuser, who may everything without a role."), user=user.username
            )
        )
    more = roles - held
    if user.pk == person.user_id and more:
        raise NotAllowed(
            says(
                _("%(who)s cannot give himself %(roles)s: another admin can."),
                who=person.name,
                roles=_listed(more),
            )
        )


def _listed(roles: Iterable[str]) -> str:
    return ", ".join(sorted(roles)) or says(_("none"))
