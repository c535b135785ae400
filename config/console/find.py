"""The page behind the search field: straight to what was meant, or a choice, or what to try."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, colours, finding, related
from config.console.cells import Section
from config.console.finding import Found
from config.console.navigation import title_of
from idempotency.models import Record
from orders.models import Merchant, Order
from outbox.models import Destination, Dispatch, Event
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
    Refund,
)

Cells = tuple[str, str]


def _money(row: Any) -> str:
    return related.money(row.amount_minor, row.currency)


#: What is shown beside the name of a row: how it stands, and what tells it from its likes.
_SHOWN: Final[Mapping[type[Model], Callable[[Any], Cells]]] = {
    Order: lambda row: (cells.label(row.status, colours.ORDER), f"{row.merchant}, {_money(row)}"),
    ProviderTransaction: lambda row: (
        cells.label(row.disposition, colours.DISPOSITION),
        f"{row.account}, {row.kind}, {_money(row)}",
    ),
    Refund: lambda row: (
        cells.label(row.status, colours.REFUND),
        f"{row.account}, {_money(row)}",
    ),
    Delivery: lambda row: (
        cells.label(row.outcome, colours.OUTCOME),
        f"{row.account}, {cells.words(row.event_id)}, {cells.moment(row.received_at)}",
    ),
    Confirmation: lambda row: (
        cells.label(row.status, colours.CONFIRMATION),
        f"{row.account}, {cells.moment(row.first_told_at)}",
    ),
    Conflict: lambda row: (
        cells.label(row.status, colours.CONFLICT),
        f"{row.merchant}, {cells.moment(row.opened_at)}",
    ),
    Event: lambda row: (cells.words(row.type), cells.moment(row.created_at)),
    Dispatch: lambda row: (cells.label(row.state, colours.DISPATCH), row.destination.code),
    Record: lambda row: (cells.label(row.status, colours.KEY), cells.words(row.scope)),
    ProviderAccount: lambda row: (cells.NOTHING, row.merchant.code),
    AccountKey: lambda row: (cells.NOTHING, f"{row.account}, {row.purpose}"),
    Merchant: lambda row: (cells.NOTHING, cells.words(row.name)),
    Destination: lambda row: (cells.label(row.state, colours.DESTINATION), row.kind),
}

#: What may be typed, for whoever may see what it leads to.
_TEACHES: Final[Sequence[tuple[tuple[type[Model], ...], Any, str]]] = (
    ((Order,), gettext_lazy("The number of an order, as its merchant has placed it"), "1001"),
    (
        (ProviderTransaction, Confirmation, Delivery),
        gettext_lazy("The provider's number of a payment, a refund or a chargeback"),
        "pi_3Nf8c2eZvKYlo2C",
    ),
    ((Refund,), gettext_lazy("The number of a refund, the merchant's or the provider's"), "R-1001"),
    (
        (Delivery,),
        gettext_lazy("The provider's number of an event that it delivered"),
        "evt_1NG8Du2eZvKYlo2C",
    ),
    (
        (Delivery,),
        gettext_lazy("The SHA-256 of a callback's body, in hex; or the id of its batch"),
        "9f86d081884c7d65..",
    ),
    (
        (Event,),
        gettext_lazy("The id of an event of ours, or what it tells of"),
        "shop/1001",
    ),
    ((Record,), gettext_lazy("An idempotency key"), "order-1001-first-try"),
    (
        (ProviderAccount, Merchant, Destination),
        gettext_lazy("An account, or the code of a merchant or a destination"),
        "stripe/main",
    ),
    (
        tuple(finding.ROW_NAMES.values()),
        format_lazy(
            "{} {}",
            gettext_lazy("A row by its id, as the log and the audit name it."),
            ", ".join(f"{name}:" for name in finding.ROW_NAMES),
        ),
        "conflict:17",
    ),
)


def view(request: HttpRequest) -> HttpResponse:
    """The only thing that was found, else a page; the admin site lets only staff in."""
    term = finding.typed(request.GET.get("q", ""))
    found = finding.find(request, term)
    if len(found) == 1 and len(found[0].rows) == 1:
        return HttpResponseRedirect(cells.page_of(found[0].rows[0]))
    context = admin.site.each_context(request) | {
        "title": _("Search"),
        "term": term,
        "sections": [_section(part) for part in found],
        "teaches": [] if found else _lessons(request),
    }
    request.current_app = admin.site.name  # as Django's own pages do
    return TemplateResponse(request, "console/find.html", context)


def _section(found: Found) -> Section:
    meta = found.model._meta  # noqa: SLF001 - Django's documented way to a model's names
    name = title_of(reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist"))
    shown = _SHOWN[found.model]
    more = _("There are more: ask for something that is written more rarely.") if found.more else ""
    return Section(
        name or str(meta.verbose_name_plural),
        cells.table(
            (_("Number"), _("Standing"), _("Which")),
            [(cells.link(row), *shown(row)) for row in found.rows],
            more=more,
        ),
    )


def _lessons(request: HttpRequest) -> list[tuple[str, SafeString | str]]:
    return [
        (str(what), cells.mono(example))
        for models, what, example in _TEACHES
        if any(admin.site.get_model_admin(model).has_view_permission(request) for model in models)
    ]
