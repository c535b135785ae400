"""Each event on its way to each destination, and what a person can do about it."""

import uuid

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from config.console import cells, colours, filters, outgoing, redriving, resending, rights, tries
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen
from outbox.models import Attempt, DestinationKind, Dispatch, DispatchState


@admin.register(Dispatch)
class DispatchScreen(ReadOnlyScreen):
    """The relay moves them; people put dead ones back in line and send webhooks again."""

    list_display = (
        "shown_type",
        "about",
        "destination",
        "shown_state",
        "created_at",
        "shown_error",
        "shown_redrive",
    )
    list_select_related = ("event", "destination")
    list_filter = (filters.DispatchStateFilter, filters.DESTINATION, filters.between("created_at"))
    search_help_text = gettext_lazy("A whole event id, or a whole destination's code")
    search_fields = ("destination__code__exact",)
    actions = ("redrive",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("event_page", "destination_page"),
                    ("about_whole", "created_at"),
                    ("shown_state", "attempts"),
                    ("next_attempt_at", "lease_until"),
                    ("published_at", "dead_at"),
                    ("whole_error", "whole_redrive"),
                )
            },
        ),
    )

    members_fieldsets = (
        (
            None,
            {
                "fields": (
                    ("event_page", "destination_page"),
                    ("about_whole", "created_at"),
                    ("shown_state", "attempts"),
                    ("next_attempt_at", "published_at"),
                    ("dead_at", "whole_error"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Dispatch]:
        """Without what is told, which only the event's page shows."""
        rows = super().get_queryset(request).select_related("event", "destination__endpoint")
        return rows.defer("event__payload", "event__headers")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Dispatch], search_term: str
    ) -> tuple[QuerySet[Dispatch], bool]:
        """The ways of one event, or of all to one destination."""
        try:
            return queryset.filter(event=uuid.UUID(search_term.strip())), False
        except ValueError:
            return super().get_search_results(request, queryset, search_term)

    def get_urls(self) -> list[URLPattern]:
        """And the pages that redrive and resend."""
        view = self.admin_site.admin_view
        return [
            path("redrive/", view(redriving.view), name="outbox_dispatch_redrive"),
            path("<int:pk>/resend/", view(resending.view), name="outbox_dispatch_resend"),
            *super().get_urls(),
        ]

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who may redrive."""
        return rights.may(request, rights.OPERATE)

    @admin.action(description=gettext_lazy("Redrive the dead among them"), permissions=["operate"])
    def redrive(self, _request: HttpRequest, rows: QuerySet[Dispatch]) -> HttpResponse:
        """Show how many, and to where."""
        return redriving.to_page(rows)

    def deeds(self, request: HttpRequest, row: Dispatch) -> list[Deed]:
        """Send a webhook again; put another back in line if it is dead."""
        if rights.may(request, rights.OPERATE, or_member=True) and resending.is_possible(row):
            link = reverse("admin:outbox_dispatch_resend", args=[row.pk])
            return [Deed(_("Send again"), link)]
        if rights.may(request, rights.OPERATE) and row.state == DispatchState.DEAD:
            return [outgoing.redrive(f"ids={row.pk}", _("Redrive"))]
        return []

    def sections(self, row: Dispatch) -> list[Section]:
        """The tries at a merchant's endpoint, with what it answered."""
        if row.destination.kind != DestinationKind.WEBHOOK:
            return []
        made = Attempt.objects.filter(dispatch=row)
        return [Section(_("Attempts"), tries.table(made))]

    def members_sections(self, row: Dispatch) -> list[Section]:
        """The same, without the names of those who run the service."""
        made = Attempt.objects.filter(dispatch=row)
        return [Section(_("Attempts"), tries.table(made, for_merchant=True))]

    @admin.display(description=gettext_lazy("event"))
    def shown_type(self, row: Dispatch) -> SafeString | str:
        """What happened."""
        return cells.words(row.event.type)

    @admin.display(description=gettext_lazy("about"))
    def about(self, row: Dispatch) -> SafeString | str:
        """What it tells of, and which of the events about that it is."""
        return cells.short(f"{row.aggregate_id}#{row.seq}")

    @admin.display(description=gettext_lazy("about"))
    def about_whole(self, row: Dispatch) -> SafeString | str:
        """The same, in full."""
        return cells.mono(f"{row.aggregate_type} {row.aggregate_id}#{row.seq}")

    @admin.display(description=gettext_lazy("state"))
    def shown_state(self, row: Dispatch) -> SafeString | str:
        """How far it got, and how often it was refused."""
        counted = ngettext("refused %(times)s time", "refused %(times)s times", row.attempts)
        refused = counted % {"times": row.attempts} if row.attempts else ""
        return cells.two_lines(cells.label(row.state, colours.DISPATCH), refused)

    @admin.display(description=gettext_lazy("last error"))
    def shown_error(self, row: Dispatch) -> SafeString | str:
        """The last reason."""
        return cells.brief(row.last_error)

    @admin.display(description=gettext_lazy("last error"))
    def whole_error(self, row: Dispatch) -> str:
        """The last reason, in full."""
        return cells.words(row.last_error)

    @admin.display(description=gettext_lazy("redrive"))
    def shown_redrive(self, row: Dispatch) -> SafeString | str:
        """The id of the last redrive."""
        return cells.short(str(row.redrive_id or ""))

    @admin.display(description=gettext_lazy("redrive"))
    def whole_redrive(self, row: Dispatch) -> SafeString | str:
        """The same, in full."""
        return outgoing.redriven(row)

    @admin.display(description=gettext_lazy("event"))
    def event_page(self, row: Dispatch) -> SafeString | str:
        """What is told."""
        return cells.link(row.event, f"{row.event.type} {row.event_id}")

    @admin.display(description=gettext_lazy("destination"))
    def destination_page(self, row: Dispatch) -> SafeString | str:
        """Where to."""
        endpoint = getattr(row.destination, "endpoint", None)
        return cells.link(endpoint or row.destination, row.destination.code)
