"""Payments outside of any provider, as people have entered them."""

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from config.console import cells, colours, filters, manual_answers, related
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen
from payments.models import ManualPayment


@admin.register(ManualPayment)
class ManualPaymentScreen(ReadOnlyScreen):
    """Who says that which order was paid, and who approved it."""

    list_display = (
        "order_no",
        "merchant",
        "shown_amount",
        "shown_status",
        "proposed",
        "shown_decider",
        "shown_note",
    )
    list_select_related = ("order__merchant", "proposed_by", "decided_by")
    list_filter = (filters.choices("status"), filters.between("proposed_at"))
    search_fields = ("order__order_no__exact",)
    search_help_text = gettext_lazy("A whole order number")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("order_page", "shown_amount"),
                    ("merchant", "shown_status"),
                    ("shown_proposer", "proposed_at"),
                    ("shown_decider", "decided_at"),
                    ("whole_note", "shown_decided_why"),
                    ("needs_two", "ledger_page"),
                )
            },
        ),
    )

    list_before_template = "console/teaches.html"
    teaches = gettext_lazy(
        "An order that was paid past every provider, by bank transfer say, is marked as paid on "
        "its own page. Who marked what, and who approved it, is kept here."
    )

    def get_urls(self) -> list[URLPattern]:
        """And the pages that approve and decline."""
        view = self.admin_site.admin_view
        return [
            path(f"<int:pk>/{verb}/", view(page), name=f"payments_manualpayment_{verb}")
            for verb, page in (
                ("approve", manual_answers.approve),
                ("decline", manual_answers.decline),
            )
        ] + super().get_urls()

    def deeds(self, request: HttpRequest, row: ManualPayment) -> list[Deed]:
        """Approve or decline what waits."""
        return manual_answers.links(request, row)

    def hint(self, request: HttpRequest, row: ManualPayment) -> str:
        """Why there is no button to approve it."""
        return manual_answers.why_not(request, row)

    def ahead(self, row: ManualPayment) -> str:
        """Who says what."""
        return render_to_string("console/says.html", {"says": manual_answers.sentence(row)})

    @admin.display(description=gettext_lazy("order"))
    def order_no(self, row: ManualPayment) -> str:
        """Its number."""
        return row.order.order_no

    @admin.display(description=gettext_lazy("order"))
    def order_page(self, row: ManualPayment) -> SafeString | str:
        """The order that was paid."""
        return cells.link(row.order)

    @admin.display(description=gettext_lazy("merchant"))
    def merchant(self, row: ManualPayment) -> str:
        """Whose order it is."""
        return row.order.merchant.code

    @admin.display(description=gettext_lazy("amount"))
    def shown_amount(self, row: ManualPayment) -> SafeString:
        """What was paid."""
        return cells.amount(related.money(row.amount_minor, row.currency))

    @admin.display(description=gettext_lazy("status"))
    def shown_status(self, row: ManualPayment) -> SafeString | str:
        """Whether it waits, or what became of it."""
        return cells.label(row.status, colours.MANUAL)

    @admin.display(description=gettext_lazy("entered by"))
    def shown_proposer(self, row: ManualPayment) -> str:
        """Who says so."""
        return cells.words(row.proposed_by.get_username())

    @admin.display(description=gettext_lazy("entered by"))
    def proposed(self, row: ManualPayment) -> SafeString | str:
        """Who says so, and when he did."""
        return cells.two_lines(self.shown_proposer(row), cells.moment(row.proposed_at))

    @admin.display(description=gettext_lazy("decided by"))
    def shown_decider(self, row: ManualPayment) -> str:
        """Who approved or declined it."""
        return cells.words(row.decided_by.get_username() if row.decided_by else "")

    @admin.display(description=gettext_lazy("note"))
    def shown_note(self, row: ManualPayment) -> SafeString | str:
        """How he knows, as far as there is room."""
        return cells.brief(row.note)

    @admin.display(description=gettext_lazy("note"))
    def whole_note(self, row: ManualPayment) -> str:
        """How he knows."""
        return cells.words(row.note)

    @admin.display(description=gettext_lazy("reason of that"))
    def shown_decided_why(self, row: ManualPayment) -> str:
        """Why it was declined."""
        return cells.words(row.decided_why)

    @admin.display(description=gettext_lazy("in the ledger"))
    def ledger_page(self, row: ManualPayment) -> SafeString | str:
        """The money fact that it became."""
        return cells.link(row.transaction)
