"""End an API key: ``manage.py revoke_api_key 0123456789abcdef``."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from audit import chain
from audit.actors import command_line
from orders import api_keys


class Command(BaseCommand):
    """End an API key at once and for good."""

    help = "End an API key at once and for good."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """See --help."""
        parser.add_argument("prefix", help="the part of the key between the first two underscores")

    def handle(self, *, prefix: str, **_: Any) -> None:
        """Revoke it, or say that there is none."""
        try:
            with transaction.atomic(durable=True):
                revoked = api_keys.revoke(prefix=prefix, now=timezone.now())
                chain.record(
                    by=command_line(),
                    action="api_key.revoked",
                    object_type="api_key",
                    object_id=prefix,
                    after={"was_alive": revoked},
                )
        except api_keys.NoSuchKey as error:
            raise CommandError(f"There is no API key with the prefix {prefix!r}.") from error
        state = "revoked" if revoked else "was revoked before"
        self.stdout.write(f"API key {prefix} {state}.")
