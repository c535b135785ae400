"""The console's first page: what waits for a person, what the days came to, what came in last."""

from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, chart, outgoing, related
from config.console.cells import Section
from config.console.destinations import counted
from config.console.screens import ROWS_COUNTED_MAX
from outbox.backlogs import backlogs, behind
from outbox.models import Destination, Dispatch
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import Conflict, Delivery, Disposition, ProviderTransaction


class Figure(NamedTuple):
    """A number that leads to the rows it counts; red if it should be nought and is not."""

    title: str
    number: int
    note: str
    link: str
    alarms: bool = False


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the first page shows to this user; each number is a look at a partial index."""
    figures: list[Figure] = []
    sections: list[Section] = []
    may = request.user.has_perm
    if may("payments.view_conflict"):
        figures.append(_to_decide())
    if may("payments.view_providertransaction"):
        figures.append(_parked())
    if may("outbox.view_dispatch"):
        figures += _untold()
    if may("orders.view_order"):
        days = chart.of_days(timezone.now().date())
        sections.append(Section(_("The last %(days)s days") % {"days": chart.DAYS}, days))
    if may("outbox.view_dispatch") and may("outbox.view_destination"):
        sections.append(Section(_("Destinations that are behind"), _behind()))
    if may("payments.view_delivery"):
        sections.append(Section(_("Latest deliveries"), related.deliveries(Delivery.objects.all())))
    return context | {"title": _("Overview"), "figures": figures, "sections": sections}


def _to_decide() -> Figure:
    found = Conflict.objects.filter(status__in=UNDECIDED).aggregate(
        all=Count("pk"), late=Count("pk", filter=Q(due_at__lt=Now()))
    )
    return Figure(
        _("Conflicts to decide"),
        found["all"],
        _("%(number)s overdue") % {"number": found["late"]},
        reverse("admin:payments_conflict_changelist"),
        alarms=found["late"] > 0,
    )


def _parked() -> Figure:
    parked = ProviderTransaction.objects.filter(disposition=Disposition.PARKED)
    link = reverse("admin:payments_providertransaction_changelist")
    return Figure(
        _("Payments parked"),
        _count(parked),
        _("wait for their order to be placed"),
        f"{link}?disposition__exact={Disposition.PARKED}",
    )


def _untold() -> list[Figure]:
    waiting = Dispatch.objects.filter(published_at__isnull=True, dead_at__isnull=True)
    dead = _count(Dispatch.objects.filter(dead_at__isnull=False))
    link = reverse("admin:outbox_dispatch_changelist")
    return [
        Figure(
            _("Dispatches waiting"),
            _count(waiting),
            _("events on their way, each to one destination"),
            f"{link}?state=WAITING",
        ),
        Figure(
            _("Dispatches dead"),
            dead,
            _("refused too often; they need a redrive"),
            f"{link}?state=DEAD",
            alarms=dead > 0,
        ),
    ]


def _behind() -> SafeString:
    """The destinations for which something waits or is dead."""
    known = backlogs(behind(most=related.ROWS_MAX))
    rows = Destination.objects.filter(pk__in=known).select_related("endpoint").order_by("code")
    return cells.table(
        (_("Destination"), _("State"), _("Waiting"), _("Oldest"), _("Dead"), _("Last error")),
        [
            (
                cells.link(row),
                outgoing.state(row),
                counted(known[row.pk].waiting, row.pk, "WAITING"),
                cells.moment(known[row.pk].oldest),
                counted(known[row.pk].dead, row.pk, "DEAD"),
                cells.words(known[row.pk].last_error),
            )
            for row in rows
        ],
    )


def _count(rows: QuerySet[Any]) -> int:
    """How many, as far as lists count."""
    return rows.order_by()[:ROWS_COUNTED_MAX].count()
