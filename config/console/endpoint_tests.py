"""Send an endpoint a test event: the page that asks, and the asking for an attempt."""

from django.core.exceptions import BadRequest
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from config.console import cells, deeds, members, rights
from config.console.deeds import Asked
from outbox.models import Attempt, Endpoint
from outbox.webhooks import attempts


def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask, or do it. Raises PermissionDenied, Http404, BadRequest."""
    rights.require(request, rights.OPERATE, or_member=True)
    row = members.own(request, present()).filter(pk=pk).first()
    if row is None:
        raise Http404
    back = cells.page_of(row)
    if request.method == "POST":
        seen = request.POST.get("seen")
        if not seen:
            raise BadRequest
        return deeds.done(request, lambda: _test(request, row, seen), back)
    asked = Asked(
        title=_("Send %(endpoint)s a test event") % {"endpoint": row.destination.code},
        says=[
            _(
                "One message of the type webhook.test, whatever the endpoint's state. "
                "It is no event."
            ),
            _("If it works, an endpoint that rests because it failed is tried again at once."),
        ],
        button=_("Send it"),
        back=back,
        seen={"seen": _standing(row)},
    )
    return deeds.ask(request, Endpoint, asked, row)


def present() -> QuerySet[Endpoint]:
    """The endpoints that were not removed."""
    return Endpoint.objects.filter(removed_at=None).select_related("destination")


@transaction.atomic
def _test(request: HttpRequest, row: Endpoint, seen: str) -> str:
    # Of two clicks the second waits here, and then sees the attempt that the first asked for.
    if not present().select_for_update(no_key=True, of=("self",)).filter(pk=row.pk).exists():
        raise deeds.Refused(_("the endpoint was removed"))
    if _standing(row) != seen:
        raise deeds.Refused(_("a test was asked for since this page was shown"))
    asked = attempts.send_test(row.destination, by=rights.by(request))
    after = {"attempt": str(asked.pk)}
    deeds.keep(request, "webhook.tested", row.destination.code, after=after)
    return _("Attempt %(attempt)s is asked for; it is made within seconds.") % {"attempt": asked.pk}


def _standing(row: Endpoint) -> str:
    """The tests that there are; old ones are taken away, so this may only refuse too often."""
    tests = Attempt.objects.filter(destination=row.pk, dispatch=None)
    return f"{tests.count()} tests"
