"""The places that events go to: what each wants, what waits for it, and whether it rests."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, destination_moves, filters, outgoing, rights
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen, Rows
from outbox.backlogs import COUNTED_MAX, Backlog, backlogs
from outbox.models import Destination, Dispatch, Endpoint


class RowsWithBacklogs(Rows):
    """A list whose rows know what waits for them: one question for all rows of a page."""

    def get_results(self, request: HttpRequest) -> None:
        """The page, with what waits for each of its rows."""
        super().get_results(request)
        self.result_list = list(self.result_list)
        known = backlogs([row.pk for row in self.result_list])
        for row in self.result_list:
            row.backlog = known[row.pk]


def backlog_of(row: Any) -> Backlog:
    """What waits for the destination of this row."""
    if not hasattr(row, "backlog"):
        row.backlog = backlogs([row.pk])[row.pk]
    known: Backlog = row.backlog
    return known


def counted(number: int, destination: int, state: str) -> SafeString | str:
    """A number that leads to the dispatches that it counts."""
    if not number:
        return "0"
    shown = (
        f"{number:,}"
        if number < COUNTED_MAX
        else _("%(number)s or more") % {"number": f"{COUNTED_MAX:,}"}
    )
    return cells.list_of(Dispatch, shown, destination__id__exact=destination, state=state)


@admin.register(Destination)
class DestinationScreen(ReadOnlyScreen):
    """Destinations; commands and merchants add them, people let them rest and work again."""

    list_display = (
        "code_and_kind",
        "shown_tenant",
        "shown_types",
        "shown_state",
        "waiting_since",
        "dead",
        "breaker",
        "last_error",
    )
    list_select_related = ("endpoint",)
    list_filter = (filters.choices("kind"), filters.choices("state"))
    search_fields = ("code__startswith", "tenant__exact")
    search_help_text = gettext_lazy("Start of a code, or a whole merchant's code")
    ordering = ("code",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("code", "kind"),
                    ("shown_tenant", "shown_types"),
                    ("shown_state", "breaker"),
                    ("waiting", "oldest"),
                    ("dead", "last_error"),
                    ("created_at", "endpoint_page"),
                )
            },
        ),
    )

    def get_changelist(self, request: HttpRequest, **_: Any) -> type[Rows]:  # noqa: ARG002
        """The list with what waits."""
        return RowsWithBacklogs

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With how webhooks' endpoints answer."""
        rows: QuerySet[Any] = super().get_queryset(request).select_related("endpoint")
        return rows

    def get_urls(self) -> list[URLPattern]:
        """And the page that moves one from a state to another."""
        move = self.admin_site.admin_view(self.move)
        name = "outbox_destination_move"
        return [path("<int:pk>/move/<str:verb>/", move, name=name), *super().get_urls()]

    def move(self, request: HttpRequest, pk: int, verb: str) -> HttpResponse:
        """Ask whether to pause, resume or disable it, and do it."""
        return destination_moves.view(request, pk, verb)

    def deeds(self, request: HttpRequest, row: Destination) -> list[Deed]:
        """Let it rest or work, and put back in line what is dead."""
        deeds = destination_moves.links(request, row)
        if rights.may(request, rights.OPERATE) and backlog_of(row).dead:
            deeds.append(outgoing.redrive(f"destination={row.pk}", _("Redrive its dead")))
        return deeds

    def sections(self, row: Destination) -> list[Section]:
        """What went there last, and how it is connected to."""
        return [
            Section(_("Latest events"), outgoing.newest_to(row)),
            Section(_("Configuration"), cells.json_block(row.config)),
        ]

    @admin.display(description=gettext_lazy("code"))
    def code_and_kind(self, row: Destination) -> SafeString | str:
        """Its name, and what answers there."""
        return cells.two_lines(row.code, row.kind)

    @admin.display(description=gettext_lazy("merchant"))
    def shown_tenant(self, row: Destination) -> str:
        """Whose events it gets."""
        return row.tenant or _("all")

    @admin.display(description=gettext_lazy("types"))
    def shown_types(self, row: Destination) -> str:
        """Which events it gets."""
        return outgoing.wants(row)

    @admin.display(description=gettext_lazy("state"))
    def shown_state(self, row: Destination) -> SafeString | str:
        """Whether events leave for it."""
        return outgoing.state(row)

    @admin.display(description=gettext_lazy("waiting"))
    def waiting_since(self, row: Destination) -> SafeString | str:
        """How many events wait for it, and since when the oldest does."""
        oldest = backlog_of(row).oldest
        return cells.two_lines(
            self.waiting(row),
            _("oldest %(time)s") % {"time": cells.moment(oldest)} if oldest else "",
        )

    @admin.display(description=gettext_lazy("waiting"))
    def waiting(self, row: Destination) -> SafeString | str:
        """How many events wait for it."""
        return counted(backlog_of(row).waiting, row.pk, "WAITING")

    @admin.display(description=gettext_lazy("oldest waiting"))
    def oldest(self, row: Destination) -> str:
        """Since when the oldest of them waits."""
        return cells.moment(backlog_of(row).oldest)

    @admin.display(description=gettext_lazy("dead"))
    def dead(self, row: Destination) -> SafeString | str:
        """How many it refused for good."""
        return counted(backlog_of(row).dead, row.pk, "DEAD")

    @admin.display(description=gettext_lazy("last error"))
    def last_error(self, row: Destination) -> SafeString | str:
        """What was wrong last, of what is not through."""
        return cells.brief(backlog_of(row).last_error)

    @admin.display(description=gettext_lazy("breaker"))
    def breaker(self, row: Destination) -> SafeString | str:
        """Whether a webhook's endpoint fails and rests."""
        return outgoing.rest(row)

    @admin.display(description=gettext_lazy("webhook"))
    def endpoint_page(self, row: Destination) -> SafeString | str:
        """The page of a webhook's endpoint, with its secrets and attempts."""
        endpoint: Endpoint | None = getattr(row, "endpoint", None)
        return cells.link(endpoint)
