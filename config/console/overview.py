"""The console's first page: what needs me, whether money flows, whether the machinery is well."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import flow, health, members, needs, related, rights
from config.console.cells import Section
from config.console.needs import Figure
from outbox.backlogs import backlogs, behind
from outbox.models import Destination, Dispatch
from payments.figures import waiting
from payments.figures.traffic import Step
from payments.figures.waiting import Undecided
from payments.models import Delivery


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the first page shows to this user; what it costs does not grow with the tables."""
    if members.membership(request) is not None:
        return context | _of_member(request)
    now = timezone.now()
    may = request.user.has_perm
    known: Sequence[Undecided] = ()
    sections: list[Section] = []
    if may("payments.view_conflict"):
        known = waiting.conflicts_by_reason(now=now)
        sections.append(Section(_("Conflicts to decide, by reason"), needs.by_reason(known)))
    if may("payments.view_delivery"):
        step = flow.step_of(request)
        title = _("The last 24 hours") if step is Step.HOUR else _("The last 30 days")
        title = _("%(time)s, by provider") % {"time": title}
        sections.append(Section(title, flow.by_provider(step, now=now)))
    if may("orders.view_order"):
        title = _("The last %(number)d days, by currency") % {"number": flow.DAYS}
        sections.append(Section(title, flow.by_currency(now.date())))
    if may("payments.view_provideraccount"):
        sections.append(Section(_("Accounts"), health.accounts(now)))
    if may("outbox.view_dispatch") and may("outbox.view_destination"):
        sections.append(Section(_("Destinations that are behind"), _behind()))
    if may("payments.view_delivery"):
        newest = related.deliveries(Delivery.objects.all())
        sections.append(Section(_("Latest deliveries"), newest))
    return context | {
        "title": _("Overview"),
        "figures": needs.figures(request, known, now=now),
        "alarms": health.alarms() if may("outbox.view_destination") else [],
        "sections": sections,
    }


def _behind() -> SafeString:
    return health.destinations(backlogs(behind(most=related.ROWS_MAX)))


def _of_member(request: HttpRequest) -> dict[str, Any]:
    """For a merchant's member: his endpoints, and what waits for them."""
    figures: list[Figure] = []
    sections: list[Section] = []
    if rights.may(request, rights.MEMBER, or_member=True):
        mine = members.own(request, Dispatch.objects.all())
        dead = _("not taken in three days; they can be sent again")
        figures += needs.untold(mine, dead=dead)
        present = members.own(request, Destination.objects.filter(endpoint__removed_at=None))
        known = backlogs(present.values_list("pk", flat=True))
        shown = health.destinations(known, to_endpoints=True)
        sections.append(Section(_("Your endpoints"), shown))
    return {"title": _("Overview"), "figures": figures, "sections": sections}
