"""What a policy would have done to the last 30 days, as a page shows it."""

from datetime import datetime
from typing import Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, related
from orders.models import Merchant
from payments.policies import dry_run
from payments.policies.dry_run import DryRun
from payments.policies.rules import Rules

#: How many conflicts are listed; the sums count all of them.
LINES_MAX: Final = 100
#: How many conflicts are looked at, newest first: some seconds of work.
LOOKED_AT_MAX: Final = 20_000
#: For the names that translators need.
_DAYS: Final = dry_run.DAYS.days


def shown(merchant: Merchant, wanted: Rules, *, now: datetime) -> SafeString:
    """What it would have done: in a sentence, in sums, and one by one."""
    found = dry_run.dry_run(merchant, wanted, now=now, lines_max=LINES_MAX, most=LOOKED_AT_MAX)
    said = format_html('<p class="c-note c-said">{}</p>', sentence(found))
    return said if not found.decided else said + _sums(found) + _lines(found)


def sentence(found: DryRun) -> str:
    """How many it would have decided, of how many."""
    names = {
        "days": _DAYS,
        "decided": found.decided,
        "all": found.looked_at,
        "asked": found.asked,
    }
    if not found.looked_at:
        return (
            _(
                "In the last %(days)s days there was no conflict that a policy could decide: "
                "nothing can be said about what this one will do."
            )
            % names
        )
    if found.is_cut:
        return (
            _(
                "Of the newest %(all)s conflicts of the last %(days)s days it would have decided "
                "%(decided)s, and a person would have been asked about %(asked)s. There were more, "
                "which were not looked at."
            )
            % names
        )
    return (
        _(
            "Of %(all)s conflicts in the last %(days)s days it would have decided %(decided)s; "
            "a person would have been asked about %(asked)s."
        )
        % names
    )


def _sums(found: DryRun) -> SafeString:
    rows = [
        (how, total.number, cells.amount(related.money(total.amount_minor, currency)))
        for (how, currency), total in sorted(found.sums.items())
    ]
    return cells.table((_("Action"), _("Conflicts"), _("Amount")), rows)


def _lines(found: DryRun) -> SafeString:
    more = found.decided - len(found.lines)
    rows = [
        (
            format_html('<a class="c-link" href="{}">{}</a>', _page(line.conflict_id), line.reason),
            cells.moment(line.opened_at),
            line.how,
            cells.amount(related.money(line.amount_minor, line.currency)),
        )
        for line in found.lines
    ]
    return cells.table(
        (_("Conflict"), _("Opened"), _("Action"), _("Amount")),
        rows,
        more=_("And %(number)s older ones.") % {"number": more} if more else "",
    )


def _page(conflict_id: int) -> str:
    return reverse("admin:payments_conflict_change", args=[conflict_id])
