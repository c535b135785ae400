"""`manage.py rebuild_totals --from 2026-11-01`: count the daily totals anew."""

import argparse
from datetime import date
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from orders.totals import rebuild


class Command(BaseCommand):
    """Replaces the totals of these days by what the events in the outbox tell."""

    help = "Count the daily totals anew from a day (UTC) on, beside consumers that run."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """From when."""
        parser.add_argument(
            "--from", dest="first", type=date.fromisoformat, required=True, help="like 2026-11-01"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Count, and say what came of it."""
        try:
            rebuilt = rebuild.rebuild(options["first"])
        except (rebuild.EventsGone, rebuild.UnreadableEvent) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Counted {rebuilt.events} events from {options['first']} on into "
            f"{rebuilt.totals} daily totals."
        )
