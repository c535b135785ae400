"""Whether the machinery is healthy: who is behind, which account is silent, what alarms."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, outgoing
from config.console.destinations import counted
from outbox import slots
from outbox.backlogs import Backlog
from outbox.models import Destination
from payments.figures.rhythm import Rhythm, rhythms
from payments.models import Delivery, NotificationMessage

_SILENT = {"SILENT": "danger"}
#: How many recipients that do not take their message are named.
_FAILING_MAX = 10


def destinations(known: Mapping[int, Backlog], *, to_endpoints: bool = False) -> SafeString:
    """These destinations, each with what waits for it or is dead."""
    rows = Destination.objects.filter(pk__in=known).select_related("endpoint").order_by("code")
    return cells.table(
        (
            *(_("Destination"), _("State"), _("Waiting"), _("Oldest"), _("Dead")),
            _("Last error"),
        ),
        [
            (
                cells.link(row.endpoint if to_endpoints else row),
                outgoing.state(row),
                counted(known[row.pk].waiting, row.pk, "WAITING"),
                cells.moment(known[row.pk].oldest),
                counted(known[row.pk].dead, row.pk, "DEAD"),
                cells.words(known[row.pk].last_error),
            )
            for row in rows
        ],
    )


def accounts(now: datetime) -> SafeString:
    """Each account's last callback against its rhythm; those that are silent first."""
    known = rhythms(now=now)
    if not known:
        return format_html(
            '<p class="c-note">{}</p>',
            _("There is no account yet. manage.py create_account opens one."),
        )
    known.sort(key=lambda one: (not one.is_silent(now), not one.unknown_keys, one.endpoint))
    return cells.table(
        (_("Account"), _("Last callback"), _("Usually every"), _("Unknown keys today")),
        [
            (
                format_html('<a class="c-link" href="{}">{}</a>', _page(one), one.endpoint),
                _last(one, now),
                _pause(one.usual),
                _unknown(one),
            )
            for one in known
        ],
    )


def alarms() -> list[str]:
    """What somebody must look at and no list shows: replication slots, messages to people."""
    return [*_slots(), *_messages()]


def _slots() -> Iterator[str]:
    for problem in slots.problems():
        yield _("Replication slot %(slot)s %(reason)s.") % {
            "slot": cells.words(problem.slot),
            "reason": cells.words(problem.reason),
        }


def _messages() -> Iterator[str]:
    failing = NotificationMessage.objects.filter(
        sent_at=None, recipient__active=True, attempts__gt=0
    ).exclude(last_error="")
    rows = failing.select_related("recipient").order_by("next_attempt_at")[:_FAILING_MAX]
    for message in rows.defer("recipient__address", "recipient__secret"):
        yield _("%(address)s is not told of conflicts: %(error)s.") % {
            "address": cells.words(message.recipient.shown),
            "error": cells.words(message.last_error),
        }


def _last(one: Rhythm, now: datetime) -> SafeString | str:
    if one.last is None:
        return _("never")
    shown = cells.list_of(Delivery, cells.moment(one.last), account__id__exact=one.account_id)
    if not one.is_silent(now):
        return shown
    return format_html("{} {}", shown, cells.label("SILENT", _SILENT))


def _unknown(one: Rhythm) -> SafeString | str:
    """Keys that requests named and that are not configured: nobody could verify them."""
    return (
        format_html('<span class="c-late">{}</span>', one.unknown_keys) if one.unknown_keys else "0"
    )


def _page(one: Rhythm) -> str:
    return reverse("admin:payments_provideraccount_change", args=[one.account_id])


def _pause(usual: timedelta | None) -> str:
    if usual is None:
        return cells.NOTHING
    seconds = round(usual.total_seconds())
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        return _("%(number)d h") % {"number": hours}
    return _("%(number)d min") % {"number": minutes} if minutes else _("less than a minute")
