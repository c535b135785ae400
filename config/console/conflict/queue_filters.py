"""The filters of the queue: by age, provider, amount, who has it, and whether it is late."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from iso4217 import Currency
from unfold.contrib.filters.admin import DropdownFilter, RadioFilter, RangeNumericListFilter

from config.console.conflict import numbers
from orders.money import AMOUNT_MINOR_MAX, NotMoney, exponent_of
from payments.conflicts import assigning
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import Conflict, ProviderAccount

MINE: Final = "me"
NOBODYS: Final = "nobody"
#: What the parameters of these filters are called, for the addresses that ask for them.
PARAMETERS: Final = ("age", "provider", "amount_from", "amount_to", "assignee", "overdue")

_AGES: Final[Mapping[str, tuple[timedelta, Any]]] = {
    "hour": (timedelta(hours=1), gettext_lazy("More than an hour")),
    "day": (timedelta(days=1), gettext_lazy("More than a day")),
    "3days": (timedelta(days=3), gettext_lazy("More than three days")),
    "week": (timedelta(days=7), gettext_lazy("More than a week")),
}
_USUAL_EXPONENT: Final = 2


class AgeFilter(DropdownFilter):  # type: ignore[misc]
    """How long it has been open, or took."""

    title = gettext_lazy("age")
    parameter_name = "age"

    def lookups(self, *_: Any) -> Iterator[tuple[str, str]]:
        """Some lengths of time."""
        return ((name, str(says)) for name, (_age, says) in _AGES.items())

    def queryset(self, _request: HttpRequest, rows: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Those opened longer ago."""
        if not self.value():
            return rows
        chosen = _AGES.get(str(self.value()))
        return rows.none() if chosen is None else rows.filter(opened_at__lte=Now() - chosen[0])


class ProviderFilter(DropdownFilter):  # type: ignore[misc]
    """The provider whose word it is about; accounts are few, so they are asked."""

    title = gettext_lazy("provider")
    parameter_name = "provider"

    def lookups(self, *_: Any) -> list[tuple[str, str]]:
        """The providers that there are accounts at."""
        found = ProviderAccount.objects.values_list("provider", flat=True).distinct()
        return [(name, name) for name in found.order_by("provider")]

    def queryset(self, _request: HttpRequest, rows: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Those whose money came through it; those without money by the endpoint that told it."""
        if not self.value():
            return rows
        through = f"{self.value()}/"
        told = Q(transaction=None, received__endpoint__startswith=through)
        return rows.filter(told | Q(transaction__account__provider=self.value()))


class AssigneeFilter(DropdownFilter):  # type: ignore[misc]
    """Who has taken it on."""

    title = gettext_lazy("with")
    parameter_name = "assignee"

    def lookups(self, *_args: Any) -> Iterator[tuple[str, str]]:
        """Me, nobody, and all who may decide."""
        yield MINE, _("Me")
        yield NOBODYS, _("Nobody")
        for user in assigning.who_decide():
            yield str(user.pk), user.get_username()

    def queryset(self, request: HttpRequest, rows: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """His, or nobody's."""
        wanted = str(self.value() or "")
        if wanted == MINE:
            return rows.filter(assignee=request.user.pk)
        if wanted == NOBODYS:
            return rows.filter(assignee=None)
        if not wanted:
            return rows
        return rows.filter(assignee=int(wanted)) if numbers.is_one(wanted) else rows.none()


class OverdueFilter(RadioFilter):  # type: ignore[misc]
    """Whether its time is over and it is still undecided."""

    title = gettext_lazy("overdue")
    parameter_name = "overdue"

    def lookups(self, *_args: Any) -> Sequence[tuple[str, str]]:
        """One choice beside all."""
        return (("yes", _("Overdue only")),)

    def queryset(self, _request: HttpRequest, rows: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Those whose answer is late."""
        return rows.filter(is_overdue()) if self.value() else rows


class AmountFilter(RangeNumericListFilter):  # type: ignore[misc]
    """From one amount to another, in major units of whatever currency it came in."""

    title = gettext_lazy("amount (in its own currency)")
    parameter_name = "amount"

    def queryset(self, _request: HttpRequest, rows: QuerySet[Conflict]) -> QuerySet[Conflict]:
        """Those within; what is no amount finds none."""
        try:
            least, most = (self._amount(end) for end in ("from", "to"))
        except (InvalidOperation, ValueError):
            return rows.none()
        return rows.filter(between(least, most)) if least is not None or most is not None else rows

    def _amount(self, end: str) -> Decimal | None:
        value = str(self.used_parameters.get(f"{self.parameter_name}_{end}") or "").strip()
        if not value:
            return None
        amount = Decimal(value)
        if not amount.is_finite():
            raise ValueError(value)
        # Before it is moved to minor units: beyond the decimals' own range that would fail.
        return _bounded(amount)


def is_overdue() -> Q:
    """Undecided after its time."""
    return Q(due_at__lt=Now(), status__in=UNDECIDED)


def between(least: Decimal | None, most: Decimal | None) -> Q:
    """What came is at least and at most so much, in the major units of its currency."""
    odd = [code for codes in _ODD.values() for code in codes]
    usual = ~Q(currency__in=odd) & _minor(least, most, _USUAL_EXPONENT)
    others = [Q(currency__in=codes) & _minor(least, most, e) for e, codes in _ODD.items()]
    found = usual
    for other in others:
        found |= other
    return Q(amount_minor__isnull=False) & found


def _minor(least: Decimal | None, most: Decimal | None, exponent: int) -> Q:
    found = Q()
    if least is not None:
        found &= Q(amount_minor__gte=int(_bounded(least.scaleb(exponent))))
    if most is not None:
        found &= Q(amount_minor__lte=int(_bounded(most.scaleb(exponent))))
    return found


def _bounded(amount: Decimal) -> Decimal:
    """A number that the column can be compared with."""
    return max(min(amount, Decimal(AMOUNT_MINOR_MAX)), Decimal(-AMOUNT_MINOR_MAX))


def _odd() -> dict[int, list[str]]:
    """The currencies that have more or fewer decimals than two, by how many."""
    found: dict[int, list[str]] = {}
    for currency in Currency:
        try:
            exponent = exponent_of(currency.code)
        except NotMoney:
            continue
        if exponent != _USUAL_EXPONENT:
            found.setdefault(exponent, []).append(currency.code)
    return found


_ODD: Final = _odd()
