"""The page of a conflict: everything that a decision needs, on one screen."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import cells, colours, ended, text, two_sides
from config.console.conflict import (
    asking,
    assigning,
    callback,
    earlier,
    next_one,
    proposal,
    question,
    resolutions,
    timeline,
)
from config.console.two_sides import Line
from payments.conflicts import checking
from payments.conflicts import seen as seeing
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import Conflict, ConflictStatus, Resolution
from payments.refunds.access import client_for


def context(request: HttpRequest, row: Conflict) -> dict[str, Any]:
    """What its template shows to this user."""
    held = seeing.look(row.pk)
    asked = question.of(held)
    money = held.money
    is_open = row.status == ConflictStatus.OPEN
    reach = client_for(money.account, now=timezone.now()) if money is not None else None
    return {
        "question": text.visible(asked.says),
        "asks": asked.asks if row.status in UNDECIDED else "",
        "helps": asked.helps,
        "facts": _facts(row),
        "lines": [_visible(line) for line in two_sides.lines(row)],
        "ways": resolutions.ways(request, held, reach) if is_open else [],
        "standing": proposal.standing(request, row),
        "decided": _decided(row),
        "next": next_one.link(request, row),
        "assign": _assign(request, row),
        "spoken": asking.spoken(request, held, reach),
        "told": callback.of(request, row),
        "timeline": timeline.of(held),
        "earlier": earlier.of(held),
    }


def _facts(row: Any) -> list[tuple[str, Any]]:
    """What a person sorts it by, in a line."""
    due = cells.moment(row.due_at)
    return [
        (_("Reason"), row.reason),
        (_("Severity"), cells.label(row.severity, colours.SEVERITY)),
        (_("Status"), cells.label(row.status, colours.CONFLICT)),
        (_("Due"), cells.late(due) if row.is_overdue else due),
        (_("Merchant"), cells.link(row.merchant, row.merchant.code)),
        (_("Order"), cells.link(row.order)),
        (_("Transaction"), cells.link(row.transaction)),
    ]


def _decided(row: Conflict) -> list[tuple[str, Any]]:
    """How it ended, or why it is open again; nothing while it is simply open."""
    if row.status in UNDECIDED:
        return [(_("Open again"), cells.words(row.why))] if row.why else []
    found = [
        (_("Decided"), ended.how(row)),
        (_("At"), cells.moment(row.resolved_at)),
        (_("By"), _by(row)),
        (_("Why"), cells.words(row.why)),
    ]
    paid = row.transaction.order if row.decision == Resolution.MATCH and row.transaction else None
    links = ((_("Order"), paid), (_("Refund"), row.refund))
    return [*found, *((name, cells.link(other)) for name, other in links if other is not None)]


def _by(row: Conflict) -> str:
    if row.policy is not None:
        return _("policy version %(version)s") % {"version": row.policy.version}
    people = [user.get_username() for user in (row.proposed_by, row.decided_by) if user]
    return ", ".join(people) or _("a fact that came")


def _assign(request: HttpRequest, row: Conflict) -> dict[str, Any]:
    """Who has it, and what may be done about that."""
    may = row.status in UNDECIDED and request.user.has_perm(checking.RESOLVE)
    return {
        "holder": row.assignee.get_username() if row.assignee else "",
        "since": cells.moment(row.assigned_at) if row.assigned_at else "",
        "seen": row.assignee_id or "",
        "is_mine": row.assignee_id == request.user.pk,
        "me": request.user.pk,
        "link": assigning.link_to(row.pk) if may else "",
    }


def _visible(line: Line) -> Line:
    return line._replace(
        name=cells.words(line.name),
        expected=cells.words(line.expected),
        received=cells.words(line.received),
    )
