"""The outbox's `webhooks`, entered in the audit."""

from typing import Any

from audit import chain
from audit.actors import command_line
from outbox.management.commands import webhooks


class Command(webhooks.Command):
    """As the outbox's; what is changed and its entry are one transaction."""

    def changed(self, action: str, about: str, **what: Any) -> None:
        """Under the names that the console gives to the same deeds."""
        chain.record(
            by=command_line(),
            action=action,
            object_type=action.partition(".")[0],
            object_id=about,
            after=what,
        )
