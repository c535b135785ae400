"""Which decisions wait for a second person."""

from collections.abc import Sequence
from typing import Final

from django.db import connection
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console.undecided import DecidedFilter
from payments.models import Proposal, ProposalStatus

#: Both in one question: every page asks.
_WAITING_SQL: Final = """
    SELECT (SELECT count(*) FROM payments_proposal
             WHERE status = 'PENDING' AND proposed_by_id <> %(me)s),
           (SELECT count(*) FROM payments_manualpayment
             WHERE status = 'PROPOSED' AND proposed_by_id <> %(me)s)
"""


def count(request: HttpRequest) -> str:
    """How many proposals wait for somebody else than who made them, for the sidebar."""
    return str(_counts(request)[0])


def count_manual(request: HttpRequest) -> str:
    """How many manual payments wait for somebody else than who entered them."""
    return str(_counts(request)[1])


def _counts(request: HttpRequest) -> tuple[int, int]:
    """Both numbers, asked once for a page."""
    known: tuple[int, int] | None = getattr(request, "_waiting_counts", None)
    if known is None:
        with connection.cursor() as cursor:
            cursor.execute(_WAITING_SQL, {"me": request.user.pk})
            known = cursor.fetchone()
        request._waiting_counts = known  # type: ignore[attr-defined]  # noqa: SLF001 - our own name
    return known


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
