"""Keep the console's Chinese (config/locale) in step with what its code says.

manage.py messages --write    add what is new without words, drop what is gone, compile
manage.py messages --check    fail if anything is missing, or not compiled
manage.py messages --left     list what looks readable and is not marked for translation
"""

import argparse
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py messages`; it needs the packages for development."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        what = parser.add_mutually_exclusive_group(required=True)
        for name in ("write", "check", "left"):
            what.add_argument(f"--{name}", action="store_true")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Write, check or list."""
        from config.translations import catalog, wanted  # noqa: PLC0415 - Babel is for development

        if options["left"]:
            for place, line, text in wanted.left():
                self.stdout.write(f"{place}:{line}: {text}")
            return
        fresh = catalog.updated(catalog.read())
        if options["write"]:
            catalog.PO.write_bytes(catalog.po_bytes(fresh))
            catalog.MO.write_bytes(catalog.mo_bytes(fresh))
        problems = [
            *(f"no words yet: {text}" for text in catalog.untranslated(fresh)),
            *(f"other placeholders: {text}" for text in catalog.misnamed(fresh)),
        ]
        if catalog.PO.read_bytes() != catalog.po_bytes(fresh):
            problems.append("config/locale is not what the code says: manage.py messages --write")
        if catalog.MO.read_bytes() != catalog.mo_bytes(fresh):
            problems.append("config/locale is not compiled: manage.py messages --write")
        if problems:
            raise CommandError("\n".join(problems))
