"""Which conflicts still wait for a person."""

from collections.abc import Sequence
from typing import Any, Final

from django.contrib.admin.views.main import ORDER_VAR, PAGE_VAR
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_lazy
from unfold.contrib.filters.admin import RadioFilter

from config.console.screens import ROWS_COUNTED_MAX
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import Conflict

_TO_DECIDE: Final = "undecided"
_DECIDED: Final = "decided"


def count(_request: HttpRequest | None = None) -> str:
    """How many conflicts wait for a person, for the sidebar, as far as lists count."""
    number = Conflict.objects.filter(status__in=UNDECIDED)[:ROWS_COUNTED_MAX].count()
    return f"{number}+" if number == ROWS_COUNTED_MAX else str(number)


class DecidedFilter(RadioFilter):  # type: ignore[misc]
    """What is to be decided, what is, or both. A list that was asked nothing shows the first."""

    title = gettext_lazy("decision")
    parameter_name = "decision"
    all_option = None

    def lookups(self, *_: Any) -> Sequence[tuple[str, str]]:
        """The three."""
        return (
            (_TO_DECIDE, gettext("To decide")),
            (_DECIDED, gettext("Decided")),
            ("all", gettext("Both")),
        )

    def __init__(self, request: HttpRequest, *args: Any) -> None:
        self._is_asked = any(
            value for name, value in request.GET.items() if name not in (PAGE_VAR, ORDER_VAR)
        )
        super().__init__(request, *args)

    def value(self) -> str:
        """What was chosen; a search looks through both."""
        return super().value() or ("all" if self._is_asked else _TO_DECIDE)

    def queryset(self, _request: HttpRequest, rows: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Those of the chosen kind."""
        match self.value():
            case "undecided":
                return rows.filter(status__in=UNDECIDED)
            case "decided":
                return rows.exclude(status__in=UNDECIDED)
            case _:
                return rows
