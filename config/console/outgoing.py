"""What is on its way out, as the pages of events, destinations and endpoints show it."""

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config.console import cells, colours, text
from config.console.deeds import Deed
from config.console.related import ROWS_MAX
from outbox.models import Attempt, Destination, Dispatch, Event
from outbox.webhooks.due import TEST_TYPE

#: What of a reply is shown before it is unfolded.
_FIRST_LETTERS = 60


def state(destination: Destination) -> SafeString | str:
    """Whether events leave for it, and why not."""
    shown = cells.label(destination.state, colours.DESTINATION)
    return cells.two_lines(shown, text.visible(destination.reason))


def rest(destination: Destination) -> SafeString | str:
    """How a webhook's endpoint has answered lately; nothing for the other kinds."""
    endpoint = getattr(destination, "endpoint", None)
    if endpoint is None:
        return cells.NOTHING
    if endpoint.removed_at is not None:
        return cells.two_lines(cells.label("REMOVED", {}), cells.moment(endpoint.removed_at))
    if not endpoint.failures:
        return cells.label("WORKS", {"WORKS": "success"})
    failed = f"{endpoint.failures} failures since {cells.moment(endpoint.failing_since)}"
    if endpoint.open_until is None:
        return cells.two_lines(cells.label("FAILS", {"FAILS": "warning"}), failed)
    rests = f"until {cells.moment(endpoint.open_until)}; {failed}"
    return cells.two_lines(cells.label("RESTS", {"RESTS": "danger"}), rests)


def wants(destination: Destination) -> str:
    """The types of events that it gets."""
    return cells.words(", ".join(destination.event_types)) if destination.event_types else "all"


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
        ("Event", "No.", "State", "Happened", "Id"),
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
    shown = event.dispatches.select_related("destination").order_by("destination__code")
    return cells.table(
        ("Destination", "State", "Attempts", "Next", "Published", "Last error", "Redrive"),
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
        .order_by("-created_at", "-id")[:ROWS_MAX]
    )
    return cells.table(
        ("Event", "About", "State", "Attempts", "Happened", "Last error"),
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
        more=cells.list_of(Dispatch, "All of them", destination__id__exact=destination.pk),
    )


def attempts(rows: QuerySet[Attempt]) -> SafeString:
    """Tries at an endpoint: those that were asked for and are not made yet, then newest first."""
    shown: Iterable[Attempt] = (
        rows.select_related("dispatch__event")
        .defer("dispatch__event__payload", "dispatch__event__headers")
        .order_by("-at", "-asked_at")[:ROWS_MAX]
    )
    return cells.table(
        ("Made", "Event", "Answer", "ms", "Reply or error", "Whose try"),
        [
            (
                cells.moment(row.at) if row.at else "asked for",
                cells.link(row.dispatch, row.dispatch.event.type) if row.dispatch else TEST_TYPE,
                _answer(row),
                cells.NOTHING if row.milliseconds is None else row.milliseconds,
                _folded(row.error or row.reply),
                cells.words(row.asked_by) if row.asked_by else "the relay's",
            )
            for row in shown
        ],
    )


def redriven(dispatch: Dispatch) -> SafeString | str:
    """The id of the last time that a person put it back in line."""
    return cells.mono(str(dispatch.redrive_id)) if dispatch.redrive_id else cells.NOTHING


def redrive(dispatches: str, name: str) -> Deed:
    """The way to the page that puts dead ones back in line; `dispatches` says which."""
    return Deed(name, f"{reverse('admin:outbox_dispatch_redrive')}?{dispatches}")


def _answer(attempt: Attempt) -> SafeString | str:
    if attempt.at is None:
        return cells.NOTHING
    if attempt.status is None:
        return cells.label("NONE", {"NONE": "danger"})
    shown = str(attempt.status)
    taken = 200 <= attempt.status < 300  # noqa: PLR2004
    return cells.label(shown, {shown: "success" if taken else "danger"})


def _folded(written: str) -> SafeString | str:
    """Text that others wrote: its first letters, and all of it when that is asked for."""
    if len(written) <= _FIRST_LETTERS and "\n" not in written:
        return cells.words(written)
    first = " ".join(written[:_FIRST_LETTERS].split())
    return format_html(
        '<details class="c-folded"><summary>{} ..</summary><pre class="c-block">{}</pre></details>',
        text.visible(first),
        text.visible(written),
    )
