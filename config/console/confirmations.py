"""Payments that wait for the provider's own word: their signature vouches for too little."""

from django.contrib import admin
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, colours, filters, text
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from payments.models import Confirmation, Delivery


@admin.register(Confirmation)
class ConfirmationScreen(ReadOnlyScreen):
    """What was claimed and has moved nothing yet."""

    list_display = (
        "shown_txn_no",
        "shown_status",
        "order_no",
        "account",
        "told_count",
        "first_told_at",
        "confirmed_at",
    )
    list_select_related = ("account",)
    list_filter = (filters.choices("status"), filters.PROVIDER, filters.ACCOUNT, filters.MERCHANT)
    search_fields = ("txn_no__startswith", "order_no__startswith")
    search_help_text = gettext_lazy("Start of a transaction or order number")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_txn_no", "shown_status"),
                    ("order_no", "account_page"),
                    ("told_count", "first_told_at"),
                    ("last_told_at", "waiting_since"),
                    ("confirmed_at", "refuted_at"),
                    ("asks", "ask_at"),
                    ("shown_why",),
                )
            },
        ),
    )

    def sections(self, row: Confirmation) -> list[Section]:
        """The deliveries that claimed it."""
        told = {"account__id__exact": row.account_id, "q": row.txn_no}
        sections = [
            Section(_("Deliveries"), cells.list_of(Delivery, _("All that told it"), **told))
        ]
        if row.evidence:
            answer = text.from_bytes(bytes(row.evidence))[0]
            sections.append(Section(_("The answer that refuted it"), cells.block(answer)))
        return sections

    @admin.display(description=gettext_lazy("transaction"))
    def shown_txn_no(self, row: Confirmation) -> SafeString | str:
        """The provider's number for it."""
        return cells.mono(row.txn_no)

    @admin.display(description=gettext_lazy("status"))
    def shown_status(self, row: Confirmation) -> SafeString | str:
        """Whether the provider has spoken."""
        return cells.label(row.status, colours.CONFIRMATION)

    @admin.display(description=gettext_lazy("why"))
    def shown_why(self, row: Confirmation) -> str:
        """What the provider answered last."""
        return cells.words(row.why)

    @admin.display(description=gettext_lazy("account"))
    def account_page(self, row: Confirmation) -> SafeString | str:
        """Where it was told."""
        return cells.link(row.account)
