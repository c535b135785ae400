"""`manage.py events`: see what is published, and what is not."""

import argparse
import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from outbox.models import BUS, Destination, Dispatch, DispatchState
from outbox.published import Follower, latest

POLL_SECONDS = 0.5
LIMIT_MAX = 10_000


class Command(BaseCommand):
    """Prints events, one a line; with --follow, each one as it is published until Ctrl-C."""

    help = "Show published events, the newest last. --follow goes on until Ctrl-C."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """What to show."""
        parser.add_argument("--follow", action="store_true", help="show each as it is published")
        parser.add_argument(
            "--state",
            type=str.upper,
            choices=[*DispatchState.values, "ALL"],
            default=DispatchState.PUBLISHED.value,
            help="events in this state instead of published ones",
        )
        parser.add_argument(
            "--destination", default=BUS, metavar="CODE", help="what went to this one (bus)"
        )
        parser.add_argument("--limit", type=_limit, default=20, help="at most so many (20)")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Show them."""
        state = None if options["state"] == "ALL" else DispatchState(options["state"])
        if options["follow"] and state != DispatchState.PUBLISHED:
            raise CommandError("--follow shows published events: leave out --state.")
        where: str = options["destination"]
        if not Destination.objects.filter(code=where).exists():
            raise CommandError(
                f"There is no destination {where}; `manage.py destinations list` shows all."
            )
        try:
            follower = Follower(where) if options["follow"] else None
            for dispatch in latest(state, options["limit"], destination=where):
                self._show(dispatch, as_json=options["json"])
            while follower is not None:
                for dispatch in follower.new():
                    self._show(dispatch, as_json=options["json"])
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            return

    def _show(self, dispatch: Dispatch, *, as_json: bool) -> None:
        line = json.dumps(_fields(dispatch)) if as_json else _line(dispatch)
        self.stdout.write(line)
        self.stdout.flush()


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= LIMIT_MAX):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to {LIMIT_MAX}")
    return int(text)


def _fields(dispatch: Dispatch) -> dict[str, Any]:
    event = dispatch.event
    return {
        "at": (dispatch.published_at or dispatch.created_at).isoformat(),
        "destination": dispatch.destination.code,
        "state": dispatch.state,
        "type": event.type,
        "aggregate": f"{event.aggregate_type}/{event.aggregate_id}",
        "seq": event.seq,
        "id": str(event.pk),
        "attempts": dispatch.attempts,
        "last_error": dispatch.last_error,
        "payload": event.payload,
    }


def _line(dispatch: Dispatch) -> str:
    event = dispatch.event
    at = (dispatch.published_at or dispatch.created_at).isoformat(timespec="milliseconds")
    line = (
        f"{at}  {dispatch.state:<9}  {event.type:<18}  "
        f"{event.aggregate_type}/{event.aggregate_id} #{event.seq}  {event.pk}"
    )
    if dispatch.attempts:
        line += f"  attempts={dispatch.attempts}"
    # What a broker answered is shown without its line breaks and other control characters.
    return f"{line}  {dispatch.last_error!r}" if dispatch.last_error else line
