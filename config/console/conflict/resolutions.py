"""The resolutions as people read them: names, what each asks for, and the buttons that fit now."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.console import text
from payments.clients.choice import Choice
from payments.conflicts import checking
from payments.conflicts.options import Option, options
from payments.conflicts.seen import Held
from payments.models import Resolution

#: In the order of their buttons.
NAMES: Final[Mapping[str, Any]] = {
    Resolution.ACCEPT: _("Accept the payment for the order"),
    # The payer keeps what he did not owe, unless somebody chooses otherwise.
    Resolution.ACCEPT_OWED: _("Accept what is owed, refund the excess"),
    Resolution.ACCEPT_RECEIVED: _("Accept at the received amount"),
    Resolution.REFUND: _("Refund this payment"),
    Resolution.MATCH: _("Match to another order"),
    Resolution.NOT_OURS: _("Mark as not ours"),
    Resolution.DISMISS: _("Dismiss"),
    Resolution.ASK_PROVIDER: _("Ask the provider"),
}
PROPOSES: Final[Mapping[str, Any]] = {
    Resolution.ACCEPT: _("Propose: accept the payment for the order"),
    Resolution.ACCEPT_RECEIVED: _("Propose: accept at the received amount"),
    Resolution.ACCEPT_OWED: _("Propose: accept what is owed, refund the excess"),
    Resolution.REFUND: _("Propose: refund this payment"),
    Resolution.MATCH: _("Propose: match to another order"),
    Resolution.NOT_OURS: _("Propose: mark as not ours"),
}
_APART: Final = frozenset({Resolution.ASK_PROVIDER})
#: What moves money or gives it up, and is not easily undone.
GRAVE: Final = frozenset({Resolution.REFUND, Resolution.NOT_OURS})


class Way(NamedTuple):
    """A resolution that fits now: its button, what it would do, and whether it takes two people."""

    name: str
    says: str
    link: str
    takes_two: bool
    grave: bool
    hindrance: str = ""


def ways(request: HttpRequest, held: Held, reach: Choice | None) -> list[Way]:
    """What this user may do about the conflict now; asking has a place of its own.

    `reach`: the way to the API of the money's provider, which refunds need.
    """
    if not request.user.has_perm(checking.RESOLVE):
        return []
    found = {str(one.resolution): one for one in options(held.facts)}
    return [_way(held, found[how], reach) for how in NAMES if how in found and how not in _APART]


def name_of(how: Resolution, *, takes_two: bool) -> str:
    """What its button says."""
    return str(PROPOSES[how] if takes_two else NAMES[how])


def link_to(conflict_id: int, how: Resolution) -> str:
    """The page that asks whether to do it."""
    return reverse("admin:payments_conflict_resolve", args=[conflict_id, how.lower()])


def _way(held: Held, choice: Option, reach: Choice | None) -> Way:
    how = choice.resolution
    takes_two = checking.alone_up_to(held, choice) is not None
    return Way(
        name=name_of(how, takes_two=takes_two),
        says=text.visible(choice.consequence),
        link=link_to(held.conflict.pk, how),
        takes_two=takes_two,
        grave=how in GRAVE,
        hindrance=_hindrance(held, how, reach),
    )


def _hindrance(held: Held, how: Resolution, reach: Choice | None) -> str:
    why = checking.cannot_send(how, reach) if reach is not None else ""
    if not why or held.money is None:
        return ""
    words = {"account": held.money.account.endpoint, "why": why}
    says = gettext("Refunds through %(account)s cannot be sent: %(why)s.") % words
    if how is not Resolution.REFUND:
        return says
    instead = gettext(
        "Refund it on the provider's own pages: when its callback tells of that, this conflict "
        "ends."
    )
    return f"{says} {instead}"
