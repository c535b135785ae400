"""Refunds that merchants asked for, and how far they are."""

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, colours, filters, outgoing, related
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from payments.models import Conflict, ProviderTransaction, Refund
from payments.refunds import events


@admin.register(Refund)
class RefundScreen(ReadOnlyScreen):
    """What was asked for, what the provider said, and who is asking it now."""

    list_display = (
        "shown_refund_no",
        "shown_status",
        "shown_amount",
        "payment_page",
        "account",
        "asks",
        "requested_at",
        "finished_at",
    )
    list_select_related = ("account", "payment")
    list_filter = (
        filters.choices("status"),
        filters.PROVIDER,
        filters.ACCOUNT,
        filters.MERCHANT,
        filters.between("requested_at"),
    )
    search_fields = ("refund_no__startswith", "provider_refund_no__startswith")
    search_help_text = gettext_lazy("Start of a refund's number, ours or the provider's")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_refund_no", "shown_status"),
                    ("shown_amount", "shown_reason"),
                    ("payment_page", "order_page"),
                    ("account_page", "merchant"),
                    ("shown_provider_refund_no", "ledger_page"),
                    ("requested_at", "finished_at"),
                )
            },
        ),
        (
            gettext_lazy("At the provider"),
            {"fields": (("first_sent_at", "sent_at"), ("asks", "said"), ("due_at", "lease_until"))},
        ),
    )

    def sections(self, row: Refund) -> list[Section]:
        """The payment, what was asked about it, and what was told."""
        payment = ProviderTransaction.objects.filter(pk=row.payment_id)
        doubts = Conflict.objects.filter(subject=f"refund:{row.pk}")
        return [
            Section(_("The payment"), related.transactions(payment)),
            Section(_("Conflicts"), related.conflicts(doubts)),
            Section(
                _("Events"), outgoing.events(events.REFUND, f"{row.merchant.code}/{row.refund_no}")
            ),
        ]

    @admin.display(description=gettext_lazy("refund"))
    def shown_refund_no(self, row: Refund) -> SafeString | str:
        """The merchant's number, which is also the provider's idempotency key."""
        return cells.mono(row.refund_no)

    @admin.display(description=gettext_lazy("status"))
    def shown_status(self, row: Refund) -> SafeString | str:
        """How far it is."""
        return cells.label(row.status, colours.REFUND)

    @admin.display(description=gettext_lazy("amount"))
    def shown_amount(self, row: Refund) -> SafeString:
        """What goes back."""
        return cells.amount(related.money(row.amount_minor, row.currency))

    @admin.display(description=gettext_lazy("reason"))
    def shown_reason(self, row: Refund) -> str:
        """The merchant's words."""
        return cells.words(row.reason)

    @admin.display(description=gettext_lazy("said last"))
    def said(self, row: Refund) -> str:
        """Why it is not done, in the provider's words or ours."""
        return cells.words(row.why)

    @admin.display(description=gettext_lazy("payment"))
    def payment_page(self, row: Refund) -> SafeString | str:
        """The payment that goes back."""
        return cells.link(row.payment)

    @admin.display(description=gettext_lazy("order"))
    def order_page(self, row: Refund) -> SafeString | str:
        """The order that the payment has paid, if it has."""
        return cells.link(row.order)

    @admin.display(description=gettext_lazy("account"))
    def account_page(self, row: Refund) -> SafeString | str:
        """Where it is asked for."""
        return cells.link(row.account)

    @admin.display(description=gettext_lazy("provider's number"))
    def shown_provider_refund_no(self, row: Refund) -> SafeString | str:
        """The provider's number for it, once known."""
        return cells.mono(row.provider_refund_no)

    @admin.display(description=gettext_lazy("in the ledger"))
    def ledger_page(self, row: Refund) -> SafeString | str:
        """The money fact that it became."""
        return cells.link(row.transaction)
