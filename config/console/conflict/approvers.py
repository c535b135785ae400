"""Who may approve what another has proposed."""

from typing import Final

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from payments.conflicts.four_eyes import APPROVE

#: How many of them a sentence names.
_NAMED_MAX: Final = 5
_BACKEND: Final = "django.contrib.auth.backends.ModelBackend"


def names(*, but: int) -> str:
    """Their user names, without the one who proposes; a few of them, if they are many."""
    found = User.objects.with_perm(APPROVE, backend=_BACKEND).exclude(pk=but)
    known = list(found.order_by("username").values_list("username", flat=True)[: _NAMED_MAX + 1])
    if not known:
        return _("nobody yet; an admin can give somebody the role approver, under Users")
    more = _(" and others") if len(known) > _NAMED_MAX else ""
    return ", ".join(known[:_NAMED_MAX]) + more
