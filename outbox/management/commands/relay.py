"""`manage.py relay`: publish events without a Celery worker."""

import math
import signal
import threading
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, InterfaceError, connection

from outbox.drains import Drains
from outbox.models import Destination

PAUSE_SECONDS = 2.0

logger = structlog.stdlib.get_logger(__name__)


class Command(BaseCommand):
    """Relays until SIGTERM or Ctrl-C; it may run beside workers and beside more of itself."""

    help = "Publish events in a process of its own, for an installation whose broker is apart."

    def add_arguments(self, parser: CommandParser) -> None:
        """Where to, and for how long."""
        parser.add_argument("--destination", default="", metavar="CODE", help="only to this one")
        parser.add_argument(
            "--once", action="store_true", help="end when nothing more can go out now"
        )

    def handle(self, *_args: Any, destination: str, once: bool, **_options: Any) -> None:
        """Relay until told to stop, or until nothing is left."""
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        if destination and not Destination.objects.filter(code=destination).exists():
            raise CommandError(
                f"There is no destination {destination}; `manage.py destinations list` shows all."
            )
        drains = Drains()
        while not stopped.is_set():
            try:
                drains.run(
                    seconds_max=math.inf,
                    lingers=not once,
                    stopped=stopped.is_set,
                    only=destination,
                )
            except (DatabaseError, InterfaceError) as error:
                # A database that is away comes back like a broker does.
                logger.warning("relay_waits_for_database", reason=type(error).__name__)
                connection.close()
                stopped.wait(PAUSE_SECONDS)
            else:
                if once:
                    break
        drains.close()
        if once:
            self._report(drains)

    def _report(self, drains: Drains) -> None:
        figures = drains.figures
        self.stdout.write(
            f"{figures.published} published, {figures.refused} refused ({figures.dead} dead)."
        )
        if figures.failure:
            raise CommandError(f"Not all could go out: {figures.failure}")
