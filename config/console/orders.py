"""The orders, each with everything that was said about it."""

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from config.console import cells, colours, filters, outgoing, related, text
from config.console import story as stories
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from orders.events import AGGREGATE_TYPE
from orders.models import Order
from payments.models import Delivery


@admin.register(Order)
class OrderScreen(ReadOnlyScreen):
    """What is owed, and what became of it."""

    list_display = (
        "order_no",
        "merchant",
        "shown_amount",
        "shown_status",
        "shown_txn_no",
        "created_at",
        "paid_at",
    )
    list_select_related = ("merchant",)
    list_filter = (filters.choices("status"), filters.MERCHANT, filters.between("created_at"))
    search_fields = ("order_no__startswith", "paid_txn_no__exact")
    search_help_text = "Start of an order number, or a whole transaction number"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("order_no", "merchant"),
                    ("shown_amount", "shown_refunded"),
                    ("shown_status", "version"),
                    ("paid_by", "paid_at"),
                    ("payable", "expires_at"),
                    ("created_at", "closed_at"),
                )
            },
        ),
    )

    def sections(self, row: Order) -> list[Section]:
        """The money, the deliveries, the conflicts and the events of this order."""
        story = stories.of_order(row)
        all_of_it = {"merchant__id__exact": row.merchant_id, "order_no": row.order_no}
        more = cells.list_of(Delivery, "All deliveries for this order", **all_of_it)
        return [
            Section("Money", related.transactions(story.money)),
            Section(str(_("Refunds")), related.refunds(story.refunds)),
            Section("Conflicts", related.conflicts(story.conflicts)),
            Section("Deliveries", related.deliveries(story.deliveries, more=more)),
            Section(
                "Events", outgoing.events(AGGREGATE_TYPE, f"{row.merchant.code}/{row.order_no}")
            ),
        ]

    @admin.display(description="amount")
    def shown_amount(self, order: Order) -> SafeString:
        """What is owed."""
        return cells.amount(related.money(order.amount_minor, order.currency))

    @admin.display(description="refunded")
    def shown_refunded(self, order: Order) -> SafeString:
        """What of it went back."""
        return cells.amount(related.money(order.refunded_minor, order.currency))

    @admin.display(description="status")
    def shown_status(self, order: Order) -> SafeString | str:
        """Where it stands."""
        return cells.label(order.status, colours.ORDER)

    @admin.display(description="paid by")
    def shown_txn_no(self, order: Order) -> SafeString | str:
        """The number of the transaction that paid it, to look along."""
        return cells.short(order.paid_txn_no)

    @admin.display(description="paid by")
    def paid_by(self, order: Order) -> SafeString | str:
        """The number of the transaction that paid it."""
        return cells.mono(order.paid_txn_no)

    @admin.display(description="payable through")
    def payable(self, order: Order) -> str:
        """The only endpoint that may pay it, if it names one."""
        return text.visible(order.payable_through) or "any account of its merchant"
