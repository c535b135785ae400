"""`manage.py redrive`: send dead events on their way again."""

import argparse
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError

from outbox.redrive import redrive, redrive_all


class Command(BaseCommand):
    """Puts dead events back in line, with all their attempts."""

    help = "Put dead events back in line: name their ids, or --all-dead."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Which events."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("event_ids", nargs="*", type=UUID, default=[], metavar="EVENT_ID")
        which.add_argument("--all-dead", action="store_true", help="every dead event")
        parser.add_argument(
            "--destination", default="", metavar="CODE", help="only where they are dead for this"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, and complain of events that were not dead."""
        where: str = options["destination"]
        wanted = set(options["event_ids"])
        redriven = (
            redrive_all(destination=where, by="command")
            if options["all_dead"]
            else redrive(wanted, destination=where, by="command")
        )
        for (event_id, destination), attempt in sorted(redriven.items()):
            self.stdout.write(f"{event_id} to {destination}: attempt {attempt}")
        self.stdout.write(f"{len(redriven)} events are back in line.")
        if missing := wanted - {event_id for event_id, _ in redriven}:
            ids = ", ".join(sorted(map(str, missing)))
            raise CommandError(f"Not dead, or not there at all: {ids}")
