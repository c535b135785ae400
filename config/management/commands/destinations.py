"""The outbox's `destinations`, entered in the audit."""

from typing import Any, Final

from django.db import transaction

from audit import chain
from audit.actors import command_line
from outbox.management.commands import destinations
from outbox.models import Destination

#: These have transactions of their own: of them the attempt is kept, whatever came of it.
_ATTEMPTED: Final = ("add", "fill")


class Command(destinations.Command):
    """As the outbox's; a move and its entry are one transaction."""

    def act(self, options: dict[str, Any]) -> None:
        """Keep what is changed, under the names that the console gives to the same deeds."""
        if options["action"] == "list":
            super().act(options)
        elif options["action"] in _ATTEMPTED:
            # Without the configuration, which may have to be refused for what is in it.
            named = {name: options[name] for name in ("kind", "tenant", "types") if name in options}
            since = {"since": options["since"]} if options["since"] else {}
            _record(options, after=named | since)
            super().act(options)
        else:
            self._move(options)

    @transaction.atomic
    def _move(self, options: dict[str, Any]) -> None:
        row = Destination.objects.filter(code=options["code"])
        before = row.values("state").first()
        super().act(options)
        _record(options, before=before, after=row.values("state").get())


def _record(options: dict[str, Any], **what: Any) -> None:
    chain.record(
        by=command_line(),
        action=f"destination.{options['action']}",
        object_type="destination",
        object_id=options["code"],
        why=options.get("reason") or "",
        **what,
    )
