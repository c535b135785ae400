"""What needs somebody now: numbers that lead to their rows, and the conflicts by reason."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells
from config.console.screens import ROWS_COUNTED_MAX
from outbox.models import Dispatch
from payments.figures import waiting
from payments.figures.waiting import Undecided
from payments.models import (
    Confirmation,
    ConfirmationStatus,
    Conflict,
    ConflictStatus,
    Disposition,
    ProviderTransaction,
    Refund,
    RefundStatus,
)

_APPROVE: Final = "payments.approve_conflict"


class Figure(NamedTuple):
    """A number that leads to the rows it counts; red if it should be nought and is not."""

    title: str
    number: int
    note: str
    link: str
    alarms: bool = False

    @property
    def shown(self) -> str:
        """The number, as far as anybody counts."""
        most = waiting.COUNTED_MAX
        return f"{most:,}+" if self.number > most else f"{self.number:,}"


def figures(request: HttpRequest, known: Sequence[Undecided], *, now: datetime) -> list[Figure]:
    """Those that this user may see the rows of."""
    may = request.user.has_perm
    found: list[Figure] = []
    if may("payments.view_conflict"):
        found.append(_to_decide(known))
        if may(_APPROVE) and isinstance(request.user, User):
            found.append(_to_approve(request.user, now))
    if may("payments.view_providertransaction"):
        found.append(_parked())
    if may("payments.view_confirmation"):
        found.append(_held())
    if may("payments.view_refund"):
        found.append(_refunds())
    if may("outbox.view_dispatch"):
        dead = _("refused too often; they need a redrive")
        found += untold(Dispatch.objects.all(), dead=dead)
    return found


def untold(rows: QuerySet[Dispatch], *, dead: str) -> list[Figure]:
    """What of these waits, and what is dead; `dead` says what that means to whoever asks."""
    waits = rows.filter(published_at__isnull=True, dead_at__isnull=True)
    gone = rows.filter(dead_at__isnull=False)
    died = gone.order_by()[:ROWS_COUNTED_MAX].count()
    return [
        Figure(
            _("Dispatches waiting"),
            waits.order_by()[:ROWS_COUNTED_MAX].count(),
            _("events on their way, each to one destination"),
            _list(Dispatch, state="WAITING"),
        ),
        Figure(
            _("Dispatches dead"),
            died,
            dead,
            _list(Dispatch, state="DEAD"),
            alarms=died > 0,
        ),
    ]


def by_reason(known: Sequence[Undecided]) -> SafeString:
    """The conflicts to decide, each reason a link to its rows."""
    if not known:
        return format_html(
            '<p class="c-note">{}</p>',
            _(
                "Nothing is to be decided. When what a provider says and what an order expects "
                "differ, the money is held and the question stands here."
            ),
        )
    return cells.table(
        (_("Reason"), _("To decide"), _("Overdue"), _("Oldest")),
        [
            (
                cells.list_of(Conflict, one.reason, decision="undecided", reason__exact=one.reason),
                one.number,
                one.overdue and format_html('<span class="c-late">{}</span>', one.overdue),
                cells.moment(one.oldest),
            )
            for one in known
        ],
    )


def _to_decide(known: Sequence[Undecided]) -> Figure:
    late = sum(one.overdue for one in known)
    return Figure(
        _("Conflicts to decide"),
        sum(one.number for one in known),
        _("%(number)d overdue") % {"number": late},
        _list(Conflict),
        alarms=late > 0,
    )


def _to_approve(user: User, now: datetime) -> Figure:
    return Figure(
        _("For you to approve"),
        waiting.to_approve(user.pk, now=now),
        _("proposed by somebody else"),
        _list(Conflict, decision="undecided", status__exact=ConflictStatus.PROPOSED),
    )


def _parked() -> Figure:
    return Figure(
        _("Transactions parked"),
        waiting.parked(),
        _("wait for their order or their payment"),
        _list(ProviderTransaction, disposition__exact=Disposition.PARKED),
    )


def _held() -> Figure:
    return Figure(
        _("Payments held"),
        waiting.held(),
        _("until their provider confirms them"),
        _list(Confirmation, status__exact=ConfirmationStatus.WAITING),
    )


def _refunds() -> Figure:
    return Figure(
        _("Refunds in doubt"),
        waiting.refunds_in_doubt(),
        _("sent, and the answer is not known"),
        _list(Refund, status__exact=RefundStatus.PROCESSING),
    )


def _list(model: type[Model], **filters: Any) -> str:
    meta = model._meta  # noqa: SLF001 - Django's documented way to a model's names
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return f"{address}?{urlencode(filters)}" if filters else address
