"""Dismiss many at once, where the domain finds that harmless: the page that asks, and the doing."""

from typing import Final

from django.contrib import messages
from django.db import OperationalError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.console import cells, deeds, rights, text, two_sides, who
from config.console.conflict import numbers
from config.console.conflict.forms import WhyForm
from config.console.deeds import Asked
from payments.conflicts import bulk, checking
from payments.conflicts.fitting import HARMLESS
from payments.conflicts.lifecycle import UNDECIDED
from payments.conflicts.refusals import Refused
from payments.models import Conflict

#: How many refusals the answer spells out; the pages of the conflicts have the rest.
_SPELLED_MAX: Final = 5


def view(request: HttpRequest) -> HttpResponse:
    """Ask about those that are chosen, or dismiss them. Raises PermissionDenied, BadRequest."""
    rights.require(request, checking.RESOLVE)
    if request.method != "POST":
        chosen = _ids(request.GET.get("ids", ""))
        return _page(request, chosen, WhyForm())
    versions = _versions(request.POST.get("seen", ""))
    form = WhyForm(request.POST)
    if not form.is_valid():
        return _page(request, list(versions), form)
    _dismiss(request, versions, form.cleaned_data["why"])
    return HttpResponseRedirect(_list())


def to_page(rows: QuerySet[Conflict]) -> HttpResponse:
    """Where those can be dismissed."""
    ids = rows.order_by("due_at", "pk").values_list("pk", flat=True)[: bulk.DISMISSED_MAX]
    where = reverse("admin:payments_conflict_dismiss")
    return HttpResponseRedirect(f"{where}?ids={','.join(str(pk) for pk in ids)}")


def _page(request: HttpRequest, ids: list[int], form: WhyForm) -> HttpResponse:
    rows = list(Conflict.objects.filter(pk__in=ids, status__in=UNDECIDED).order_by("due_at", "pk"))
    able = [row for row in rows if row.reason in HARMLESS and row.status == "OPEN"]
    kept = len(ids) - len(able)
    says = [
        ngettext(
            "One conflict is dismissed: nothing moves, and nobody is asked again.",
            "%(number)s conflicts are dismissed: nothing moves, and nobody is asked again.",
            len(able),
        )
        % {"number": len(able)}
    ]
    if kept:
        reasons = ", ".join(HARMLESS)
        says.append(
            _("%(number)s others stay as they are: only %(reasons)s are dismissed many at once.")
            % {"number": kept, "reasons": reasons}
        )
    asked = Asked(
        title=_("Dismiss many"),
        says=says if able else says[1:],
        button=_("Dismiss") if able else "",
        back=_list(),
        form=form if able else None,
        seen={"seen": ",".join(f"{row.pk}:{row.version}" for row in able)},
        table=cells.table(
            (_("Reason"), _("Question")),
            [(cells.link(row, row.reason), text.visible(two_sides.question(row))) for row in able],
        ),
    )
    return deeds.ask(request, Conflict, asked)


def _dismiss(request: HttpRequest, versions: dict[int, int], why: str) -> None:
    try:
        told = bulk.dismiss(versions, why=why, person=who.person(request), now=timezone.now())
    except Refused as refusal:
        messages.warning(request, _("Nothing was changed. %(why)s") % {"why": refusal})
        return
    except OperationalError:
        messages.error(request, deeds.BUSY)
        return
    refused = [one for one in told if one.refused]
    done = len(told) - len(refused)
    messages.success(request, _("Dismissed: %(number)s.") % {"number": done})
    for one in refused[:_SPELLED_MAX]:
        words = {"number": one.conflict_id, "why": text.visible(one.refused)}
        messages.warning(request, _("Conflict %(number)s was left alone. %(why)s") % words)
    if len(refused) > _SPELLED_MAX:
        more = len(refused) - _SPELLED_MAX
        messages.warning(request, _("And %(number)s more were left alone.") % {"number": more})


def _versions(written: str) -> dict[int, int]:
    pairs = [part.partition(":") for part in written.split(",") if part]
    return {
        numbers.row_id(pk): numbers.row_id(version)
        for pk, _colon, version in pairs[: bulk.DISMISSED_MAX]
    }


def _ids(written: str) -> list[int]:
    return [numbers.row_id(part) for part in written.split(",")[: bulk.DISMISSED_MAX] if part]


def _list() -> str:
    return reverse("admin:payments_conflict_changelist")
