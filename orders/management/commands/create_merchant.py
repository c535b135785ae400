"""Create a merchant: ``manage.py create_merchant shop --name "The Shop"``."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from audit import chain
from audit.actors import command_line
from orders.models import Merchant


class Command(BaseCommand):
    """Create a merchant, the tenant that orders and accounts belong to."""

    help = "Create a merchant, the tenant that orders and provider accounts belong to."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """See --help."""
        parser.add_argument("code", help="short name for addresses and events: a-z A-Z 0-9 _ -")
        parser.add_argument("--name", default="", help="what people call it (default: the code)")

    def handle(self, *, code: str, name: str, **_: Any) -> None:
        """Create it, or say why not."""
        merchant = Merchant(code=code, name=name or code)
        try:
            merchant.full_clean()
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        with transaction.atomic(durable=True):
            merchant.save()
            chain.record(
                by=command_line(),
                action="merchant.added",
                object_type="merchant",
                object_id=merchant.pk,
                after={"code": code, "name": merchant.name},
            )
        self.stdout.write(f"Merchant {code} created. Next: manage.py create_api_key {code}")
