"""The console's first page: what waits for a person, and what came in last."""

from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import reverse

from config.console import related
from config.console.cells import Section
from config.console.screens import ROWS_COUNTED_MAX
from outbox.models import Dispatch
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
    if may("outbox.view_event"):
        figures += _untold()
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


def _untold() -> list[Figure]:
    waiting = Dispatch.objects.filter(published_at__isnull=True, dead_at__isnull=True)
    dead = _count_events(Dispatch.objects.filter(dead_at__isnull=False))
    link = reverse("admin:outbox_event_changelist")
    return [
        Figure(
            "Events waiting",
            _count_events(waiting),
            "to be published by the relay",
            f"{link}?state=WAITING",
        ),
        Figure(
            "Events dead",
            dead,
            "refused too often; they need a redrive",
            f"{link}?state=DEAD",
            alarms=dead > 0,
        ),
    ]


def _count_events(dispatches: QuerySet[Dispatch]) -> int:
    """How many events they are: one may wait, or be dead, in several places."""
    return _count(dispatches.order_by().values("event").distinct())


def _count(rows: QuerySet[Any]) -> int:
    """How many, as far as lists count."""
    return rows[:ROWS_COUNTED_MAX].count()
