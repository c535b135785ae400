"""The filters that several lists share."""

from collections.abc import Iterator
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import (
    AllValuesCheckboxFilter,
    ChoicesCheckboxFilter,
    DropdownFilter,
    RangeDateTimeFilter,
    RelatedDropdownFilter,
)

from payments.models import ConflictReason, Delivery

MERCHANT: Final = ("merchant", RelatedDropdownFilter)
ACCOUNT: Final = ("account", RelatedDropdownFilter)
# Its choices are read from the accounts, which are few.
PROVIDER: Final = ("account__provider", AllValuesCheckboxFilter)


def choices(field: str) -> Any:
    """Some of the values that the field may have."""
    return (field, ChoicesCheckboxFilter)


def between(field: str) -> Any:
    """From one time to another, each with its day and hour."""
    return (field, RangeDateTimeFilter)


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
