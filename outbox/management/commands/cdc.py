"""`manage.py cdc`: change data capture of the events, and the slots that hold back the log."""

import argparse
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError

from outbox.cdc import InUse, NotLogical, drop, setup
from outbox.slots import problems, slots


class Command(BaseCommand):
    """Makes, shows or drops the publication and the slot that docs/cdc.md speaks of."""

    help = "Change data capture: make publication and slot, show every slot, or drop both again."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Which of the three."""
        parser.add_argument("what", choices=["setup", "status", "drop"])
        parser.add_argument(
            "--force", action="store_true", help="drop the slot although events in it are unread"
        )

    def handle(self, *_args: Any, what: str, force: bool, **_options: Any) -> None:
        """Do it; status ends in an error if somebody must look."""
        try:
            match what:
                case "setup":
                    self._tell("made", setup())
                case "drop":
                    self._tell("dropped", drop(force=force))
                case _:
                    self._status()
        except (NotLogical, InUse) as error:
            raise CommandError(str(error)) from error
        except ProgrammingError as error:
            # A role without the right to do so: PostgreSQL says which.
            raise CommandError(f"The database refuses: {error}") from error

    def _tell(self, verb: str, names: list[str]) -> None:
        self.stdout.write("\n".join(f"{name}: {verb}" for name in names) or "nothing to do")

    def _status(self) -> None:
        found = slots()
        if not found:
            self.stdout.write(f"RELAY is {settings.RELAY}. The server has no replication slot.")
        for slot in found:
            state = "read now" if slot.active else "not read"
            self.stdout.write(
                f"{slot.name}  {slot.plugin}  {state}  {slot.wal_status}  "
                f"holds back {slot.retained_bytes} bytes"
            )
        if wrong := problems():
            raise CommandError("\n".join(f"{each.slot} {each.reason}" for each in wrong))
