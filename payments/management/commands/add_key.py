"""Give a provider account one more key, to rotate its secret without a gap.

The new one first; when the provider has switched over, the end of the old one:

    printf %s "$NEW" | manage.py add_key stripe/main --key-id 2026-11
    manage.py add_key stripe/main --retire first --not-after 2026-12-07T00:00:00Z
"""

import argparse
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from payments.key_changes import add_key, retire_key
from payments.management.key_arguments import add_material_arguments, one_key
from payments.models import ProviderAccount
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Misconfigured
from payments.vault import Undecryptable

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py add_key`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("endpoint", help="<provider>/<name>")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--key-id", help="how deliveries will name the new key")
        what.add_argument("--retire", metavar="KEY_ID", help="end an old key's validity instead")
        parser.add_argument("--not-after", type=parse_datetime, help="RFC 3339, for --retire")
        add_material_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Add or retire."""
        provider, _, name = options["endpoint"].partition("/")
        account = ProviderAccount.objects.filter(provider=provider, name=name).first()
        if account is None:
            raise CommandError(f"There is no account {options['endpoint']!r}.")
        if options["retire"]:
            self._retire(account, options)
            return
        try:
            key = one_key(provider, options)
            add_key(account, key, now=timezone.now())
        except (Misconfigured, Undecryptable) as error:
            raise CommandError(str(error)) from error
        except IntegrityError as error:
            raise CommandError(f"Key {options['key_id']!r} exists already.") from error
        uses = "verifies with" if key.purpose == KEY_PURPOSE else f"has, as {key.purpose},"
        self.stdout.write(f"{account} now also {uses} key {key.key_id}.")

    def _retire(self, account: ProviderAccount, options: dict[str, Any]) -> None:
        end = options["not_after"]
        if end is None or end.tzinfo is None:
            raise CommandError("--retire needs --not-after with a zone: 2026-12-07T00:00:00Z")
        key_id, purpose = options["retire"], options["purpose"] or ""
        if not retire_key(account, key_id, purpose=purpose, not_after=end):
            raise CommandError(f"{account} has no key {options['retire']!r}.")
        self.stdout.write(f"Key {options['retire']} of {account} ends at {end.isoformat()}.")
        others = account.keys.exclude(key_id=options["retire"]).filter(not_after=None)
        if not others.exclude(last_used_at=None).exists():
            self.stdout.write("Warning: no other key has verified anything yet; see `keys`.")
