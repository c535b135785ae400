"""The conflicts: what a person has to decide, most urgent first."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString

from config.console import cells, colours, filters, outgoing, related, text, two_sides
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from config.console.undecided import DecidedFilter
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import Conflict, Delivery, ProviderTransaction


@admin.register(Conflict)
class ConflictScreen(ReadOnlyScreen):
    """Each conflict as a question, with both sides of the story."""

    list_display = (
        "shown_question",
        "shown_severity",
        "shown_status",
        "merchant",
        "due",
    )
    list_select_related = ("merchant",)
    list_filter = (
        DecidedFilter,
        filters.choices("reason"),
        filters.choices("severity"),
        filters.MERCHANT,
        filters.between("opened_at"),
    )
    linked_by = ("status__exact",)
    search_fields = ("order__order_no__exact", "transaction__txn_no__exact")
    search_help_text = "A whole order or transaction number"
    ordering = ("due_at", "id")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_reason", "shown_severity"),
                    ("shown_status", "due"),
                    ("order_page", "transaction_page"),
                    ("merchant", "opened_at"),
                    ("shown_resolution", "resolved_at"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows, each with whether its time is over."""
        late = Q(due_at__lt=Now(), status__in=UNDECIDED)
        rows: QuerySet[Any] = super().get_queryset(request).annotate(is_overdue=late)
        return rows

    def ahead(self, row: Conflict) -> str:
        """The question, and the two sides."""
        asked = text.visible(two_sides.question(row))
        sides = [
            line._replace(
                name=cells.words(line.name),
                expected=cells.words(line.expected),
                received=cells.words(line.received),
            )
            for line in two_sides.lines(row)
        ]
        return render_to_string("console/two_sides.html", {"question": asked, "lines": sides})

    def sections(self, row: Conflict) -> list[Section]:
        """The money, what told it, and what was told of the conflict."""
        money = ProviderTransaction.objects.filter(pk__in=[row.transaction_id])
        told = Q(pk__in=[row.delivery_id])
        if row.transaction_id:
            told |= Q(transaction=row.transaction_id)
        return [
            Section("Money", related.transactions(money)),
            Section("Deliveries", related.deliveries(Delivery.objects.filter(told))),
            Section("Events", outgoing.events("conflict", str(row.pk))),
        ]

    @admin.display(description="question")
    def shown_question(self, row: Conflict) -> SafeString:
        """What is to be decided."""
        asked = text.visible(two_sides.question(row))
        return format_html('<span class="c-asked">{}</span>', cells.two_lines(asked, row.reason))

    @admin.display(description="reason")
    def shown_reason(self, row: Conflict) -> str:
        """The reason, in the word that events and deliveries use."""
        return row.reason

    @admin.display(description="severity")
    def shown_severity(self, row: Conflict) -> SafeString | str:
        """How loudly it asks."""
        return cells.label(row.severity, colours.SEVERITY)

    @admin.display(description="status")
    def shown_status(self, row: Conflict) -> SafeString | str:
        """How far the decision is."""
        return cells.label(row.status, colours.CONFLICT)

    @admin.display(description="due")
    def due(self, row: Any) -> SafeString | str:
        """By when; marked if that has passed."""
        shown = cells.moment(row.due_at)
        return format_html('<span class="c-late">{}</span>', shown) if row.is_overdue else shown

    @admin.display(description="resolution")
    def shown_resolution(self, row: Conflict) -> str:
        """What was decided."""
        return cells.words(row.resolution)

    @admin.display(description="order")
    def order_page(self, row: Conflict) -> SafeString | str:
        """The order, if there is one."""
        return cells.link(row.order)

    @admin.display(description="transaction")
    def transaction_page(self, row: Conflict) -> SafeString | str:
        """The money, if any was entered."""
        return cells.link(row.transaction)
