"""Encrypt every stored provider key, webhook secret and second factor with the first of VAULT_KEYS.

Run it after putting a new key first; then the old one may be dropped from VAULT_KEYS.
"""

from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from audit import chain
from audit.actors import command_line
from config.access import second_factor
from outbox.webhooks import secrets
from payments import vault
from payments.models import AccountKey
from payments.notifications import recipients

# Inside the class, __doc__ would be the class's own.
HELP: Final = __doc__ or ""


class Command(BaseCommand):
    """`manage.py rekey`: all keys or none."""

    help = HELP

    @transaction.atomic(durable=True)
    def handle(self, *_args: Any, **_options: Any) -> None:
        """Re-encrypt, and say how many."""
        count = 0
        for key in AccountKey.objects.select_for_update(no_key=True).order_by("id").iterator():
            try:
                key.material = vault.reseal(bytes(key.material))
            except vault.Undecryptable as error:
                raise CommandError(
                    f"Key {key.key_id!r} of account {key.account_id}: {error}"
                ) from error
            key.save(update_fields=["material"])
            count += 1
        try:
            count += secrets.reseal_all() + second_factor.reseal_all()
        except vault.Undecryptable as error:
            raise CommandError(
                f"A secret of a webhook endpoint or a second factor: {error}"
            ) from error
        try:
            count += recipients.reseal_all()
        except vault.Undecryptable as error:
            raise CommandError(f"Where somebody is told of conflicts: {error}") from error
        chain.record(
            by=command_line(),
            action="keys.resealed",
            object_type="vault",
            object_id="all",
            after={"keys": count},
        )
        self.stdout.write(f"{count} keys are encrypted with the newest vault key.")
