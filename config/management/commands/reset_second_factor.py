"""Take away somebody's second factor, where no administrator can do it in the console.

manage.py reset_second_factor anna --why "telephone lost, called back on her known number"
"""

import argparse
from typing import Any, Final

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from audit import chain
from audit.actors import command_line
from config.access import second_factor

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py reset_second_factor`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the example of the help as it is written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say whose, and why."""
        parser.add_argument("username")
        parser.add_argument("--why", required=True)

    @transaction.atomic
    def handle(self, *_args: Any, **options: Any) -> None:
        """Remove it, and enter that in the audit."""
        user = User.objects.filter(username=options["username"]).first()
        if user is None or not second_factor.remove(user):
            raise CommandError(f"{options['username']} has no second factor. Nothing was changed.")
        chain.record(
            by=command_line(),
            action="user.second_factor_reset",
            object_type="user",
            object_id=user.pk,
            why=options["why"],
        )
        self.stdout.write(f"{user.get_username()} logs in with the password alone until a new one.")
