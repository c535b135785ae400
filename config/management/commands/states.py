"""Print docs/states.md as the code has it, or write it."""

from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from config import states

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py states [--write]`."""

    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("--write", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print or write."""
        if options["write"]:
            path = settings.BASE_DIR / "docs" / "states.md"
            path.write_text(states.document())
        else:
            self.stdout.write(states.document())
