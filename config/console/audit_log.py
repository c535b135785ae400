"""The audit as a list, with how far its chain is known to be whole."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.contrib.filters.admin import TextFilter

from audit import verify
from audit.models import AuditEntry, Verification
from config.console import audit_trail, cells, filters
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen


class ActionFilter(TextFilter):  # type: ignore[misc]
    """What was done, or the beginning of it: conflict. for all that was done about conflicts."""

    title = gettext_lazy("action")
    parameter_name = "action"

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The entries whose action begins so."""
        return rows.filter(action__startswith=self.value()) if self.value() else rows


class AboutFilter(TextFilter):  # type: ignore[misc]
    """What it was done to: a kind and an id, as entries name it; or the kind alone."""

    title = gettext_lazy("object")
    parameter_name = "about"

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The entries about it."""
        kind, _, name = (self.value() or "").strip().partition(" ")
        if not kind:
            return rows
        return rows.filter(object_type=kind, **({"object_id": name.strip()} if name else {}))


class ActorFilter(TextFilter):  # type: ignore[misc]
    """Who did it, by the whole name."""

    title = gettext_lazy("actor")
    parameter_name = "who"

    def queryset(self, _request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The entries of this actor."""
        return rows.filter(actor=self.value().strip()) if self.value() else rows


@admin.register(AuditEntry)
class AuditScreen(ReadOnlyScreen):
    """Every deed, newest first; nobody changes one, here or elsewhere."""

    list_display = ("seq", "at", "shown_actor", "action", "about", "shown_why", "shown_origin")
    list_filter = (
        ActorFilter,
        ActionFilter,
        AboutFilter,
        filters.choices("actor_kind"),
        filters.between("at"),
    )
    search_fields = ("actor__exact", "action__exact", "object_id__exact")
    search_help_text = gettext_lazy("A whole name, action or id")
    ordering = ("-seq",)
    list_before_template = "console/chain.html"
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("seq", "at"),
                    ("shown_actor", "shown_origin"),
                    ("action", "about"),
                    ("shown_why",),
                    ("shown_previous", "shown_hash"),
                )
            },
        ),
    )

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list, below what is known of its chain."""
        known = {
            "verification": Verification.objects.order_by("-at", "-id").first(),
            "end": verify.last().seq,
        }
        return super().changelist_view(request, known | (extra_context or {}))

    def sections(self, row: AuditEntry) -> list[Section]:
        """What changed, and both sides as they were kept."""
        return [
            Section(_("Before and after"), cells.padded(audit_trail.changes(row))),
            Section(_("Before"), cells.json_block(row.before)),
            Section(_("After"), cells.json_block(row.after)),
        ]

    @admin.display(description=gettext_lazy("who"))
    def shown_actor(self, entry: AuditEntry) -> SafeString | str:
        """The actor."""
        return audit_trail.who(entry)

    @admin.display(description=gettext_lazy("object"))
    def about(self, entry: AuditEntry) -> SafeString | str:
        """What it was done to."""
        return cells.short(f"{entry.object_type} {entry.object_id}")

    @admin.display(description=gettext_lazy("why"))
    def shown_why(self, entry: AuditEntry) -> SafeString | str:
        """The reason that was given."""
        return cells.brief(entry.why)

    @admin.display(description=gettext_lazy("from where"))
    def shown_origin(self, entry: AuditEntry) -> SafeString | str:
        """The address and session, or the machine."""
        return cells.brief(entry.origin)

    @admin.display(description=gettext_lazy("hash of the entry before"))
    def shown_previous(self, entry: AuditEntry) -> SafeString | str:
        """What it is chained to."""
        return cells.mono(bytes(entry.previous).hex())

    @admin.display(description=gettext_lazy("hash"))
    def shown_hash(self, entry: AuditEntry) -> SafeString | str:
        """What the next one is chained to."""
        return cells.mono(bytes(entry.hash).hex())
