"""`manage.py relay_webhooks`: bring events to merchants' endpoints without a Celery worker."""

import signal
import threading
from typing import Any

import structlog
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, InterfaceError, connection

from outbox.webhooks.relay import from_settings

INTERVAL_SECONDS = 0.5
PAUSE_SECONDS = 2.0
DRAIN_SECONDS_MAX = 10.0

logger = structlog.stdlib.get_logger(__name__)


class Command(BaseCommand):
    """Sends until SIGTERM or Ctrl-C; it may run beside workers and beside more of itself."""

    help = "Send events to merchants' endpoints in a process of its own."

    def add_arguments(self, parser: CommandParser) -> None:
        """For how long."""
        parser.add_argument(
            "--once", action="store_true", help="end when nothing more can go out now"
        )

    def handle(self, *_args: Any, once: bool, **_options: Any) -> None:
        """Send, wait, send."""
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        relay = from_settings()
        while not stopped.is_set():
            pause = INTERVAL_SECONDS
            try:
                figures = relay.drain(seconds_max=DRAIN_SECONDS_MAX, stopped=stopped.is_set)
            except (DatabaseError, InterfaceError) as error:
                # What was in flight is sent again when its lease ends.
                logger.warning("webhooks_wait_for_database", reason=type(error).__name__)
                connection.close()
                pause = PAUSE_SECONDS
            else:
                if once:
                    told = ", ".join(f"{number} {what}" for what, number in sorted(figures.items()))
                    self.stdout.write(told or "Nothing was due.")
                    return
            stopped.wait(pause)
