"""What somebody needs to be allowed for more than looking, and how the log names him."""

from typing import Final

from django.core.exceptions import BadRequest, PermissionDenied
from django.http import HttpRequest

from payments.roles import EXPORT, REPLAY

__all__ = ["EXPORT", "OPERATE", "REPLAY", "ROTATE", "by", "require"]

#: Let destinations rest and work again, and send events and tests again.
OPERATE: Final = "outbox.operate_destination"
#: Make and end the secrets that webhooks are signed with: who sees a new one can sign.
ROTATE: Final = "outbox.rotate_endpointsecret"
_DIGITS_MAX: Final = 9
#: Say who is told of conflicts.
NOTIFY: Final = "payments.manage_recipient"


def require(request: HttpRequest, right: str) -> None:
    """Raises PermissionDenied unless this user has the right."""
    if not request.user.has_perm(right):
        raise PermissionDenied


def number(written: str) -> int:
    """A number that a form of ours brings back. Raises BadRequest for anything else."""
    if not (written.isascii() and written.isdecimal()) or len(written) > _DIGITS_MAX:
        raise BadRequest
    return int(written)


def by(request: HttpRequest) -> str:
    """Who asks, for the log and for attempts."""
    return f"console, {request.user.get_username()}"
