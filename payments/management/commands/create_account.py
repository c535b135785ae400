"""Create a provider account and its callback endpoint.

The secret is read from standard input, so that it stands in no shell history:

    printf %s "$SECRET" | manage.py create_account acme stripe main --account-no acct_1 --live
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from orders.models import Merchant
from payments.accounts import open_account
from payments.providers import registry
from payments.providers.port import Misconfigured


class Command(BaseCommand):
    """`manage.py create_account`."""

    help = __doc__

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the example of the help as it is written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("merchant", help="the merchant's code")
        parser.add_argument("provider", choices=registry.names())
        parser.add_argument("name", help="the last part of the callback's address")
        parser.add_argument("--account-no", required=True, help="the provider's own account number")
        mode = parser.add_mutually_exclusive_group(required=True)
        mode.add_argument("--live", action="store_true", dest="live")
        mode.add_argument("--test", action="store_false", dest="live")
        parser.add_argument("--settings-file", type=Path, help="JSON, for example of `custom`")
        parser.add_argument("--key-id", default="first", help="how deliveries name this key")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Create the account with its first key."""
        merchant = Merchant.objects.filter(code=options["merchant"]).first()
        if merchant is None:
            raise CommandError(f"There is no merchant {options['merchant']!r}: create_merchant.")
        try:
            account = open_account(
                merchant=merchant,
                provider_name=options["provider"],
                name=options["name"],
                account_no=options["account_no"],
                live=options["live"],
                settings=_settings(options["settings_file"]),
                secret=read_secret(),
                key_id=options["key_id"],
            )
        except Misconfigured as error:
            raise CommandError(str(error)) from error
        except IntegrityError as error:
            raise CommandError(
                "This endpoint, or this account in this mode, exists already."
            ) from error
        self.stdout.write(f"Callbacks go to {settings.PUBLIC_URL}/callbacks/{account.endpoint}")


def read_secret() -> bytes:
    """The secret on standard input, without the line break that `echo` adds."""
    if sys.stdin.isatty():
        sys.stderr.write("Secret, then Ctrl-D: ")
    return sys.stdin.buffer.read().rstrip(b"\r\n")


def _settings(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CommandError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise CommandError(f"{path} is not a JSON object.")
    return content
