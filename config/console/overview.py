"""The console's first page: what needs me, whether money flows, whether the machinery is well."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from config.console import flow, health, needs, related
from config.console.cells import Section
from payments.figures import waiting
from payments.figures.traffic import Step
from payments.figures.waiting import Undecided
from payments.models import Delivery


def overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the first page shows to this user; what it costs does not grow with the tables."""
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
        sections.append(Section(_("Destinations that are behind"), health.destinations()))
    if may("payments.view_delivery"):
        newest = related.deliveries(Delivery.objects.all())
        sections.append(Section(_("Latest deliveries"), newest))
    return context | {
        "title": _("Overview"),
        "figures": needs.figures(request, known, now=now),
        "alarms": health.alarms() if may("outbox.view_destination") else [],
        "sections": sections,
    }
