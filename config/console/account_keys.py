"""The keys of the accounts: which of them verify, and which may be retired. Never a key itself."""

from datetime import datetime

from django.contrib import admin
from django.contrib.admin import EmptyFieldListFilter
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from config.console import cells, filters
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from payments.key_report import advice
from payments.models import AccountKey, Delivery


@admin.register(AccountKey)
class AccountKeyScreen(ReadOnlyScreen):
    """What is in the vault, by name; commands add and retire keys."""

    list_display = (
        "shown_key",
        "account",
        "purpose",
        "shown_standing",
        "last_used_at",
        "shown_advice",
        "not_after",
    )
    list_select_related = ("account",)
    list_filter = (
        filters.ACCOUNT,
        filters.PROVIDER,
        "purpose",
        ("last_used_at", EmptyFieldListFilter),
    )
    search_fields = ("key_id__exact",)
    search_help_text = _("A whole key id")
    ordering = ("account", "purpose", "-id")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_key", "account_page"),
                    ("purpose", "shown_standing"),
                    ("last_used_at", "shown_advice"),
                    ("not_before", "not_after"),
                    ("created_at",),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccountKey]:
        """Without what is sealed, and beside each all the keys of its account."""
        others = AccountKey.objects.defer("material")
        rows = super().get_queryset(request).defer("material").select_related("account")
        return rows.prefetch_related(Prefetch("account__keys", queryset=others))

    def sections(self, row: AccountKey) -> list[Section]:
        """Where the deliveries are that it may have verified."""
        named = {"account__id__exact": row.account_id}
        return [
            Section(
                str(_("Deliveries")),
                cells.list_of(Delivery, str(_("All deliveries of its account")), **named),
            )
        ]

    @admin.display(description=_("key"))
    def shown_key(self, row: AccountKey) -> SafeString | str:
        """Its id; what it is stays in the vault."""
        return cells.mono(row.key_id)

    @admin.display(description=_("account"))
    def account_page(self, row: AccountKey) -> SafeString | str:
        """Whose key it is."""
        return cells.link(row.account)

    @admin.display(description=_("standing"))
    def shown_standing(self, row: AccountKey) -> SafeString | str:
        """Whether it may be used now."""
        return standing(row, timezone.now())

    @admin.display(description=_("advice"))
    def shown_advice(self, row: AccountKey) -> str:
        """Whether it is safe to retire, and why not."""
        return advice(row, list(row.account.keys.all()), now=timezone.now())


def standing(key: AccountKey, now: datetime) -> SafeString | str:
    """Whether a key is valid at that time."""
    late = key.not_after is not None and key.not_after < now
    early = key.not_before is not None and key.not_before > now
    state = "EXPIRED" if late else "NOT YET" if early else "VALID"
    return cells.label(state, {"VALID": "success", "NOT YET": "info"})
