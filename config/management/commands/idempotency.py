"""The kernel's `idempotency`, entered in the audit."""

from typing import Any, Final

from audit import chain
from audit.actors import command_line
from idempotency.management.commands import idempotency

_ACTIONS: Final = {"decide": "key.decided", "ask_again": "key.asked_again"}


class Command(idempotency.Command):
    """As the kernel's; the audit keeps the attempt, whatever came of it."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Keep first what is to be changed, and by whom."""
        if action := _ACTIONS.get(options["todo"]):
            named: dict[str, Any] = {
                name: options[name] for name in ("status", "code", "who") if name in options
            }
            chain.record(
                by=command_line(),
                action=action,
                object_type="record",
                object_id=str(options["record_id"]),
                after=named,
                why=options.get("reason", ""),
            )
        super().handle(*args, **options)
