"""What a policy says, in words that need no knowledge of its document."""

from collections.abc import Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import cells, limits
from payments.policies.rules import Do, Kind, Rule, Rules

KINDS: Final[Mapping[Kind, Promise]] = {
    Kind.LATE: gettext_lazy("Late: the order was closed before the money came"),
    Kind.OVER: gettext_lazy("Over: more came than the order costs"),
    Kind.UNDER: gettext_lazy("Under: less came than the order costs"),
    Kind.DUPLICATE: gettext_lazy("Duplicate: another payment has paid the order"),
    Kind.PARKED: gettext_lazy("Parked: nobody has placed the order"),
}


def table(then: Rules, now: Rules) -> SafeString:
    """Two policies side by side, what differs marked."""
    rows = [(str(KINDS[kind]), sentence(kind, then), sentence(kind, now)) for kind in Kind]
    rows.append((_("Two people"), two_people(then), two_people(now)))
    columns = (_("About"), _("Before"), _("After"))
    return cells.narrow(
        cells.table(columns, [(name, ours, _new(ours, new)) for name, ours, new in rows])
    )


def shown(rules: Rules, *, more: str = "") -> SafeString:
    """A policy alone."""
    rows = [(str(KINDS[kind]), sentence(kind, rules)) for kind in Kind]
    rows.append((_("Two people"), two_people(rules)))
    return cells.narrow(cells.table((_("About"), _("What is done")), rows, more=more))


def sentence(kind: Kind, rules: Rules) -> str:
    """What is done about one kind."""
    rule = rules.rule(kind)
    if not rule.moves_money:
        return _("A person is asked.")
    most = {"most": limits.write(rule.limits)}
    if rule.do is Do.REFUND:
        return _("Refunded automatically, payments up to %(most)s.") % most
    if kind is Kind.LATE:
        return _("Accepted, the order is opened again, payments up to %(most)s.") % most
    names = most | {"tolerance": _tolerance(rule)}
    return _("Accepted if it differs by at most %(tolerance)s, payments up to %(most)s.") % names


def two_people(rules: Rules) -> str:
    """Above how much two people decide."""
    if not rules.four_eyes_above:
        return _("Two people decide about any amount.")
    above = {"above": limits.write(rules.four_eyes_above)}
    return _("Two people decide above %(above)s, and about any amount in other currencies.") % above


def _tolerance(rule: Rule) -> str:
    minor, share = rule.tolerance_minor, rule.tolerance_per_mille
    in_minor = {"number": minor}
    in_share = {"number": share}
    if share is None:
        return _("%(number)s of the currency's smallest unit") % in_minor
    if minor is None:
        return _("%(number)s per mille") % in_share
    both = {"minor": minor, "share": share}
    return _("%(minor)s of the currency's smallest unit and %(share)s per mille") % both


def _new(before: str, after: str) -> SafeString | str:
    return after if before == after else format_html('<b class="c-new">{}</b>', after)
