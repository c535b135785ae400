"""Decisions that wait for a second person: the approver's inbox, and what exactly each says."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from config.console import approving, bound, cells, colours, filters, related, text
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen, Rows
from config.console.waiting import WaitingFilter
from payments.conflicts import waiting
from payments.conflicts.seen import Seen
from payments.models import Conflict, Proposal


class ProposalRows(Rows):
    """The list, each row with what has changed since it was proposed."""

    def get_results(self, request: HttpRequest) -> None:
        """The page of rows, compared with what is there now in one question."""
        super().get_results(request)
        present, told = waiting.present(self.result_list), waiting.told(self.result_list)
        for row in self.result_list:
            now = present.get(row.pk)
            row.told = told[row.pk]
            row.moved = None if now is None else len(Seen(row.seen).changes(now))


@admin.register(Proposal)
class ProposalScreen(ReadOnlyScreen):
    """Each proposal with the action, the amount and the state that it is bound to."""

    list_display = (
        "shown_what",
        "shown_amount",
        "shown_conflict",
        "proposed",
        "moved",
        "shown_status",
    )
    list_select_related = (*waiting.RELATED, "proposed_by")
    list_filter = (
        WaitingFilter,
        filters.choices("resolution"),
        ("conflict__merchant", filters.MERCHANT[1]),
        filters.between("proposed_at"),
    )
    search_fields = ("conflict__order__order_no__exact", "conflict__transaction__txn_no__exact")
    search_help_text = gettext_lazy("A whole order or transaction number")
    ordering = ("expires_at", "id")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("shown_resolution", "shown_amount"),
                    ("conflict_page", "shown_order_no"),
                    ("merchant", "shown_status"),
                    ("shown_proposer", "proposed_at"),
                    ("shown_why", "expires_at"),
                    ("shown_decider", "decided_at"),
                    ("shown_decided_why", "shown_digest"),
                )
            },
        ),
    )

    def get_changelist(self, request: HttpRequest, **_kwargs: Any) -> type[ChangeList]:  # noqa: ARG002
        """The list that compares."""
        return ProposalRows

    def get_urls(self) -> list[URLPattern]:
        """And the pages that approve, reject and withdraw."""
        view = self.admin_site.admin_view(approving.view)
        return [
            *(
                path(f"<int:pk>/{verb}/", view, {"verb": verb}, name=f"payments_proposal_{verb}")
                for verb in approving.ANSWERS
            ),
            *super().get_urls(),
        ]

    def deeds(self, request: HttpRequest, row: Proposal) -> list[Deed]:
        """Approve and reject; or withdraw one's own."""
        return approving.links(request, row)

    def hint(self, request: HttpRequest, row: Proposal) -> str:
        """Why there is no button to approve it."""
        return approving.why_not(request, row)

    def ahead(self, row: Proposal) -> str:
        """What would be done, in one sentence."""
        names = {"who": row.proposed_by.get_username(), "what": waiting.told([row])[row.pk]}
        says = text.visible(_("%(who)s proposes: %(what)s") % names)
        return render_to_string("console/says.html", {"says": says})

    def sections(self, row: Proposal) -> list[Section]:
        """The state that it is bound to, and the conflict."""
        now = approving.state(row)
        conflict = Conflict.objects.filter(pk=row.conflict_id)
        return [
            Section(_("What it is bound to"), bound.table(Seen(row.seen), now)),
            Section(_("Conflict"), related.conflicts(conflict)),
        ]

    @admin.display(description=gettext_lazy("proposal"))
    def shown_what(self, row: Any) -> SafeString:
        """What would be done."""
        shown = cells.two_lines(text.visible(row.told), row.resolution)
        return format_html('<span class="c-asked">{}</span>', shown)

    @admin.display(description=gettext_lazy("action"))
    def shown_resolution(self, row: Proposal) -> str:
        """The resolution, in the word that events use."""
        return row.resolution

    @admin.display(description=gettext_lazy("amount"))
    def shown_amount(self, row: Proposal) -> SafeString:
        """How much it is about."""
        return cells.amount(related.money(row.amount_minor, row.currency))

    @admin.display(description=gettext_lazy("merchant"))
    def merchant(self, row: Proposal) -> str:
        """Whose money it is about."""
        return cells.words(row.conflict.merchant.code)

    @admin.display(description=gettext_lazy("conflict"))
    def shown_conflict(self, row: Proposal) -> SafeString | str:
        """The conflict, and whose it is."""
        return cells.two_lines(self.conflict_page(row), self.merchant(row))

    @admin.display(description=gettext_lazy("proposed by"))
    def proposed(self, row: Proposal) -> SafeString | str:
        """Who proposed it, and when."""
        return cells.two_lines(self.shown_proposer(row), cells.moment(row.proposed_at))

    @admin.display(description=gettext_lazy("conflict"))
    def conflict_page(self, row: Proposal) -> SafeString | str:
        """The conflict that it would decide."""
        return cells.link(row.conflict, row.conflict.reason)

    @admin.display(description=gettext_lazy("order to match to"))
    def shown_order_no(self, row: Proposal) -> SafeString | str:
        """The order that was named, if one was."""
        return cells.mono(row.order_no)

    @admin.display(description=gettext_lazy("proposed by"))
    def shown_proposer(self, row: Proposal) -> str:
        """Who proposed it."""
        return cells.words(row.proposed_by.get_username())

    @admin.display(description=gettext_lazy("reason"))
    def shown_why(self, row: Proposal) -> str:
        """Why, in the proposer's words."""
        return cells.words(row.why)

    @admin.display(description=gettext_lazy("changed since"))
    def moved(self, row: Any) -> SafeString | str:
        """How much of the state has moved: what has moved cannot be approved."""
        if row.moved is None:
            return cells.NOTHING
        if not row.moved:
            return _("nothing")
        counted = ngettext("%(number)s thing", "%(number)s things", row.moved)
        return format_html('<span class="c-late">{}</span>', counted % {"number": row.moved})

    @admin.display(description=gettext_lazy("status"))
    def shown_status(self, row: Proposal) -> SafeString | str:
        """Whether it waits, or how it ended."""
        return cells.label(row.status, colours.PROPOSAL)

    @admin.display(description=gettext_lazy("decided by"))
    def shown_decider(self, row: Proposal) -> str:
        """Who ended it."""
        return cells.words(row.decided_by.get_username() if row.decided_by else "")

    @admin.display(description=gettext_lazy("reason of that"))
    def shown_decided_why(self, row: Proposal) -> str:
        """Why it was rejected or withdrawn."""
        return cells.words(row.decided_why)

    @admin.display(description=gettext_lazy("digest"))
    def shown_digest(self, row: Proposal) -> SafeString | str:
        """The name of exactly this action, amount and state."""
        return cells.mono(row.digest)
