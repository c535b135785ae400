"""Put what is dead back in line: the page that says how many and to where, and the doing."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from config.console import cells, deeds, rights
from config.console.deeds import Asked
from outbox.models import Dispatch
from outbox.redrive import redrive

#: How many at once: the request stays short, and a person can still mean each of them.
REDRIVEN_MAX: Final = 500
#: How many redrive ids the answer names; the pages of the dispatches have them all.
_NAMED_MAX: Final = 5
#: How many the page shows in its table.
_SHOWN_MAX: Final = 20
_ID_DIGITS_MAX: Final = 18


def view(request: HttpRequest) -> HttpResponse:
    """Ask about those that are dead now, or redrive those that were asked about.

    Raises PermissionDenied, BadRequest.
    """
    rights.require(request, rights.OPERATE)
    form = deeds.WhyForm(request.POST or None)
    if request.method == "POST":
        ids = ids_of(request.POST.get("ids", ""))
        if form.is_valid():
            back = _list() if len(ids) != 1 else f"{_list()}{ids[0]}/change/"
            why = form.cleaned_data["why"]
            return deeds.done(request, lambda: _redrive(request, ids, why), back)
        chosen = _dead().filter(pk__in=ids)
    else:
        chosen = _chosen(request)
    dead = list(chosen[: REDRIVEN_MAX + 1])
    if not dead:
        messages.warning(request, _("Nothing of that is dead now."))
        return HttpResponseRedirect(_list())
    return deeds.ask(request, Dispatch, _asked(request, dead, form))


def to_page(dispatches: QuerySet[Dispatch]) -> HttpResponse:
    """Where those of them that are dead can be redriven."""
    dead = dispatches.filter(dead_at__isnull=False).order_by("dead_at", "pk")
    keys = list(dead.values_list("pk", flat=True)[: REDRIVEN_MAX + 1])
    ids = ",".join(str(pk) for pk in keys[:REDRIVEN_MAX])
    more = "&more=1" if len(keys) > REDRIVEN_MAX else ""
    return HttpResponseRedirect(f"{reverse('admin:outbox_dispatch_redrive')}?ids={ids}{more}")


def _chosen(request: HttpRequest) -> QuerySet[Dispatch]:
    """The dead that the address names: some, or all of one destination."""
    if "destination" in request.GET:
        return _dead().filter(destination__in=ids_of(request.GET["destination"]))
    return _dead().filter(pk__in=ids_of(request.GET.get("ids", "")))


def _dead() -> QuerySet[Dispatch]:
    """Those that died first come first."""
    dead = Dispatch.objects.filter(dead_at__isnull=False).order_by("dead_at", "pk")
    return dead.select_related("destination", "event").defer("event__payload", "event__headers")


def _asked(request: HttpRequest, dead: list[Dispatch], form: deeds.WhyForm) -> Asked:
    shown = dead[:REDRIVEN_MAX]
    numbers = Counter(row.destination.code for row in shown)
    where = [
        _("%(number)s to %(destination)s") % {"number": number, "destination": code}
        for code, number in sorted(numbers.items())
    ]
    says = [_("Back in line, with all their attempts: %(where)s.") % {"where": ", ".join(where)}]
    if len(dead) > REDRIVEN_MAX or "more" in request.GET:
        most = {"most": REDRIVEN_MAX}
        says.append(_("There are more: these are the %(most)s that died first.") % most)
    says.append(_("What waits behind them goes out after them. Mend what killed them first."))
    number = {"number": len(shown)}
    more = _("And %(number)s more.") % {"number": len(shown) - _SHOWN_MAX}
    return Asked(
        title=_("Redrive %(number)s dead") % number,
        says=says,
        button=_("Redrive %(number)s") % number,
        back=_list(),
        form=form,
        seen={"ids": ",".join(str(row.pk) for row in shown)},
        table=cells.table(
            (
                _("Event"),
                _("About"),
                _("Destination"),
                _("Died"),
                _("Attempts"),
                _("Last error"),
            ),
            [
                (
                    cells.link(row, row.event.type),
                    cells.short(f"{row.aggregate_id}#{row.seq}"),
                    row.destination.code,
                    cells.moment(row.dead_at),
                    row.attempts,
                    cells.words(row.last_error),
                )
                for row in shown[:_SHOWN_MAX]
            ],
            more="" if len(shown) <= _SHOWN_MAX else more,
        ),
    )


@transaction.atomic
def _redrive(request: HttpRequest, ids: list[int], why: str) -> str:
    """Those that are still dead; what died after the page was shown is not among them."""
    where: dict[str, list[UUID]] = defaultdict(list)
    rows = Dispatch.objects.filter(pk__in=ids, dead_at__isnull=False)
    for event, code in rows.values_list("event_id", "destination__code"):
        where[code].append(event)
    redriven: dict[tuple[UUID, str], UUID] = {}
    for code, events in sorted(where.items()):
        redriven |= redrive(events, destination=code, by=rights.by(request))
    if not redriven:
        raise deeds.Refused(_("none of them is dead any more"))
    told = sorted((str(event), code, str(attempt)) for (event, code), attempt in redriven.items())
    about = told[0][0] if len(told) == 1 else "many"
    deeds.keep(request, "event.redriven", about, after={"redriven": told}, why=why)
    return _told(redriven.items(), asked=len(ids))


def _told(redriven: Iterable[tuple[tuple[UUID, str], UUID]], *, asked: int) -> str:
    named = [
        f"{event} \N{RIGHTWARDS ARROW} {code}: {attempt}" for (event, code), attempt in redriven
    ]
    ids = "; ".join(named[:_NAMED_MAX])
    if len(named) > _NAMED_MAX:
        more = {"ids": ids, "number": len(named) - _NAMED_MAX}
        ids = _("%(ids)s; and %(number)s more") % more
    values = {"number": len(named), "asked": asked, "ids": ids}
    if len(named) == asked:
        return _("Back in line: %(number)s. Redrive ids: %(ids)s.") % values
    return (
        _(
            "Back in line: %(number)s of %(asked)s; the others were not dead any more. "
            "Redrive ids: %(ids)s."
        )
        % values
    )


def ids_of(written: str) -> list[int]:
    """Ids as the address of a page has them, with commas. Raises BadRequest."""
    parts = [part for part in written.split(",") if part]
    if len(parts) > REDRIVEN_MAX or not all(
        part.isascii() and part.isdigit() and len(part) <= _ID_DIGITS_MAX for part in parts
    ):
        raise BadRequest
    return [int(part) for part in parts]


def _list() -> str:
    return reverse("admin:outbox_dispatch_changelist")
