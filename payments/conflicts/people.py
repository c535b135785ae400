"""The people who decide: who they are now, and what they may do now."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.utils.translation import gettext_noop as _

from audit.actors import Actor
from audit.models import ActorKind
from payments.conflicts.refusals import NotAllowed
from payments.saying import says


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who is known by his account, and from where he speaks: an address, a session."""

    user_id: int
    name: str
    origin: str

    @property
    def actor(self) -> Actor:
        """As the audit names him."""
        return Actor(kind=ActorKind.PERSON, name=self.name, id=self.user_id, origin=self.origin)


def person(user: User, *, origin: str) -> Person:
    """The person behind an account."""
    return Person(user_id=user.pk, name=user.get_username(), origin=origin)


def must_hold(who: Person, permission: str) -> None:
    """Raise NotAllowed unless the account is active and has the permission at this moment.

    It is read anew: what was taken from somebody in the middle of his session is gone.
    """
    user = User.objects.filter(pk=who.user_id).first()
    if user is None or not user.has_perm(permission):
        raise NotAllowed(
            says(
                _("%(who)s has no permission %(permission)s."),
                who=who.name,
                permission=permission,
            )
        )
