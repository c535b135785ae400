"""The outbox's `redrive`, entered in the audit."""

from typing import Any

from audit import chain
from audit.actors import command_line
from outbox.management.commands import redrive


class Command(redrive.Command):
    """As the outbox's; the audit keeps the attempt, whatever came of it."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep it first: an event that is redriven is soon gone."""
        ids = [str(event_id) for event_id in options["event_ids"]]
        which: dict[str, Any] = {
            name: options[name] for name in ("all_dead", "destination") if name in options
        }
        chain.record(
            by=command_line(),
            action="events.redriven",
            object_type="event",
            object_id=ids[0] if len(ids) == 1 else "many",
            after={"events": ids, **which},
        )
        super().handle(*args, **options)
