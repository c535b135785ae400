"""Print docs/providers.md as the adapters have it, or write it."""

from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from config import provider_page

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py providers [--write]`."""

    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("--write", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print or write."""
        if options["write"]:
            path = settings.BASE_DIR / "docs" / "providers.md"
            path.write_text(provider_page.document())
        else:
            self.stdout.write(provider_page.document())
