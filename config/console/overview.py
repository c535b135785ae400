"""The console's first page: what waits for a person, what the days came to, what came in last."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, chart, members, outgoing, related, rights
from config.console.cells import Section
from config.console.destinations import counted
from config.console.screens import ROWS_COUNTED_MAX
from outbox.backlogs import Backlog, backlogs, behind
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
    if members.membership(request) is not None:
        return context | _of_member(request)
    figures: list[Figure] = []
    sections: list[Section] = []
    may = request.user.has_perm
    if may("payments.view_conflict"):
        figures.append(_to_decide())
    if may("payments.view_providertransaction"):
        figures.append(_parked())
    if may("outbox.view_dispatch"):
        figures += _untold(Dispatch.objects.all(), dead="refused too often; they need a redrive")
    if may("orders.view_order"):
        days = chart.of_days(timezone.now().date())
        sections.append(Section(f"The last {chart.DAYS} days", days))
    if may("outbox.view_dispatch") and may("outbox.view_destination"):
        known = backlogs(behind(most=related.ROWS_MAX))
        sections.append(Section("Destinations that are behind", _behind(known)))
    if may("payments.view_delivery"):
        sections.append(Section("Latest deliveries", related.deliveries(Delivery.objects.all())))
    return context | {"title": "Overview", "figures": figures, "sections": sections}


def _to_decide() -> Figure:
    found = Conflict.objects.filter(status__in=UNDECIDED).aggregate(
        all=Count("pk"), late=Count("pk", filter=Q(due_at__lt=Now()))
    )
    return Figure(
        "Conflicts to decide",
        found["all"],
        f"{found['late']} overdue",
        reverse("admin:payments_conflict_changelist"),
        alarms=found["late"] > 0,
    )


def _parked() -> Figure:
    parked = ProviderTransaction.objects.filter(disposition=Disposition.PARKED)
    link = reverse("admin:payments_providertransaction_changelist")
    return Figure(
        "Payments parked",
        _count(parked),
        "wait for their order to be placed",
        f"{link}?disposition__exact={Disposition.PARKED}",
    )


def _untold(rows: QuerySet[Dispatch], *, dead: str) -> list[Figure]:
    waiting = rows.filter(published_at__isnull=True, dead_at__isnull=True)
    died = _count(rows.filter(dead_at__isnull=False))
    link = reverse("admin:outbox_dispatch_changelist")
    return [
        Figure(
            "Dispatches waiting",
            _count(waiting),
            "events on their way, each to one destination",
            f"{link}?state=WAITING",
        ),
        Figure(
            "Dispatches dead",
            died,
            dead,
            f"{link}?state=DEAD",
            alarms=died > 0,
        ),
    ]


def _of_member(request: HttpRequest) -> dict[str, Any]:
    """For a merchant's member: his endpoints, and what waits for them."""
    figures: list[Figure] = []
    sections: list[Section] = []
    if rights.may(request, rights.MEMBER, or_member=True):
        mine = members.own(request, Dispatch.objects.all())
        figures += _untold(mine, dead=_("not taken in three days; they can be sent again"))
        present = members.own(request, Destination.objects.filter(endpoint__removed_at=None))
        known = backlogs(present.values_list("pk", flat=True))
        sections.append(Section(_("Your endpoints"), _behind(known, to_endpoints=True)))
    return {"title": _("Overview"), "figures": figures, "sections": sections}


def _behind(known: Mapping[int, Backlog], *, to_endpoints: bool = False) -> SafeString:
    """Destinations with what waits for them or is dead."""
    rows = Destination.objects.filter(pk__in=known).select_related("endpoint").order_by("code")
    return cells.table(
        ("Destination", "State", "Waiting", "Oldest", "Dead", "Last error"),
        [
            (
                cells.link(row.endpoint if to_endpoints else row),
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
