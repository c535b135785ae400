"""Send a merchant's endpoint an event again: the page that asks, and the asking for an attempt."""

from django.core.exceptions import BadRequest
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from config.console import cells, deeds, members, rights
from config.console.deeds import Asked
from outbox.models import Attempt, DestinationKind, Dispatch, DispatchState
from outbox.webhooks import attempts


def is_possible(dispatch: Dispatch) -> bool:
    """Whether it goes to a merchant's endpoint that is still there."""
    endpoint = getattr(dispatch.destination, "endpoint", None)
    is_webhook = dispatch.destination.kind == DestinationKind.WEBHOOK
    return is_webhook and endpoint is not None and endpoint.removed_at is None


def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, or do it. Raises PermissionDenied, Http404, BadRequest."""
    rights.require(request, rights.OPERATE, or_member=True)
    rows = Dispatch.objects.select_related("destination__endpoint", "event")
    row = members.own(request, rows).filter(pk=pk).first()
    if row is None or not is_possible(row):
        raise Http404
    back = cells.page_of(row)
    if request.method == "POST":
        seen = request.POST.get("seen")
        if not seen:
            raise BadRequest
        return deeds.done(request, lambda: _resend(request, row, seen), back)
    asked = Asked(
        title=_("Send %(event)s to %(destination)s again")
        % {"event": row.event.type, "destination": row.destination.code},
        says=[_says(row), _("It keeps its id, so a receiver that has it knows.")],
        button=_("Send again"),
        back=back,
        seen={"seen": _standing(row)},
    )
    return deeds.ask(request, Dispatch, asked, row)


def _says(row: Dispatch) -> str:
    match row.state:
        case DispatchState.PUBLISHED:
            return _(
                "It was delivered at %(time)s and is sent once more, whatever the endpoint's state."
            ) % {"time": cells.moment(row.published_at)}
        case DispatchState.DEAD:
            return _("It is dead. It goes back in line with all its attempts.")
        case _:
            return _("It waits. It goes out as soon as the events before it are through.")


@transaction.atomic
def _resend(request: HttpRequest, row: Dispatch, seen: str) -> str:
    # Of two clicks the second waits here, and then sees the attempt that the first asked for.
    locked = Dispatch.objects.select_for_update(no_key=True).filter(pk=row.pk)
    now = locked.select_related(None).first()
    if now is None:
        raise deeds.Refused(_("it is not there any more"))
    if _standing(now) != seen:
        raise deeds.Refused(_("it was tried, or somebody asked for it, since this page was shown"))
    asked = attempts.resend(now, by=rights.by(request))
    about = {"destination": row.destination.code, "attempt": str(asked.pk)}
    deeds.keep(request, "event.resent", str(row.event_id), after=about)
    return _(
        "Attempt %(attempt)s is asked for; it is made within seconds if nothing is in its way."
    ) % {"attempt": asked.pk}


def _standing(row: Dispatch) -> str:
    """What changes with every try, and whenever somebody asks for one."""
    return f"{row.fence}.{row.redrive_id}.{Attempt.objects.filter(dispatch=row).count()}"
