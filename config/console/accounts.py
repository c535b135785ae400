"""The accounts at the providers, and which keys they have: never a key itself."""

from django.contrib import admin
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import account_keys, cells, colours, filters
from config.console.cells import Section
from config.console.screens import ReadOnlyScreen
from payments.key_report import report
from payments.models import (
    Confirmation,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
)
from payments.providers import registry

_KEYS_MAX = 50


@admin.register(ProviderAccount)
class AccountScreen(ReadOnlyScreen):
    """The endpoints that callbacks come to; commands make and change them."""

    list_display = (
        "shown_endpoint",
        "merchant",
        "shown_account_no",
        "mode",
        "active",
        "created_at",
    )
    list_select_related = ("merchant",)
    list_filter = ("provider", filters.MERCHANT, "live", "active")
    search_fields = ("name", "account_no__startswith", "provider__startswith")
    search_help_text = gettext_lazy("Name, provider, or start of an account number")
    ordering = ("provider", "name")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_endpoint", "merchant"),
                    ("shown_account_no", "mode"),
                    ("active", "created_at"),
                )
            },
        ),
    )

    def sections(self, row: ProviderAccount) -> list[Section]:
        """The settings, the keys, and where its traffic is."""
        traffic = cells.table(
            (_("Rows"),),
            [
                (cells.list_of(Delivery, _("Deliveries"), account__id__exact=row.pk),),
                (cells.list_of(ProviderTransaction, _("Transactions"), account__id__exact=row.pk),),
                (
                    cells.list_of(
                        Confirmation, _("Waiting for confirmation"), account__id__exact=row.pk
                    ),
                ),
            ],
        )
        return [
            Section(_("Trust"), _trust(row)),
            Section(_("Keys"), _keys(row)),
            Section(_("Unknown keys that were named"), _unknown_keys(row)),
            Section(_("Settings"), cells.json_block(row.settings)),
            Section(_("Traffic"), traffic),
        ]

    @admin.display(description=gettext_lazy("endpoint"))
    def shown_endpoint(self, account: ProviderAccount) -> str:
        """Where its callbacks come to."""
        return account.endpoint

    @admin.display(description=gettext_lazy("account number"))
    def shown_account_no(self, account: ProviderAccount) -> SafeString | str:
        """The provider's own number for it."""
        return cells.mono(account.account_no)

    @admin.display(description=gettext_lazy("mode"))
    def mode(self, account: ProviderAccount) -> SafeString | str:
        """Whether its money is real."""
        return cells.label("LIVE" if account.live else "TEST", colours.MODE)


def _keys(account: ProviderAccount) -> SafeString:
    now = timezone.now()
    return cells.table(
        (
            _("Key"),
            _("Purpose"),
            _("Standing"),
            _("Last used"),
            _("Advice"),
            _("Not before"),
            _("Not after"),
            _("Created"),
        ),
        [
            (
                cells.link(line.key, line.key.key_id),
                line.key.purpose,
                account_keys.standing(line.key, now),
                cells.moment(line.key.last_used_at),
                line.advice,
                cells.moment(line.key.not_before),
                cells.moment(line.key.not_after),
                cells.moment(line.key.created_at),
            )
            for line in report(account, now=now)[:_KEYS_MAX]
        ],
    )


def _unknown_keys(account: ProviderAccount) -> SafeString:
    return cells.table(
        (_("Key"), _("Times"), _("First"), _("Last")),
        [
            (
                cells.mono(sighting.key_id),
                str(sighting.count),
                cells.moment(sighting.first_seen_at),
                cells.moment(sighting.last_seen_at),
            )
            for sighting in account.sightings.order_by("-last_seen_at")
        ],
    )


def _trust(account: ProviderAccount) -> str:
    """How much a callback of this account proves, said plainly."""
    provider = registry.find(account.provider)
    if provider is None:
        return _("Unknown provider: no callback can be verified.")
    confirm = provider.confirmation_by_default if account.confirm is None else account.confirm
    said = []
    if provider.facts.tier == "hint":
        said.append(_("Nothing vouches for what a callback says: it is a hint."))
        confirm = True  # as `payments/deliveries.py` has it, whatever the account says
    if confirm:
        said.append(_("Payments move nothing until the provider's API has confirmed them."))
    else:
        said.append(_("A verified callback moves money by itself."))
    return " ".join([*said, _("Not signed: %(parts)s.") % {"parts": provider.facts.unsigned}])
