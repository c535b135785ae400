"""Merchants' webhooks: what was sent to each endpoint, what it answered, what signs it."""

from typing import Any, Final, cast

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import (
    cells,
    destination_moves,
    endpoint_secrets,
    endpoint_tests,
    filters,
    outgoing,
    rights,
    tries,
)
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.destinations import backlog_of, counted
from config.console.screens import ReadOnlyScreen
from outbox.models import Attempt, DestinationState, Endpoint, EndpointSecret
from outbox.webhooks import secrets

_ALONE: Final = {"NO SECRET": "danger"}


@admin.register(Endpoint)
class EndpointScreen(ReadOnlyScreen):
    """Endpoints; merchants and commands add, change and remove them."""

    list_display = ("shown_code", "merchant", "shown_url", "shown_state", "breaker", "types")
    list_select_related = ("destination",)
    list_filter = (filters.choices("destination__state"),)
    search_fields = ("destination__code__startswith", "destination__tenant__exact")
    search_help_text = gettext_lazy("Start of an endpoint's code, or a whole merchant's code")
    ordering = ("-destination",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_code", "merchant"),
                    ("whole_url", "types"),
                    ("shown_state", "breaker"),
                    ("waiting", "oldest"),
                    ("dead", "last_error"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """With whether anything signs for each."""
        signs = EndpointSecret.objects.filter(
            Q(retires_at=None) | Q(retires_at__gt=Now()), destination=OuterRef("pk")
        )
        rows: QuerySet[Any] = super().get_queryset(request).select_related("destination")
        return cast("QuerySet[Any]", rows.annotate(has_secret=Exists(signs)))

    def get_urls(self) -> list[URLPattern]:
        """And the pages that test it, and that change what signs."""
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/test/", view(endpoint_tests.view), name="outbox_endpoint_test"),
            path("<int:pk>/rotate/", view(endpoint_secrets.rotate), name="outbox_endpoint_rotate"),
            path("<int:pk>/retire/", view(endpoint_secrets.retire), name="outbox_endpoint_retire"),
            *super().get_urls(),
        ]

    def deeds(self, request: HttpRequest, row: Endpoint) -> list[Deed]:
        """Test it, let it rest or work, rotate its secrets, redrive what is dead."""
        if row.removed_at is not None:
            return []
        found = []
        if rights.may(request, rights.OPERATE, or_member=True):
            link = reverse("admin:outbox_endpoint_test", args=[row.pk])
            found.append(Deed(_("Send a test event"), link))
        found += destination_moves.links(request, row.destination)
        if rights.may(request, rights.ROTATE):
            new, end = (
                reverse(f"admin:outbox_endpoint_{verb}", args=[row.pk])
                for verb in ("rotate", "retire")
            )
            found += [Deed(_("New secret"), new), Deed(_("Retire a secret"), end, grave=True)]
        if rights.may(request, rights.OPERATE) and backlog_of(row).dead:
            found.append(outgoing.redrive(f"destination={row.pk}", _("Redrive its dead")))
        return found

    def sections(self, row: Endpoint) -> list[Section]:
        """What it was sent, what it answered, and which secrets sign."""
        made = Attempt.objects.filter(destination=row.pk)
        return [
            Section(_("Attempts"), tries.table(made)),
            Section(_("Deliveries"), outgoing.newest_to(row.destination)),
            Section(_("Secrets"), _secrets(row)),
        ]

    def members_sections(self, row: Endpoint) -> list[Section]:
        """What it was sent and what it answered; secrets are for the API alone."""
        made = Attempt.objects.filter(destination=row.pk)
        return [
            Section(_("Attempts"), tries.table(made, for_merchant=True)),
            Section(_("Deliveries"), outgoing.newest_to(row.destination)),
        ]

    @admin.display(description=gettext_lazy("endpoint"))
    def shown_code(self, row: Endpoint) -> str:
        """Its code, which the merchant sees too."""
        return row.destination.code

    @admin.display(description=gettext_lazy("merchant"))
    def merchant(self, row: Endpoint) -> str:
        """Whose events it gets."""
        return row.destination.tenant or cells.NOTHING

    @admin.display(description=gettext_lazy("URL"))
    def shown_url(self, row: Endpoint) -> SafeString | str:
        """Where it is, as far as there is room."""
        return cells.brief(row.destination.config.get("url", ""))

    @admin.display(description=gettext_lazy("URL"))
    def whole_url(self, row: Endpoint) -> SafeString | str:
        """Where it is."""
        return cells.mono(row.destination.config.get("url", ""))

    @admin.display(description=gettext_lazy("types"))
    def types(self, row: Endpoint) -> str:
        """Which events it gets."""
        return cells.NOTHING if row.removed_at else outgoing.wants(row.destination)

    @admin.display(description=gettext_lazy("state"))
    def shown_state(self, row: Any) -> SafeString | str:
        """Whether events leave for it; they do not without a secret."""
        if row.has_secret or row.destination.state != DestinationState.ACTIVE:
            return outgoing.state(row.destination)
        return cells.two_lines(cells.label("NO SECRET", _ALONE), _("its events wait for one"))

    @admin.display(description=gettext_lazy("answers"))
    def breaker(self, row: Endpoint) -> SafeString | str:
        """Whether it fails and rests."""
        return outgoing.rest(row.destination)

    @admin.display(description=gettext_lazy("waiting"))
    def waiting(self, row: Endpoint) -> SafeString | str:
        """How many events wait for it."""
        return counted(backlog_of(row).waiting, row.pk, "WAITING")

    @admin.display(description=gettext_lazy("oldest waiting"))
    def oldest(self, row: Endpoint) -> str:
        """Since when the oldest of them waits."""
        return cells.moment(backlog_of(row).oldest)

    @admin.display(description=gettext_lazy("dead"))
    def dead(self, row: Endpoint) -> SafeString | str:
        """How many it did not take in three days."""
        return counted(backlog_of(row).dead, row.pk, "DEAD")

    @admin.display(description=gettext_lazy("last error"))
    def last_error(self, row: Endpoint) -> str:
        """What was wrong last, of what is not through."""
        return cells.words(backlog_of(row).last_error)


def _secrets(row: Endpoint) -> SafeString:
    """Which there are, never what they are."""
    return cells.table(
        (_("Secret"), _("Made"), _("Retires")),
        [
            (str(secret.pk), cells.moment(secret.created_at), cells.moment(secret.retires_at))
            for secret in secrets.in_force(row.pk)
        ],
    )
