"""`manage.py events`: see what is published, and what is not."""

import argparse
import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from outbox.models import Event, EventState
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
            choices=[*EventState.values, "ALL"],
            default=EventState.PUBLISHED.value,
            help="events in this state instead of published ones",
        )
        parser.add_argument("--limit", type=_limit, default=20, help="at most so many (20)")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Show them."""
        state = None if options["state"] == "ALL" else EventState(options["state"])
        if options["follow"] and state != EventState.PUBLISHED:
            raise CommandError("--follow shows published events: leave out --state.")
        try:
            follower = Follower() if options["follow"] else None
            for event in latest(state, options["limit"]):
                self._show(event, as_json=options["json"])
            while follower is not None:
                for event in follower.new():
                    self._show(event, as_json=options["json"])
                time.sleep(POLL_SECONDS)
        except KeyboardInterrupt:
            return

    def _show(self, event: Event, *, as_json: bool) -> None:
        line = json.dumps(_fields(event)) if as_json else _line(event)
        self.stdout.write(line)
        self.stdout.flush()


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= LIMIT_MAX):
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to {LIMIT_MAX}")
    return int(text)


def _fields(event: Event) -> dict[str, Any]:
    return {
        "at": (event.published_at or event.created_at).isoformat(),
        "state": event.state,
        "type": event.type,
        "aggregate": f"{event.aggregate_type}/{event.aggregate_id}",
        "seq": event.seq,
        "id": str(event.id),
        "attempts": event.attempts,
        "last_error": event.last_error,
        "payload": event.payload,
    }


def _line(event: Event) -> str:
    at = (event.published_at or event.created_at).isoformat(timespec="milliseconds")
    line = (
        f"{at}  {event.state:<9}  {event.type:<18}  "
        f"{event.aggregate_type}/{event.aggregate_id} #{event.seq}  {event.id}"
    )
    if event.attempts:
        line += f"  attempts={event.attempts}"
    # What a broker answered is shown without its line breaks and other control characters.
    return f"{line}  {event.last_error!r}" if event.last_error else line
