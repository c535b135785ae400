"""Which decisions wait for a second person."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console.undecided import DecidedFilter
from payments.models import ManualPayment, ManualStatus, Proposal, ProposalStatus


def count(request: HttpRequest) -> str:
    """How many wait for somebody else than who proposed them, for the sidebar."""
    waiting = Proposal.objects.filter(status=ProposalStatus.PENDING)
    return str(waiting.exclude(proposed_by_id=request.user.pk).count())


def count_manual(request: HttpRequest) -> str:
    """How many manual payments wait for somebody else than who entered them."""
    waiting = ManualPayment.objects.filter(status=ManualStatus.PROPOSED)
    return str(waiting.exclude(proposed_by_id=request.user.pk).count())


class WaitingFilter(DecidedFilter):
    """What waits, what is over, or both. A list that was asked nothing shows the first."""

    title = gettext_lazy("approval")

    def lookups(self, *_args: object) -> Sequence[tuple[str, str]]:
        """The three."""
        return (("undecided", _("Waiting")), ("decided", _("Over")), ("all", _("Both")))

    def queryset(self, _request: HttpRequest, rows: QuerySet[Proposal]) -> QuerySet[Proposal]:  # type: ignore[override]
        """Those of the chosen kind."""
        match self.value():
            case "undecided":
                return rows.filter(status=ProposalStatus.PENDING)
            case "decided":
                return rows.exclude(status=ProposalStatus.PENDING)
            case _:
                return rows
