r"""Create a provider account and its callback endpoint.

The secret is read from standard input, so that it stands in no shell history:

    printf %s "$SECRET" | manage.py create_account acme stripe main --account-no acct_1 --live

A provider that needs several keys is given each from a file:

    manage.py create_account acme wechatpay_v3 main --account-no 1900000001 --live \
        --key signature:PUB_KEY_ID_0114..:public_key.pem --key decryption:2026:apiv3_key.txt
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError
from django.utils import timezone

from orders.models import Merchant
from payments.management.key_arguments import (
    add_material_arguments,
    key_in_file,
    one_key,
    write_private,
)
from payments.opening import open_account
from payments.providers import registry
from payments.providers.port import Key, Misconfigured
from payments.providers.samples import demo_keys

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py create_account`."""

    help = HELP

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
        parser.add_argument(
            "--confirm",
            action=argparse.BooleanOptionalAction,
            help="whether a payment waits for the provider's API; else the provider's default",
        )
        parser.add_argument(
            "--key",
            action="append",
            default=[],
            type=key_in_file,
            metavar="PURPOSE:KEY_ID:FILE",
            help="a key in a file; may be repeated; nothing is then read from standard input",
        )
        parser.add_argument(
            "--demo-keys",
            type=Path,
            metavar="FILE",
            help="with --test: make a key pair, and write the private key for send_callback",
        )
        parser.add_argument("--key-id", default="first", help="how deliveries name a single key")
        add_material_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Create the account with its keys."""
        merchant = Merchant.objects.filter(code=options["merchant"]).first()
        if merchant is None:
            raise CommandError(f"There is no merchant {options['merchant']!r}: create_merchant.")
        pair = _new_pair(options) if options["demo_keys"] else None
        try:
            account = open_account(
                merchant=merchant,
                provider_name=options["provider"],
                name=options["name"],
                account_no=options["account_no"],
                live=options["live"],
                settings=_settings(options["settings_file"]),
                keys=pair.keys if pair else _keys(options),
                confirm=options["confirm"],
            )
        except Misconfigured as error:
            raise CommandError(str(error)) from error
        except IntegrityError as error:
            raise CommandError(
                "This endpoint, or this account in this mode, exists already."
            ) from error
        if pair:
            write_private(options["demo_keys"], pair.private_pem)
        self.stdout.write(f"Callbacks go to {settings.PUBLIC_URL}/callbacks/{account.endpoint}")


def _keys(options: Mapping[str, Any]) -> Sequence[Key]:
    """Those of --key, else one; none where the provider needs none and none was described."""
    keys: list[Key] = list(options["key"])
    needs_one = any(fact.needed for fact in registry.PROVIDERS[options["provider"]].facts.keys)
    if options["key_file"] or options["purpose"] or (needs_one and not keys):
        keys.append(one_key(options["provider"], options))
    return keys


def _new_pair(options: Mapping[str, Any]) -> demo_keys.DemoKeys:
    known = ", ".join(demo_keys.PROVIDERS)
    if options["live"] or options["provider"] not in demo_keys.PROVIDERS:
        raise CommandError(f"--demo-keys is for --test accounts of {known}.")
    if options["demo_keys"].exists():
        raise CommandError(f"{options['demo_keys']} exists already.")
    return demo_keys.demo_keys(options["provider"], now=timezone.now())


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
