"""Say anew whether an account's payments wait for the provider's API before they move anything.

    manage.py set_confirm stripe/main --confirm
    manage.py set_confirm paypal/main --no-confirm
    manage.py set_confirm paypal/main --default

Callbacks that come from now on obey it; what waits already goes on waiting. The change is logged.
"""

import argparse
import getpass
from typing import Any, Final

import structlog
from django.core.management.base import BaseCommand, CommandError, CommandParser

from payments.models import ProviderAccount
from payments.opening import set_confirm
from payments.providers.port import Misconfigured

log = structlog.get_logger(__name__)

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""
_WORDS: Final = {True: "wait", False: "do not wait", None: "do as the provider's default says"}


class Command(BaseCommand):
    """`manage.py set_confirm`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("endpoint", help="<provider>/<name>")
        what = parser.add_mutually_exclusive_group(required=True)
        for option, confirm in (("--confirm", True), ("--no-confirm", False), ("--default", None)):
            what.add_argument(option, action="store_const", const=(confirm,), dest="wanted")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Change it, and write down who did."""
        provider, _, name = options["endpoint"].partition("/")
        account = ProviderAccount.objects.filter(provider=provider, name=name).first()
        if account is None:
            raise CommandError(f"There is no account {options['endpoint']!r}.")
        before, (confirm,) = account.confirm, options["wanted"]
        try:
            set_confirm(account, confirm)
        except Misconfigured as error:
            raise CommandError(str(error)) from error
        log.info(
            "account changed",
            endpoint=account.endpoint,
            field="confirm",
            before=before,
            after=confirm,
            by=getpass.getuser(),
        )
        self.stdout.write(f"Payments of {account} now {_WORDS[confirm]}.")
