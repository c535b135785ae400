"""The filters that several lists share."""

from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.contrib.filters.admin import (
    AllValuesCheckboxFilter,
    ChoicesCheckboxFilter,
    DropdownFilter,
    RangeDateTimeFilter,
    RelatedDropdownFilter,
)

from config.console import members
from outbox.models import Destination, Dispatch
from payments.models import ConflictReason, Delivery

MERCHANT: Final = ("merchant", RelatedDropdownFilter)
ACCOUNT: Final = ("account", RelatedDropdownFilter)
# Its choices are read from the accounts, which are few.
PROVIDER: Final = ("account__provider", AllValuesCheckboxFilter)


def choices(field: str) -> Any:
    """Some of the values that the field may have."""
    return (field, ChoicesCheckboxFilter)


def between(field: str) -> Any:
    """From one time to another, each a day and, if need be, an hour of it."""
    return (field, BetweenFilter)


class DestinationFilter(RelatedDropdownFilter):  # type: ignore[misc]
    """Offers the destinations whose dispatches this user may see."""

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: Any
    ) -> list[tuple[int, str]]:
        """Those, by their codes."""
        ordering = self.field_admin_ordering(field, request, model_admin)
        mine = members.own(request, Destination.objects.all())
        found: list[tuple[int, str]] = field.get_choices(
            include_blank=False, ordering=ordering, limit_choices_to={"pk__in": mine}
        )
        return found


DESTINATION: Final = ("destination", DestinationFilter)


class BetweenFilter(RangeDateTimeFilter):  # type: ignore[misc]
    """In the reader's hours; a day without one means all of it, and what is no time finds none."""

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows from the one time to the other."""
        name = self.parameter_name
        try:
            first = self._moment("from", time.min)
            last = self._moment("to", time.max)
        except ValueError:
            return rows.none()
        if first is not None:
            rows = rows.filter(**{f"{name}__gte": first})
        if last is not None:
            rows = rows.filter(**{f"{name}__lte": last})
        return rows

    def _moment(self, end: str, at: time) -> datetime | None:
        day, hour = (
            str(self.used_parameters.get(f"{self.parameter_name}_{end}_{part}") or "").strip()
            for part in (0, 1)
        )
        if not day:
            return None
        hour_of_day = time.fromisoformat(hour) if hour else at
        zone = timezone.get_current_timezone()
        return datetime.combine(date.fromisoformat(day), hour_of_day, tzinfo=zone)


class ReasonFilter(DropdownFilter):  # type: ignore[misc]
    """The reasons by name: to read them from the rows would read all rows."""

    title = "reason"
    parameter_name = "reason"

    def lookups(self, *_: Any) -> Iterator[tuple[str, str]]:
        """All reasons that a delivery may have."""
        for reason in ("UNREADABLE", "WRONG_MODE", "STALE", *ConflictReason.values):
            yield reason, reason

    def queryset(self, _request: HttpRequest, rows: QuerySet[Delivery]) -> QuerySet[Delivery]:
        """Those with the chosen one."""
        return rows.filter(reason=self.value()) if self.value() else rows


#: The stamps that the words for progress stand for: the indexes are made of them.
_PROGRESS: Final = {
    "WAITING": Q(published_at__isnull=True, dead_at__isnull=True),
    "PUBLISHED": Q(published_at__isnull=False),
    "DEAD": Q(dead_at__isnull=False),
}


class DispatchStateFilter(DropdownFilter):  # type: ignore[misc]
    """How far dispatches got, as the first page counts them."""

    title = "state"
    parameter_name = "state"

    def lookups(self, *_: Any) -> Iterator[tuple[str, str]]:
        """Three words for four states: a claim comes and goes within seconds."""
        for state in _PROGRESS:
            yield state, state

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those in that state."""
        if not self.value():
            return rows
        wanted = _PROGRESS.get(str(self.value()))
        return rows.none() if wanted is None else self.matching(request, rows, wanted)

    def matching(self, _request: HttpRequest, rows: QuerySet[Any], wanted: Q) -> QuerySet[Any]:
        """The rows themselves."""
        return rows.filter(wanted)


class ProgressFilter(DispatchStateFilter):
    """How far events got on the way to any of their destinations."""

    def matching(self, request: HttpRequest, rows: QuerySet[Any], wanted: Q) -> QuerySet[Any]:
        """Those with a dispatch that matches, of those that this user may see."""
        ways = members.own(request, Dispatch.objects.filter(wanted))
        return rows.filter(pk__in=ways.values("event"))
