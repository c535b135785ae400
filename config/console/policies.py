"""What merchants let rules decide: every version, who made it, why, and what it has decided."""

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import (
    cells,
    colours,
    filters,
    policy_answers,
    policy_switches,
    policy_trying,
    policy_words,
    related,
)
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen
from payments.models import Conflict, ConflictPolicy, PolicyStatus
from payments.policies import document
from payments.policies.rules import Rules


@admin.register(ConflictPolicy)
class PolicyScreen(ReadOnlyScreen):
    """The versions; none is ever changed."""

    list_display = (
        "shown_version",
        "merchant",
        "shown_status",
        "proposed",
        "decided",
        "shown_why",
    )
    list_select_related = ("merchant", "proposed_by", "decided_by")
    list_filter = (filters.choices("status"), filters.MERCHANT)
    search_fields = ("merchant__code__exact",)
    search_help_text = gettext_lazy("A whole merchant's code")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("merchant_page", "shown_version"),
                    ("shown_status", "needs_two"),
                    ("shown_proposer", "proposed_at"),
                    ("shown_decider", "decided_at"),
                    ("shown_why", "shown_decided_why"),
                )
            },
        ),
    )

    list_before_template = "console/teaches.html"
    teaches = gettext_lazy(
        "What rules decide instead of people, and up to which amount one person decides alone: "
        "each merchant's page shows what counts for him, and changes it. Here are all versions."
    )

    def get_urls(self) -> list[URLPattern]:
        """And the pages that change a merchant's policy."""
        pages = {
            "edit": policy_trying.view,
            "above": policy_switches.above,
            "off": policy_switches.off,
            "approve": policy_answers.approve,
            "decline": policy_answers.decline,
        }
        return [
            *(
                path(
                    f"<int:pk>/{verb}/",
                    self.admin_site.admin_view(view),
                    name=f"payments_conflictpolicy_{verb}",
                )
                for verb, view in pages.items()
            ),
            *super().get_urls(),
        ]

    def deeds(self, request: HttpRequest, row: ConflictPolicy) -> list[Deed]:
        """Approve or decline what waits; change or end what counts."""
        if row.status == PolicyStatus.ACTIVE:
            return policy_switches.links(request, row.merchant_id)
        return policy_answers.links(request, row)

    def hint(self, request: HttpRequest, row: ConflictPolicy) -> str:
        """Why there is no button to approve it."""
        return policy_answers.why_not(request, row)

    def sections(self, row: ConflictPolicy) -> list[Section]:
        """What it changed, and what it has decided."""
        decided = Conflict.objects.filter(policy=row)
        return [
            Section(_("What it says"), policy_words.table(_before(row), document.read(row.rules))),
            Section(_("Conflicts that it has decided"), related.conflicts(decided)),
        ]

    @admin.display(description=gettext_lazy("version"))
    def shown_version(self, row: ConflictPolicy) -> SafeString | str:
        """Its number among the merchant's."""
        return str(row.version)

    @admin.display(description=gettext_lazy("merchant"))
    def merchant_page(self, row: ConflictPolicy) -> SafeString | str:
        """Whose it is."""
        return cells.link(row.merchant)

    @admin.display(description=gettext_lazy("status"))
    def shown_status(self, row: ConflictPolicy) -> SafeString | str:
        """Whether it counts."""
        return cells.label(row.status, colours.POLICY)

    @admin.display(description=gettext_lazy("proposed by"))
    def shown_proposer(self, row: ConflictPolicy) -> str:
        """Who made it."""
        return cells.words(row.proposed_by.get_username())

    @admin.display(description=gettext_lazy("decided by"))
    def shown_decider(self, row: ConflictPolicy) -> str:
        """Who let it count, or declined it."""
        return cells.words(row.decided_by.get_username() if row.decided_by else "")

    @admin.display(description=gettext_lazy("proposed by"))
    def proposed(self, row: ConflictPolicy) -> SafeString | str:
        """Who made it, and when."""
        return cells.two_lines(self.shown_proposer(row), cells.moment(row.proposed_at))

    @admin.display(description=gettext_lazy("decided by"))
    def decided(self, row: ConflictPolicy) -> SafeString | str:
        """Who let it count, or declined it, and when."""
        at = cells.moment(row.decided_at) if row.decided_at else ""
        return cells.two_lines(self.shown_decider(row), at)

    @admin.display(description=gettext_lazy("reason"))
    def shown_why(self, row: ConflictPolicy) -> SafeString | str:
        """Why, in the proposer's words."""
        return cells.brief(row.why)

    @admin.display(description=gettext_lazy("reason of that"))
    def shown_decided_why(self, row: ConflictPolicy) -> str:
        """Why it was declined."""
        return cells.words(row.decided_why)


def _before(row: ConflictPolicy) -> Rules:
    """The rules that counted until this version did, or that count while it waits."""
    counted = Q(status__in=[PolicyStatus.ACTIVE, PolicyStatus.REPLACED])
    earlier = ConflictPolicy.objects.filter(counted, merchant=row.merchant_id).exclude(pk=row.pk)
    until = row.decided_at or timezone.now()
    before = earlier.filter(decided_at__lte=until).order_by("-decided_at", "-id").first()
    return Rules() if before is None else document.read(before.rules)
