"""The ledger of money facts."""

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, colours, filters, outgoing, related
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from payments.models import Conflict, Delivery, ProviderTransaction, Refund
from payments.refunds.events import PAYMENT


@admin.register(ProviderTransaction)
class TransactionScreen(ReadOnlyScreen):
    """Money as the providers stated it, and where it stands."""

    list_display = (
        "shown_txn_no",
        "shown_kind",
        "shown_amount",
        "shown_disposition",
        "order_no",
        "account",
        "occurred_at",
    )
    list_select_related = ("account",)
    list_filter = (
        filters.choices("disposition"),
        filters.choices("kind"),
        filters.PROVIDER,
        filters.ACCOUNT,
        filters.MERCHANT,
        filters.between("occurred_at"),
    )
    search_fields = ("txn_no__startswith", "order_no__startswith")
    search_help_text = gettext_lazy("Start of a transaction or order number")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("number", "shown_kind"),
                    ("shown_amount", "shown_disposition"),
                    ("order_no", "applied_to"),
                    ("account_page", "merchant"),
                    ("occurred", "recorded_at"),
                    ("stated_account", "reversed_payment"),
                )
            },
        ),
        (
            gettext_lazy("Room for refunds and chargebacks"),
            {"fields": (("reserved", "refunded"), ("charged_back", "left"))},
        ),
    )

    def sections(self, row: ProviderTransaction) -> list[Section]:
        """What told it, what was asked about it, and what reverses it."""
        reversals = ProviderTransaction.objects.filter(reverses=row)
        delivered = Delivery.objects.filter(transaction=row)
        more = cells.list_of(
            Delivery, _("All deliveries that told it"), transaction__id__exact=row.pk
        )
        return [
            Section(_("Conflicts"), related.conflicts(Conflict.objects.filter(transaction=row))),
            Section(_("Deliveries"), related.deliveries(delivered, more=more)),
            Section(_("Refunds and chargebacks of it"), related.transactions(reversals)),
            Section(
                _("Refunds that merchants asked for"),
                related.refunds(Refund.objects.filter(payment=row)),
            ),
            Section(_("Events"), outgoing.events(PAYMENT, str(row.pk))),
        ]

    @admin.display(description=gettext_lazy("transaction"))
    def shown_txn_no(self, row: ProviderTransaction) -> SafeString | str:
        """The provider's number, to look along."""
        return cells.short(row.txn_no)

    @admin.display(description=gettext_lazy("transaction"))
    def number(self, row: ProviderTransaction) -> SafeString | str:
        """The provider's number, whole."""
        return cells.mono(row.txn_no)

    @admin.display(description=gettext_lazy("kind"))
    def shown_kind(self, row: ProviderTransaction) -> SafeString | str:
        """What kind of fact."""
        return cells.label(row.kind, colours.KIND)

    @admin.display(description=gettext_lazy("amount"))
    def shown_amount(self, row: ProviderTransaction) -> SafeString:
        """The money."""
        return cells.amount(related.money(row.amount_minor, row.currency))

    @admin.display(description=gettext_lazy("disposition"))
    def shown_disposition(self, row: ProviderTransaction) -> SafeString | str:
        """Where the money stands."""
        return cells.label(row.disposition, colours.DISPOSITION)

    @admin.display(description=gettext_lazy("applied to"))
    def applied_to(self, row: ProviderTransaction) -> SafeString | str:
        """The order that it paid or refunded."""
        return cells.link(row.order)

    @admin.display(description=gettext_lazy("account"))
    def account_page(self, row: ProviderTransaction) -> SafeString | str:
        """Where it was told."""
        return cells.link(row.account)

    @admin.display(description=gettext_lazy("occurred at"))
    def occurred(self, row: ProviderTransaction) -> str:
        """When, and by whose clock."""
        at = cells.moment(row.occurred_at)
        if row.occurred_at_is_stated:
            return at
        return _("%(time)s, when we heard of it: no time was stated") % {"time": at}

    @admin.display(description=gettext_lazy("stated account"))
    def stated_account(self, row: ProviderTransaction) -> SafeString | str:
        """The account that the message itself names."""
        return cells.mono(row.stated_account_no)

    @admin.display(description=gettext_lazy("reverses"))
    def reversed_payment(self, row: ProviderTransaction) -> SafeString | str:
        """The payment that it takes back."""
        return cells.link(row.reverses)

    @admin.display(description=gettext_lazy("reserved for refunds"))
    def reserved(self, row: ProviderTransaction) -> SafeString:
        """Refunds that are under way or done."""
        return cells.amount(related.money(row.refund_reserved_minor, row.currency))

    @admin.display(description=gettext_lazy("refunded"))
    def refunded(self, row: ProviderTransaction) -> SafeString:
        """Refunds that are done."""
        return cells.amount(related.money(row.refunded_minor, row.currency))

    @admin.display(description=gettext_lazy("charged back"))
    def charged_back(self, row: ProviderTransaction) -> SafeString:
        """What the payer's bank took back."""
        return cells.amount(related.money(row.charged_back_minor, row.currency))

    @admin.display(description=gettext_lazy("left"))
    def left(self, row: ProviderTransaction) -> SafeString:
        """What may still be refunded."""
        left = row.amount_minor - row.refund_reserved_minor - row.charged_back_minor
        return cells.amount(related.money(left, row.currency))
