"""The accounts at the providers, and which keys they have: never a key itself."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.safestring import SafeString

from config.console import cells, colours, filters
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from payments.models import AccountKey, Delivery, ProviderAccount, ProviderTransaction

_KEYS_MAX = 50


@admin.register(ProviderAccount)
class AccountScreen(ReadOnlyScreen):
    """The endpoints that callbacks come to; commands make and change them."""

    list_display = (
        "endpoint",
        "merchant",
        "shown_account_no",
        "mode",
        "active",
        "created_at",
    )
    list_select_related = ("merchant",)
    list_filter = ("provider", filters.MERCHANT, "live", "active")
    search_fields = ("name", "account_no__startswith", "provider__startswith")
    search_help_text = "Name, provider, or start of an account number"
    ordering = ("provider", "name")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("endpoint", "merchant"),
                    ("shown_account_no", "mode"),
                    ("active", "created_at"),
                )
            },
        ),
    )

    def sections(self, row: ProviderAccount) -> list[Section]:
        """The settings, the keys, and where its traffic is."""
        traffic = cells.table(
            ("Rows",),
            [
                (cells.list_of(Delivery, "Deliveries", account__id__exact=row.pk),),
                (cells.list_of(ProviderTransaction, "Transactions", account__id__exact=row.pk),),
            ],
        )
        return [
            Section("Keys", _keys(row)),
            Section("Settings", cells.json_block(row.settings)),
            Section("Traffic", traffic),
        ]

    @admin.display(description="account number")
    def shown_account_no(self, account: ProviderAccount) -> SafeString | str:
        """The provider's own number for it."""
        return cells.mono(account.account_no)

    @admin.display(description="mode")
    def mode(self, account: ProviderAccount) -> SafeString | str:
        """Whether its money is real."""
        return cells.label("LIVE" if account.live else "TEST", colours.MODE)


def _keys(account: ProviderAccount) -> SafeString:
    keys: QuerySet[Any] = (
        AccountKey.objects.filter(account=account)
        .annotate(
            is_early=Q(not_before__gt=Now()),
            is_late=Q(not_after__lte=Now()),
        )
        .values("key_id", "purpose", "not_before", "not_after", "is_early", "is_late", "created_at")
        .order_by("purpose", "-id")[:_KEYS_MAX]
    )
    return cells.table(
        ("Key", "Purpose", "Standing", "Not before", "Not after", "Created"),
        [
            (
                cells.mono(key["key_id"]),
                key["purpose"],
                _standing(early=key["is_early"], late=key["is_late"]),
                cells.moment(key["not_before"]),
                cells.moment(key["not_after"]),
                cells.moment(key["created_at"]),
            )
            for key in keys
        ],
    )


def _standing(*, early: bool | None, late: bool | None) -> SafeString | str:
    state = "EXPIRED" if late else "NOT YET" if early else "VALID"
    return cells.label(state, {"VALID": "success", "NOT YET": "info"})
