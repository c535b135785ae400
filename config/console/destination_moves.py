"""Let a destination rest, or work again: the page that asks, and what comes of the answer."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from django import forms
from django.core.exceptions import BadRequest, PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.console import cells, deeds, members, rights
from config.console.deeds import Asked, Deed
from outbox.destinations import directory
from outbox.models import (
    BUS,
    REASON_LENGTH_MAX,
    Destination,
    DestinationKind,
    DestinationState,
    Endpoint,
    Party,
)
from outbox.webhooks import endpoints

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


def links(request: HttpRequest, destination: Destination) -> list[Deed]:
    """Where to each state that this user may move it to; none for an endpoint that was removed."""
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
        if _may(request, verb)
        and destination.state in directory.ENTERED_FROM[move.state]
        and not _is_out_of_his_hands(request, destination)
        and not (verb == "disable" and destination.code == BUS)
    ]


def view(request: HttpRequest, pk: int, verb: str) -> HttpResponse:
    """Ask, or do it. Raises PermissionDenied, Http404, BadRequest."""
    if not _may(request, verb):
        raise PermissionDenied
    row = members.own(request, Destination.objects.filter(pk=pk)).first()
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
    about = _shown_as(row)
    return deeds.ask(request, type(about), asked, about)


def _may(request: HttpRequest, verb: str) -> bool:
    """A merchant's member may let his endpoint work again, and nothing else."""
    return rights.may(request, rights.OPERATE, or_member=verb == "resume")


def _is_out_of_his_hands(request: HttpRequest, destination: Destination) -> bool:
    return destination.rested_by == Party.OPERATOR and members.membership(request) is not None


def page_of(destination: Destination) -> str:
    """Where it is shown."""
    return cells.page_of(_shown_as(destination))


def _shown_as(destination: Destination) -> Destination | Endpoint:
    """A webhook has the page of its endpoint."""
    is_webhook = destination.kind == DestinationKind.WEBHOOK
    endpoint = getattr(destination, "endpoint", None) if is_webhook else None
    return endpoint or destination


def _resume_own(destination: Destination, *, seen: str) -> None:
    """For its merchant, in the transaction of `_do`. Raises Refused, RestedByOperator."""
    held = Destination.objects.select_for_update(no_key=True, of=("self",))
    now = held.values_list("state", "endpoint__removed_at").get(pk=destination.pk)
    if now != (seen, None):
        raise directory.Refused(
            gettext("%(destination)s is %(state)s by now")
            % {"destination": destination, "state": now[0]}
        )
    endpoints.resume(destination)


@transaction.atomic
def _do(request: HttpRequest, destination: Destination, verb: str, values: dict[str, Any]) -> str:
    try:
        if members.membership(request) is None:
            getattr(directory, verb)(destination.code, **values)
        else:
            _resume_own(destination, seen=values["seen"])
    except (directory.Refused, endpoints.RestedByOperator) as refused:
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
