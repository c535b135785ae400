"""The screens of access: merchants, and their API keys without what is secret in them."""

from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, policy_switches, policy_words
from config.console.audited import Audited
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen
from orders.models import ApiKey, Merchant
from payments.models import ConflictPolicy
from payments.policies import current


@admin.register(Merchant)
class MerchantScreen(Audited, ReadOnlyScreen):
    """The one screen that changes something: a merchant's name, and whether it is active."""

    list_display = ("code", "shown_name", "active", "created_at")
    list_filter = ("active",)
    search_fields = ("code", "name")
    ordering = ("code",)
    fields = ("code", "name", "active", "created_at")
    readonly_fields = ("code", "created_at")

    def deeds(self, request: HttpRequest, row: Merchant) -> list[Deed]:
        """Change what rules decide for it, and above how much two people do."""
        return policy_switches.links(request, row.pk)

    def sections(self, row: Merchant) -> list[Section]:
        """What rules decide for it."""
        versions = {"merchant__id__exact": row.pk}
        more = cells.list_of(ConflictPolicy, _("All versions"), **versions)
        counts = policy_words.shown(current.rules_of(row.pk), more=more)
        return [Section(_("Who decides its conflicts"), counts)]

    def state(self, row: Merchant) -> dict[str, Any]:
        """What may be changed of it."""
        return {"code": row.code, "name": row.name, "active": row.active}

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """A superuser: whoever deactivates a merchant stops its money."""
        return bool(request.user.is_superuser)

    @admin.display(description=gettext_lazy("name"))
    def shown_name(self, merchant: Merchant) -> str:
        """The name, with nothing hidden in it."""
        return cells.words(merchant.name)


@admin.register(ApiKey)
class ApiKeyScreen(ReadOnlyScreen):
    """Which keys there are, never what they are; commands make and revoke them."""

    list_display = ("prefix", "merchant", "shown_label", "standing", "created_at", "revoked_at")
    list_select_related = ("merchant",)
    list_filter = ("merchant", ("revoked_at", admin.EmptyFieldListFilter))
    search_fields = ("prefix__startswith", "label", "merchant__code")
    fields = ("prefix", "merchant", "shown_label", "standing", "created_at", "revoked_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The keys without their digests."""
        return super().get_queryset(request).defer("secret_sha256")

    @admin.display(description=gettext_lazy("label"))
    def shown_label(self, key: ApiKey) -> str:
        """What the merchant calls it."""
        return cells.words(key.label)

    @admin.display(description=gettext_lazy("standing"))
    def standing(self, key: ApiKey) -> SafeString | str:
        """Whether it still opens anything."""
        colours = {"ACTIVE": "success"}
        return cells.label("REVOKED" if key.revoked_at else "ACTIVE", colours)
