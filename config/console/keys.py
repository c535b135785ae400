"""Idempotency keys: what became of each, and which of them wait for a person."""

import json

from django.contrib import admin
from django.contrib.admin import EmptyFieldListFilter
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from config.console import cells, colours, filters
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from idempotency.models import Record
from orders.models import Merchant, Order
from payments.models import Refund


@admin.register(Record)
class KeyScreen(ReadOnlyScreen):
    """The records without the answers, which are the merchants' own."""

    list_display = (
        "shown_key",
        "shown_scope",
        "progress",
        "result_code",
        "created_at",
        "finished_at",
        "handed_over_at",
        "shown_reason",
    )
    list_filter = (
        filters.choices("status"),
        ("handed_over_at", EmptyFieldListFilter),
        filters.between("created_at"),
    )
    search_help_text = _("Key")
    search_fields = ("idem_key__exact",)
    ordering = ("-id",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_key", "shown_scope"),
                    ("progress", "result_code"),
                    ("created_at", "finished_at"),
                    ("lease_until", "handed_over_at"),
                    ("fence", "version"),
                    ("resource_id", "shown_reason"),
                )
            },
        ),
    )

    def sections(self, record: Record) -> list[Section]:
        """Whose key it is, and what its answer speaks of; the answer itself is the merchant's."""
        rows = _rows_of(record)
        if not rows:
            return []
        linked = cells.table((gettext("Row"),), [(cells.link(row),) for row in rows])
        return [Section(gettext("Belongs to"), linked)]

    @admin.display(description=_("key"))
    def shown_key(self, record: Record) -> SafeString | str:
        """The client's key."""
        return cells.short(record.idem_key)

    @admin.display(description=_("scope"))
    def shown_scope(self, record: Record) -> SafeString | str:
        """Whose, and for what."""
        return cells.short(record.scope)

    @admin.display(description=_("status"))
    def progress(self, record: Record) -> SafeString | str:
        """How far it got, and how often it was tried in vain."""
        retries = ngettext(
            "tried %(times)s time in vain", "tried %(times)s times in vain", record.retry_count
        ) % {"times": record.retry_count}
        return cells.two_lines(
            cells.label(record.status, colours.KEY), retries if record.retry_count else ""
        )

    @admin.display(description=_("reason"))
    def shown_reason(self, record: Record) -> str:
        """Why it was given up or handed over."""
        return cells.words(record.reason)


def _rows_of(record: Record) -> list[Merchant | Order | Refund]:
    """The merchant that the scope names, and the order and the refund that the answer names."""
    tenant = record.scope.partition("/")[0]
    merchant = Merchant.objects.filter(pk=int(tenant)).first() if tenant.isdecimal() else None
    if merchant is None:
        return []
    try:
        said = json.loads(bytes(record.result_body or b"{}"))
    except ValueError:
        said = {}
    named = said if isinstance(said, dict) else {}
    orders = Order.objects.filter(merchant=merchant, order_no=str(named.get("order_no") or ""))
    refunds = Refund.objects.filter(merchant=merchant, refund_no=str(named.get("refund_no") or ""))
    return [merchant, *orders, *refunds]
