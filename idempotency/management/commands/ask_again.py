"""`manage.py ask_again`: let recovery find out once more what became of handed-over work."""

import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from idempotency.by_hand import NotHandedOver, ask_again


class Command(BaseCommand):
    """For when the source of truth has been mended and can decide by itself now."""

    help = "Let recovery ask the source of truth again about a key that waits for a person."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Which record."""
        parser.add_argument("record_id", type=int, help="as the console shows it in the address")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Do it, or complain that nobody waits for a person there."""
        record_id = options["record_id"]
        try:
            ask_again(record_id)
        except NotHandedOver as error:
            raise CommandError(f"Record {record_id} does not wait for a person.") from error
        self.stdout.write(f"Record {record_id} is recovered when its key is used or swept next.")
