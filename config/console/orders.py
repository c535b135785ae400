"""The orders, each with everything that was said about it."""

from django.contrib import admin
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, colours, filters, marking, outgoing, related, text
from config.console import story as stories
from config.console.cells import Section
from config.console.deeds import Deed
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
    search_help_text = gettext_lazy("Start of an order number, or a whole transaction number")
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

    def get_urls(self) -> list[URLPattern]:
        """And the page that marks one as paid."""
        view = self.admin_site.admin_view(marking.mark)
        return [
            path("<int:pk>/mark-paid/", view, name="orders_order_mark_paid"),
            *super().get_urls(),
        ]

    def deeds(self, request: HttpRequest, row: Order) -> list[Deed]:
        """Mark it as paid by hand, while it waits."""
        return marking.link(request, row)

    def sections(self, row: Order) -> list[Section]:
        """The money, the deliveries, the conflicts and the events of this order."""
        story = stories.of_order(row)
        all_of_it = {"merchant__id__exact": row.merchant_id, "order_no": row.order_no}
        more = cells.list_of(Delivery, _("All deliveries for this order"), **all_of_it)
        return [
            Section(_("Money"), related.transactions(story.money)),
            Section(_("Refunds"), related.refunds(story.refunds)),
            Section(_("Conflicts"), related.conflicts(story.conflicts)),
            Section(_("Deliveries"), related.deliveries(story.deliveries, more=more)),
            Section(
                _("Events"), outgoing.events(AGGREGATE_TYPE, f"{row.merchant.code}/{row.order_no}")
            ),
        ]

    @admin.display(description=gettext_lazy("amount"))
    def shown_amount(self, order: Order) -> SafeString:
        """What is owed."""
        return cells.amount(related.money(order.amount_minor, order.currency))

    @admin.display(description=gettext_lazy("refunded"))
    def shown_refunded(self, order: Order) -> SafeString:
        """What of it went back."""
        return cells.amount(related.money(order.refunded_minor, order.currency))

    @admin.display(description=gettext_lazy("status"))
    def shown_status(self, order: Order) -> SafeString | str:
        """Where it stands."""
        return cells.label(order.status, colours.ORDER)

    @admin.display(description=gettext_lazy("paid by"))
    def shown_txn_no(self, order: Order) -> SafeString | str:
        """The number of the transaction that paid it, to look along."""
        return cells.short(order.paid_txn_no)

    @admin.display(description=gettext_lazy("paid by"))
    def paid_by(self, order: Order) -> SafeString | str:
        """The number of the transaction that paid it."""
        return cells.mono(order.paid_txn_no)

    @admin.display(description=gettext_lazy("payable through"))
    def payable(self, order: Order) -> str:
        """The only endpoint that may pay it, if it names one."""
        return text.visible(order.payable_through) or _("any account of its merchant")
