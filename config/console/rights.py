"""What somebody needs to be allowed for more than looking, and how the log names him."""

from typing import Any, Final

from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import Model
from django.http import HttpRequest

from config.console import members
from orders.asked_by import BY_MEMBER
from payments.roles import EXPORT, REPLAY

__all__ = ["EXPORT", "OPERATE", "REPLAY", "ROTATE", "by", "require"]

#: Let destinations rest and work again, and send events and tests again.
OPERATE: Final = "outbox.operate_destination"
#: Make and end the secrets that webhooks are signed with: who sees a new one can sign.
ROTATE: Final = "outbox.rotate_endpointsecret"
_DIGITS_MAX: Final = 9
#: Say who is told of conflicts.
NOTIFY: Final = "payments.manage_recipient"
#: What a merchant's member needs for the little that there is for him.
MEMBER: Final = "orders.act_for_merchant"


def may(request: HttpRequest, right: str, *, or_member: bool = False) -> bool:
    """Whether this user has the right; `or_member`: a merchant's member has it for what is his.

    Whoever is one has no other, whatever his groups say.
    """
    if members.membership(request) is not None:
        return or_member and request.user.has_perm(MEMBER)
    return request.user.has_perm(right)


def may_see(request: HttpRequest, model: type[Model]) -> bool:
    """Whether rows of this table are shown to this user; which, `members.own` says."""
    meta: Any = model._meta  # noqa: SLF001 - Django's documented way to a model's names
    names = (f"{meta.app_label}.{verb}_{meta.model_name}" for verb in ("view", "change"))
    # Whoever may change rows may see them; nothing in the console asks for less.
    return any(may(request, name, or_member=model in members.SCREENS) for name in names)


def require(request: HttpRequest, right: str, *, or_member: bool = False) -> None:
    """Raises PermissionDenied unless this user has the right, as `may` has it."""
    if not may(request, right, or_member=or_member):
        raise PermissionDenied


def number(written: str) -> int:
    """A number that a form of ours brings back. Raises BadRequest for anything else."""
    if not (written.isascii() and written.isdecimal()) or len(written) > _DIGITS_MAX:
        raise BadRequest
    return int(written)


def by(request: HttpRequest) -> str:
    """Who asks, for the log and for attempts."""
    name = request.user.get_username()
    return f"console, {name}" if members.membership(request) is None else f"{BY_MEMBER}{name}"
