"""The conflicts: what a person has to decide, most urgent first."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from config.console import cells, colours, filters, related, text, two_sides
from config.console.conflict import (
    asking,
    assigning,
    page,
    proposal,
    queue_bulk,
    queue_filters,
    queue_views,
    resolving,
)
from config.console.screens import ReadOnlyScreen
from config.console.undecided import DecidedFilter
from payments.conflicts import checking
from payments.models import Conflict

_KEYS = (
    ("j", _("Next conflict")),
    ("k", _("The one before")),
    ("Enter", _("Open it")),
    ("a", _("Assign it to me")),
    ("x", _("Choose it for what is done to many")),
    ("/", _("Search")),
    ("?", _("Show these keys")),
)


@admin.register(Conflict)
class ConflictScreen(ReadOnlyScreen):
    """Each conflict as a question, with both sides of the story."""

    list_display = (
        "shown_question",
        "shown_amount",
        "shown_severity",
        "shown_status",
        "holder",
        "due",
    )
    list_select_related = ("merchant", "assignee")
    list_filter = (
        DecidedFilter,
        filters.choices("reason"),
        queue_filters.AgeFilter,
        queue_filters.ProviderFilter,
        filters.MERCHANT,
        queue_filters.AmountFilter,
        queue_filters.AssigneeFilter,
        queue_filters.OverdueFilter,
        filters.choices("severity"),
        filters.choices("status"),
        filters.between("opened_at"),
    )
    linked_by = queue_filters.PARAMETERS
    search_fields = ("order__order_no__exact", "transaction__txn_no__exact")
    search_help_text = _("A whole order or transaction number")
    ordering = ("due_at", "id")
    actions = ("dismiss_many",)
    list_before_template = "console/queue.html"
    change_form_template = "console/conflict.html"
    fields: ClassVar[tuple[str, ...]] = ()

    class Media:
        js = ("console/queue.js",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows, each with whether its time is over."""
        late = queue_filters.is_overdue()
        rows: QuerySet[Any] = super().get_queryset(request).annotate(is_overdue=late)
        return rows

    def get_urls(self) -> list[URLPattern]:
        """And the pages on which something is done."""
        view, name = self.admin_site.admin_view, "payments_conflict"
        return [
            path("dismiss/", view(queue_bulk.view), name=f"{name}_dismiss"),
            path("views/save/", view(queue_views.save), name=f"{name}_save_view"),
            path("views/<int:pk>/forget/", view(queue_views.forget), name=f"{name}_forget_view"),
            path("<int:pk>/assign/", view(assigning.view), name=f"{name}_assign"),
            path("<int:pk>/ask/", view(asking.view), name=f"{name}_ask"),
            path("<int:pk>/resolve/<str:how>/", view(resolving.view), name=f"{name}_resolve"),
            path(
                "<int:pk>/proposal/<int:proposal_id>/<str:verb>/",
                view(proposal.view),
                name=f"{name}_proposal",
            ),
            *super().get_urls(),
        ]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The queue, below its views."""
        more = {
            "views": queue_views.bar(request) if self.has_view_permission(request) else [],
            "save_link": queue_views.save_link(request),
            "queue_keys": _KEYS,
            "may_decide": self.has_decide_permission(request),
        }
        return super().changelist_view(request, more | (extra_context or {}))

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """All that a decision needs."""
        row = kwargs.get("obj") or context.get("original")
        if row is not None:
            context |= {"page": page.context(request, row), "title": row.reason}
        return super().render_change_form(request, context, *args, **kwargs)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        """Who may decide."""
        return request.user.has_perm(checking.RESOLVE)

    @admin.action(description=_("Dismiss, where that is harmless"), permissions=["decide"])
    def dismiss_many(self, _request: HttpRequest, rows: QuerySet[Conflict]) -> HttpResponse:
        """Show which of them, and ask why."""
        return queue_bulk.to_page(rows)

    @admin.display(description=_("question"))
    def shown_question(self, row: Conflict) -> SafeString:
        """What is to be decided."""
        asked = text.visible(two_sides.question(row))
        below = f"{row.reason} - {row.merchant.code}"
        return format_html('<span class="c-asked">{}</span>', cells.two_lines(asked, below))

    @admin.display(description=_("amount"))
    def shown_amount(self, row: Conflict) -> SafeString | str:
        """What came."""
        if row.amount_minor is None:
            return cells.NOTHING
        return cells.amount(related.money(row.amount_minor, row.currency))

    @admin.display(description=_("severity"))
    def shown_severity(self, row: Conflict) -> SafeString | str:
        """How loudly it asks."""
        return cells.label(row.severity, colours.SEVERITY)

    @admin.display(description=_("status"))
    def shown_status(self, row: Conflict) -> SafeString | str:
        """How far the decision is."""
        return cells.label(row.status, colours.CONFLICT)

    @admin.display(description=_("with"))
    def holder(self, row: Conflict) -> SafeString:
        """Who has it; and for the key that takes it on, where, and from whom."""
        return format_html(
            '<span data-assign="{}" data-holder="{}">{}</span>',
            assigning.link_to(row.pk),
            row.assignee_id or "",
            row.assignee.get_username() if row.assignee else cells.NOTHING,
        )

    @admin.display(description=_("due"))
    def due(self, row: Any) -> SafeString | str:
        """By when; marked if that has passed."""
        shown = cells.moment(row.due_at)
        return cells.late(shown) if row.is_overdue else shown
