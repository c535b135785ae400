r"""Create a provider account and its callback endpoint.

The secret is read from standard input, so that it stands in no shell history:

    printf %s "$SECRET" | manage.py create_account acme stripe main --account-no acct_1 --live

A provider that needs several keys is given each from a file:

    manage.py create_account acme wechatpay_v3 main --account-no 1900000001 --live \
        --key signature:PUB_KEY_ID_0114..:public_key.pem --key decryption:2026:apiv3_key.txt
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from orders.models import Merchant
from payments.opening import open_account
from payments.providers import registry
from payments.providers.port import Key, Misconfigured


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
        parser.add_argument("--key-id", default="first", help="how deliveries name a single key")
        add_material_arguments(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        """Create the account with its keys."""
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
                keys=_keys(options),
                confirm=options["confirm"],
            )
        except Misconfigured as error:
            raise CommandError(str(error)) from error
        except IntegrityError as error:
            raise CommandError(
                "This endpoint, or this account in this mode, exists already."
            ) from error
        self.stdout.write(f"Callbacks go to {settings.PUBLIC_URL}/callbacks/{account.endpoint}")


def add_material_arguments(parser: CommandParser) -> None:
    """What one key is for, and where it stands."""
    parser.add_argument("--purpose", help="what the key is for, where a provider has several kinds")
    parser.add_argument("--key-file", type=Path, help="where the key is, else standard input")


def key_in_file(written: str) -> Key:
    """The key that ``PURPOSE:KEY_ID:FILE`` names."""
    purpose, _, rest = written.partition(":")
    key_id, _, path = rest.partition(":")
    if not (purpose and key_id and path):
        raise argparse.ArgumentTypeError(f"{written!r} is not PURPOSE:KEY_ID:FILE")
    return Key(key_id, purpose, read_material(Path(path)))


def one_key(provider_name: str, options: Mapping[str, Any]) -> Key:
    """The key that the arguments describe. Raises Misconfigured if its purpose is not clear."""
    provider = registry.find(provider_name)
    purposes = [fact.purpose for fact in provider.facts.keys] if provider else []
    purpose = options["purpose"] or (purposes[0] if len(purposes) == 1 else "")
    if not purpose:
        raise Misconfigured(f"say what the key is for, by --purpose: {', '.join(purposes)}")
    return Key(options["key_id"], purpose, read_material(options["key_file"]))


def read_material(path: Path | None) -> bytes:
    """A file's content, or standard input's, without the line break that `echo` adds."""
    if path is None:
        if sys.stdin.isatty():
            sys.stderr.write("Secret, then Ctrl-D: ")
        return sys.stdin.buffer.read().rstrip(b"\r\n")
    try:
        return path.read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def _keys(options: Mapping[str, Any]) -> list[Key]:
    """Those of --key, else one; none where the provider needs none and none was described."""
    keys: list[Key] = list(options["key"])
    needs_one = any(fact.needed for fact in registry.PROVIDERS[options["provider"]].facts.keys)
    if options["key_file"] or options["purpose"] or (needs_one and not keys):
        keys.append(one_key(options["provider"], options))
    return keys


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
