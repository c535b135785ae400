"""What the provider says now: the answers that were kept, and the button that asks again."""

from typing import Final, NamedTuple

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from audit.models import AuditEntry
from config.console import cells, deeds, rights, who
from payments.clients.choice import Choice
from payments.conflicts import ask as asking
from payments.conflicts.ask import ASK
from payments.conflicts.fitting import FITS, why_not
from payments.conflicts.refusals import Refused
from payments.conflicts.seen import Held, NoSuchConflict
from payments.models import Conflict, Resolution

#: How many of its answers the page shows, newest first.
ANSWERS_MAX: Final = 5
ANSWERED: Final = "conflict.provider_answered"


class Spoken(NamedTuple):
    """What the provider has said about it, where to ask, and why it cannot be asked."""

    answers: SafeString | str
    link: str
    why_not: str


def spoken(request: HttpRequest, held: Held, reach: Choice | None) -> Spoken:
    """As the page of the conflict shows it; who may not ask still reads what was answered."""
    kept = AuditEntry.objects.filter(
        object_type="conflict", object_id=str(held.conflict.pk), action=ANSWERED
    ).order_by("-seq")[:ANSWERS_MAX]
    rows = [
        (
            cells.moment(entry.at),
            cells.two_lines(
                entry.after.get("answer", ""),
                cells.words(" ".join(filter(None, (entry.after.get("states"), _why(entry))))),
            ),
            entry.actor,
        )
        for entry in kept
    ]
    answers = cells.table((_("At"), _("It said"), _("Asked by")), rows) if rows else ""
    hindrance = _hindrance(held, reach)
    link = reverse("admin:payments_conflict_ask", args=[held.conflict.pk])
    may = not hindrance and request.user.has_perm(ASK)
    return Spoken(answers, link if may else "", hindrance)


def view(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask it; only by POST. Raises PermissionDenied, Http404, BadRequest."""
    rights.require(request, ASK)
    if request.method != "POST":
        raise BadRequest
    conflict = Conflict.objects.filter(pk=pk).first()
    if conflict is None:
        raise Http404
    try:
        answer = asking.ask(pk, person=who.person(request), now=timezone.now())
    except NoSuchConflict as error:
        raise Http404 from error
    except Refused as refusal:
        messages.warning(request, _("Nobody was asked. %(why)s") % {"why": refusal})
    except OperationalError:
        messages.error(request, deeds.BUSY)
    else:
        messages.info(request, _("The provider says: %(answer)s.") % {"answer": answer})
    return HttpResponseRedirect(cells.page_of(conflict))


def _hindrance(held: Held, reach: Choice | None) -> str:
    """Why it cannot be asked now; the question itself is checked again when it is put."""
    if Resolution.ASK_PROVIDER not in FITS[held.facts.reason]:
        return _("Its API is not asked about such a case; its own pages show what happened.")
    hindrance = why_not(Resolution.ASK_PROVIDER, held.facts)
    if hindrance or held.money is None or reach is None or reach.client is not None:
        return hindrance
    return f"{held.money.account.endpoint}: {reach.why}."


def _why(entry: AuditEntry) -> str:
    return str(entry.after.get("says") or "")
