"""The idempotency keys' `ask_again`, entered in the audit."""

from typing import Any

from django.db import transaction

from audit import chain
from audit.actors import command_line
from idempotency.management.commands import ask_again


class Command(ask_again.Command):
    """As the original, with its entry or not at all."""

    @transaction.atomic(durable=True)
    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and keep that it was done."""
        super().handle(*args, **options)
        chain.record(
            by=command_line(),
            action="key.asked_again",
            object_type="record",
            object_id=options["record_id"],
        )
