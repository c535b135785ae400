"""How commands say who decides: whoever has this shell answers for the name that he gives."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from audit.actors import shell
from payments.conflicts.people import Person, person


def add_who_argument(parser: CommandParser) -> None:
    """The account that decides."""
    parser.add_argument("--as", dest="who", required=True, metavar="USER", help="whose decision")


def who(options: dict[str, Any]) -> Person:
    """The person behind --as; the audit also keeps who sits at the command line."""
    user = User.objects.filter(username=options["who"], is_active=True).first()
    if user is None:
        raise CommandError(f"There is no active user {options['who']!r}.")
    return person(user, origin=shell())
