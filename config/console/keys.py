"""Idempotency keys: what became of each, and which of them wait for a person."""

from django.contrib import admin
from django.contrib.admin import EmptyFieldListFilter
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from config.console import cells, colours, filters
from config.console.screens import ReadOnlyScreen
from idempotency.models import Record


@admin.register(Record)
class KeyScreen(ReadOnlyScreen):
    """The records without the answers, which are the merchants' own."""

    list_display = (
        "shown_key",
        "shown_scope",
        "progress",
        "result_code",
        "created_at",
        "finished_at",
        "handed_over_at",
        "shown_reason",
    )
    list_filter = (
        filters.choices("status"),
        ("handed_over_at", EmptyFieldListFilter),
        filters.between("created_at"),
    )
    search_help_text = _("Key")
    search_fields = ("idem_key__exact",)
    ordering = ("-id",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_key", "shown_scope"),
                    ("progress", "result_code"),
                    ("created_at", "finished_at"),
                    ("lease_until", "handed_over_at"),
                    ("fence", "version"),
                    ("resource_id", "shown_reason"),
                )
            },
        ),
    )

    @admin.display(description=_("key"))
    def shown_key(self, record: Record) -> SafeString | str:
        """The client's key."""
        return cells.short(record.idem_key)

    @admin.display(description=_("scope"))
    def shown_scope(self, record: Record) -> SafeString | str:
        """Whose, and for what."""
        return cells.short(record.scope)

    @admin.display(description=_("status"))
    def progress(self, record: Record) -> SafeString | str:
        """How far it got, and how often it was tried in vain."""
        retries = ngettext(
            "tried %(times)s time in vain", "tried %(times)s times in vain", record.retry_count
        ) % {"times": record.retry_count}
        return cells.two_lines(
            cells.label(record.status, colours.KEY), retries if record.retry_count else ""
        )

    @admin.display(description=_("reason"))
    def shown_reason(self, record: Record) -> str:
        """Why it was given up or handed over."""
        return cells.words(record.reason)
