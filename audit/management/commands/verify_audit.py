"""Verify the audit's chain, and print its end to keep elsewhere. The console shows what was found.

manage.py verify_audit                      walk it; exit code 1 and the place if it breaks
manage.py verify_audit --anchor             only print the end: keep it out of this database
manage.py verify_audit --kept 17:3f0c..     walk it; the kept end must still be in it
"""

import argparse
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit import verify
from audit.models import Verification

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py verify_audit`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("--anchor", action="store_true", help="print the end and nothing else")
        parser.add_argument(
            "--kept", type=verify.read_anchor, help="an end that was printed before"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        """Walk, or print."""
        if options["anchor"]:
            self.stdout.write(str(verify.last()))
            return
        walked = verify.walk(kept=options["kept"])
        Verification.objects.create(seq=walked.last.seq, broken=walked.broken)
        if walked.broken:
            raise CommandError(f"The audit is broken at {walked.broken}. Before it all is right.")
        self.stdout.write(f"{walked.entries} entries, an unbroken chain. Its end: {walked.last}")
