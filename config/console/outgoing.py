"""What is on its way out, as the pages of events, destinations and endpoints show it."""

from typing import Any

from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from config.console import cells, colours, text
from config.console.deeds import Deed
from config.console.related import ROWS_MAX
from outbox.models import Destination, Dispatch, Event


def state(destination: Destination) -> SafeString | str:
    """Whether events leave for it, and why not."""
    shown = cells.label(destination.state, colours.DESTINATION)
    if not destination.rested_by:
        return shown
    why = {"reason": text.visible(destination.reason), "who": destination.rested_by}
    return cells.two_lines(shown, _("%(reason)s (by: %(who)s)") % why)


def rest(destination: Destination) -> SafeString | str:
    """How a webhook's endpoint has answered lately; nothing for the other kinds."""
    endpoint = getattr(destination, "endpoint", None)
    if endpoint is None:
        return cells.NOTHING
    if endpoint.removed_at is not None:
        return cells.two_lines(cells.label("REMOVED", {}), cells.moment(endpoint.removed_at))
    if not endpoint.failures:
        return cells.label("WORKS", {"WORKS": "success"})
    failed = ngettext(
        "%(number)s failure since %(time)s", "%(number)s failures since %(time)s", endpoint.failures
    ) % {"number": endpoint.failures, "time": cells.moment(endpoint.failing_since)}
    if endpoint.open_until is None:
        return cells.two_lines(cells.label("FAILS", {"FAILS": "warning"}), failed)
    rests = _("until %(time)s; %(failed)s") % {
        "time": cells.moment(endpoint.open_until),
        "failed": failed,
    }
    return cells.two_lines(cells.label("RESTS", {"RESTS": "danger"}), rests)


def wants(destination: Destination) -> str:
    """The types of events that it gets."""
    return cells.words(", ".join(destination.event_types)) if destination.event_types else _("all")


def events(aggregate_type: str, aggregate_id: str) -> SafeString:
    """What was told about one aggregate, in its order."""
    named: dict[str, Any] = {"aggregate_type": aggregate_type, "aggregate_id": aggregate_id}
    shown = (
        Event.objects.filter(**named)
        .defer("payload", "headers")
        .prefetch_related("dispatches__destination")
        .order_by("-seq")[:ROWS_MAX]
    )
    return cells.table(
        (_("Event"), _("No."), _("State"), _("Happened"), _("Id")),
        [
            (
                cells.link(row, row.type),
                row.seq,
                states_of(row),
                cells.moment(row.created_at),
                cells.mono(str(row.pk)),
            )
            for row in shown
        ],
    )


def states_of(event: Event) -> SafeString:
    """How far an event got on the way to each of its destinations."""
    shown = sorted(event.dispatches.all(), key=lambda row: row.destination.code)[:ROWS_MAX]
    return format_html_join(
        " ",
        "{} {}",
        (
            (cells.words(row.destination.code), cells.label(row.state, colours.DISPATCH))
            for row in shown
        ),
    )


def ways_of(event: Event) -> SafeString:
    """An event's way to each of its destinations, with what the relay noted."""
    shown = sorted(event.dispatches.all(), key=lambda row: row.destination.code)
    return cells.table(
        (
            _("Destination"),
            _("State"),
            _("Attempts"),
            _("Next"),
            _("Published"),
            _("Last error"),
            _("Redrive"),
        ),
        [
            (
                cells.link(row, row.destination.code),
                cells.label(row.state, colours.DISPATCH),
                row.attempts,
                cells.moment(row.next_attempt_at),
                cells.moment(row.published_at),
                cells.words(row.last_error),
                redriven(row),
            )
            for row in shown[:ROWS_MAX]
        ],
    )


def newest_to(destination: Destination) -> SafeString:
    """The last events that were told to a destination."""
    rows = (
        Dispatch.objects.filter(destination=destination)
        .select_related("event")
        .defer("event__payload", "event__headers")
        .order_by("-id")[:ROWS_MAX]  # along an index, for one with a million too
    )
    return cells.table(
        (_("Event"), _("About"), _("State"), _("Attempts"), _("Happened"), _("Last error")),
        [
            (
                cells.link(row, row.event.type),
                cells.short(f"{row.aggregate_id}#{row.seq}"),
                cells.label(row.state, colours.DISPATCH),
                row.attempts,
                cells.moment(row.created_at),
                cells.words(row.last_error),
            )
            for row in rows
        ],
        more=cells.list_of(Dispatch, _("All of them"), destination__id__exact=destination.pk),
    )


def redriven(dispatch: Dispatch) -> SafeString | str:
    """The id of the last time that a person put it back in line."""
    return cells.mono(str(dispatch.redrive_id)) if dispatch.redrive_id else cells.NOTHING


def redrive(dispatches: str, name: str) -> Deed:
    """The way to the page that puts dead ones back in line; `dispatches` says which."""
    return Deed(name, f"{reverse('admin:outbox_dispatch_redrive')}?{dispatches}")
