"""Let a destination rest, or work again: the page that asks, and what comes of the answer."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from django import forms
from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.console import cells, deeds, rights
from config.console.deeds import Asked, Deed
from outbox.destinations import directory
from outbox.models import BUS, REASON_LENGTH_MAX, Destination, DestinationKind, DestinationState

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


class _Move(NamedTuple):
    state: DestinationState
    name: "StrOrPromise"
    title: "StrOrPromise"
    says: "StrOrPromise"
    done: "StrOrPromise"
    grave: bool = False


_MOVES: Final = {
    "pause": _Move(
        DestinationState.PAUSED,
        _("Pause"),
        _("Pause %(destination)s"),
        _("Nothing leaves for %(destination)s until somebody resumes it. Its events are kept."),
        _("%(destination)s is paused."),
    ),
    "resume": _Move(
        DestinationState.ACTIVE,
        _("Resume"),
        _("Resume %(destination)s"),
        _("Events leave for %(destination)s again, those that were kept first."),
        _("%(destination)s works again."),
    ),
    "disable": _Move(
        DestinationState.DISABLED,
        _("Disable"),
        _("Disable %(destination)s"),
        _(
            "For %(destination)s if it is not expected to come back. "
            "Nothing leaves for it; its events are kept."
        ),
        _("%(destination)s is disabled."),
        grave=True,
    ),
}


class ReasonForm(forms.Form):
    """Why it rests, for whoever finds it resting."""

    reason = forms.CharField(
        label=_("Reason"), max_length=REASON_LENGTH_MAX, widget=forms.TextInput(attrs=deeds.LOOK)
    )


def links(destination: Destination) -> list[Deed]:
    """Where to each state that it may enter now; none for an endpoint that was removed."""
    endpoint = getattr(destination, "endpoint", None)
    if endpoint is not None and endpoint.removed_at is not None:
        return []
    return [
        Deed(
            str(move.name),
            reverse("admin:outbox_destination_move", args=[destination.pk, verb]),
            move.grave,
        )
        for verb, move in _MOVES.items()
        if destination.state in directory.ENTERED_FROM[move.state]
        and not (verb == "disable" and destination.code == BUS)
    ]


def view(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    """Ask, or do it. Raises PermissionDenied, Http404, BadRequest."""
    rights.require(request, rights.OPERATE)
    row = Destination.objects.filter(pk=pk).first()
    if row is None or verb not in _MOVES:
        raise Http404
    move = _MOVES[verb]
    reason = None if verb == "resume" else ReasonForm(request.POST or None)
    if request.method == "POST" and (reason is None or reason.is_valid()):
        seen = request.POST.get("seen", "")
        if seen not in DestinationState.values:
            raise BadRequest
        values: dict[str, Any] = {"seen": seen, "by": rights.by(request)}
        if reason is not None:
            values["reason"] = reason.cleaned_data["reason"]
        return deeds.done(request, lambda: _do(request, row, verb, values), page_of(row))
    named = {"destination": row.code}
    asked = Asked(
        title=move.title % named,
        says=[move.says % named, gettext("It is %(state)s now.") % {"state": row.state}],
        button=str(move.name),
        back=page_of(row),
        form=reason,
        seen={"seen": request.POST.get("seen", row.state)},
        grave=move.grave,
    )
    return deeds.ask(request, Destination, asked, row)


def page_of(destination: Destination) -> str:
    """Where it is shown: a webhook on the page of its endpoint."""
    is_webhook = destination.kind == DestinationKind.WEBHOOK
    endpoint = getattr(destination, "endpoint", None) if is_webhook else None
    return cells.page_of(endpoint or destination)


@transaction.atomic
def _do(request: HttpRequest, destination: Destination, verb: str, values: dict[str, Any]) -> str:
    try:
        getattr(directory, verb)(destination.code, **values)
    except directory.Refused as refused:
        raise deeds.Refused(str(refused)) from refused
    deeds.keep(
        request,
        f"destination.{verb}",
        destination.code,
        before={"state": values["seen"]},
        after={"state": _MOVES[verb].state.value},
        why=values.get("reason", ""),
    )
    return _MOVES[verb].done % {"destination": destination.code}
