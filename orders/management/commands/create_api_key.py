"""Make an API key for a merchant: ``manage.py create_api_key shop --label checkout``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from audit import chain
from audit.actors import command_line
from orders import api_keys
from orders.models import LABEL_LENGTH_MAX, Merchant


class Command(BaseCommand):
    """Make an API key and print it, the only time that it is shown."""

    help = "Make an API key for a merchant and print it, the only time that it is shown."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """See --help."""
        parser.add_argument("merchant", help="the merchant's code")
        parser.add_argument("--label", default="", help="who uses the key")

    def handle(self, *, merchant: str, label: str, **_: Any) -> None:
        """Print the token alone on standard output, so that a script can keep it."""
        owner = Merchant.objects.filter(code=merchant).first()
        if owner is None:
            raise CommandError(f"There is no merchant {merchant!r}: manage.py create_merchant")
        if len(label) > LABEL_LENGTH_MAX:
            raise CommandError(f"A label has at most {LABEL_LENGTH_MAX} characters.")
        with transaction.atomic(durable=True):
            key, token = api_keys.create(merchant=owner, label=label)
            chain.record(
                by=command_line(),
                action="api_key.created",
                object_type="api_key",
                object_id=key.prefix,
                after={"merchant": merchant, "label": label},
            )
        self.stdout.write(token)
        self.stderr.write(
            "Keep it now: only its digest is stored. "
            f"To end it: manage.py revoke_api_key {key.prefix}"
        )
