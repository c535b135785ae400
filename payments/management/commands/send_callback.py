r"""Sign and send a callback as a provider would, from the account's own keys.

    manage.py send_callback --provider stripe --order A-1001 --amount 10.99 --currency EUR
    manage.py send_callback --provider adyen --order A-1001 --amount 10.99 --currency EUR \
        --event refunded --times 3 --parallel

Alipay, PayPal, UnionPay and WeChat Pay v3 sign with a private key that only they have: make a
test account with a pair of your own (create_account --test --demo-keys FILE), and give FILE
(--private-key FILE).
"""

import argparse
from pathlib import Path
from typing import Any, Final

import httpx2
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from orders.money import NotMoney, from_major
from payments import sending
from payments.accounts import Endpoint, find_endpoint
from payments.callback import Kind
from payments.models import ProviderAccount
from payments.providers import registry
from payments.providers.port import Misconfigured
from payments.providers.rsa_sign import private_key
from payments.providers.samples.occurrence import CannotTell
from payments.providers.samples.tamper import TAMPERINGS
from payments.vault import Undecryptable

EVENTS = {kind.lower().replace("_", "-"): kind for kind in Kind if kind is not Kind.IGNORED}
TIMES_MAX = 1000
REFUSALS = (Misconfigured, CannotTell, NotMoney, sending.LiveAccount)

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py send_callback`."""

    help = HELP

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the examples of the help as they are written."""
        kwargs["formatter_class"] = argparse.RawDescriptionHelpFormatter
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what can be given."""
        parser.add_argument("--provider", required=True, choices=registry.names())
        parser.add_argument("--account", default="", help="its name, where there are several")
        parser.add_argument("--order", required=True, help="the merchant's order number")
        parser.add_argument("--amount", required=True, help="in major units: 10.99")
        parser.add_argument("--currency", required=True, help="by ISO 4217: EUR")
        parser.add_argument("--event", default="paid", choices=EVENTS)
        parser.add_argument("--transaction", default="", help="else it follows from the order")
        parser.add_argument(
            "--times", type=_times, default=1, metavar="N", help=f"1 to {TIMES_MAX}"
        )
        parser.add_argument("--parallel", action="store_true", help="all of them at once")
        parser.add_argument(
            "--tamper", default="", choices=TAMPERINGS, help="spoil what was signed"
        )
        parser.add_argument("--url", help="where to send it, else the account's public address")
        parser.add_argument("--private-key", type=Path, help="a PEM file without a password")
        parser.add_argument("--live-account", action="store_true", help="really forge a payment")
        parser.add_argument("--dry-run", action="store_true", help="print it as curl, send nothing")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make, send, and show what became of it."""
        endpoint = _endpoint(options["provider"], options["account"])
        address = f"{settings.PUBLIC_URL}/callbacks/{endpoint.name}"
        url = options["url"] or address
        try:
            request = sending.signed_sample(
                endpoint,
                EVENTS[options["event"]],
                options["order"],
                from_major(options["amount"], options["currency"]),
                url=address,
                now=timezone.now(),
                txn_no=options["transaction"],
                private_key=_private_key(options["private_key"]),
                tamper=options["tamper"],
                live_account=options["live_account"],
            )
            if options["dry_run"]:
                self.stdout.write(sending.curl(request, url))
                return
            before = sending.newest_delivery_id()
            answers = sending.send(
                request, url, times=options["times"], parallel=options["parallel"]
            )
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise CommandError(f"{url}: {error}; is the service running?") from error
        except REFUSALS as error:
            raise CommandError(str(error)) from error
        for line in sending.became_of(endpoint, request, answers, after=before):
            self.stdout.write(line)


def _endpoint(provider: str, name: str) -> Endpoint:
    accounts = ProviderAccount.objects.filter(provider=provider, active=True)
    names = [name] if name else sorted(accounts.values_list("name", flat=True))
    if len(names) > 1:
        raise CommandError(f"Which one? --account {' or '.join(names)}")
    try:
        endpoint = find_endpoint(provider, names[0]) if names else None
    except Undecryptable as error:
        raise CommandError(str(error)) from error
    if endpoint is None:
        which = f"{provider}/{name}" if name else f"of {provider}"
        raise CommandError(f"There is no active account {which}: create_account.")
    return endpoint


def _times(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= TIMES_MAX:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to {TIMES_MAX}")
    return int(text)


def _private_key(path: Path | None) -> RSAPrivateKey | None:
    try:
        return private_key(path.read_bytes()) if path else None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
