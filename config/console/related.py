"""Rows of one table as the pages of another show them: a few, and a link to all of them."""

from decimal import Decimal
from typing import Final

from django.db.models import QuerySet
from django.utils import formats
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, colours, decided, ended
from orders.money import Money, NotMoney
from payments.conflicts import facts
from payments.models import Conflict, Delivery, ProviderTransaction, Refund

#: How many related rows a page shows.
ROWS_MAX: Final = 20


def money(amount_minor: int, currency: str) -> str:
    """An amount in major units, as the reader's language groups digits: 1,234.50 EUR, 1,235 JPY.

    In minor ones if its currency is in use no more.
    """
    try:
        digits = Decimal(str(Money(amount_minor, currency)).partition(" ")[0])
    except NotMoney:
        return facts.shown(amount_minor, currency)
    # With as many decimals as the currency has: no setting of a language may round money.
    return f"{formats.number_format(digits, force_grouping=True)} {currency}"


def transactions(rows: QuerySet[ProviderTransaction], *, more: str = "") -> SafeString:
    """Money facts, newest first."""
    shown = rows.select_related("account").order_by("-id")[:ROWS_MAX]
    return cells.table(
        (_("Transaction"), _("Kind"), _("Amount"), _("Disposition"), _("Account"), _("Occurred")),
        [
            (
                cells.link(row),
                cells.label(row.kind, colours.KIND),
                cells.amount(money(row.amount_minor, row.currency)),
                cells.label(row.disposition, colours.DISPOSITION),
                row.account.endpoint,
                cells.moment(row.occurred_at),
            )
            for row in shown
        ],
        more=more,
    )


def deliveries(rows: QuerySet[Delivery], *, more: str = "") -> SafeString:
    """What was delivered, newest first."""
    shown = rows.defer("body", "headers").select_related("account").order_by("-id")[:ROWS_MAX]
    return cells.table(
        (_("Received"), _("Outcome"), _("Event"), _("Event id"), _("Account")),
        [
            (
                cells.link(row, cells.moment(row.received_at)),
                cells.two_lines(cells.label(row.outcome, colours.OUTCOME), row.reason),
                cells.short(row.event_type),
                cells.short(row.event_id),
                row.account.endpoint,
            )
            for row in shown
        ],
        more=more,
    )


def conflicts(rows: QuerySet[Conflict]) -> SafeString:
    """What a person had, or has, to decide."""
    shown = rows.select_related(*decided.RELATED).order_by("-id")[:ROWS_MAX]
    return cells.table(
        (_("Conflict"), _("Severity"), _("Status"), _("Opened"), _("Due"), _("Resolution")),
        [
            (
                cells.link(row, row.reason),
                cells.label(row.severity, colours.SEVERITY),
                cells.label(row.status, colours.CONFLICT),
                cells.moment(row.opened_at),
                cells.moment(row.due_at),
                cells.two_lines(ended.how(row), decided.by(row)),
            )
            for row in shown
        ],
    )


def refunds(rows: QuerySet[Refund]) -> SafeString:
    """What merchants asked to be paid back, newest first."""
    shown = rows.select_related("account").order_by("-id")[:ROWS_MAX]
    return cells.table(
        (_("Refund"), _("Status"), _("Amount"), _("Account"), _("Requested"), _("Finished")),
        [
            (
                cells.link(row),
                cells.label(row.status, colours.REFUND),
                cells.amount(money(row.amount_minor, row.currency)),
                row.account.endpoint,
                cells.moment(row.requested_at),
                cells.moment(row.finished_at),
            )
            for row in shown
        ],
    )
