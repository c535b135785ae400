"""`manage.py relay`: publish events without a Celery worker."""

import signal
import threading
from typing import Any

import structlog
from django.core.management.base import BaseCommand
from django.db import DatabaseError, InterfaceError, connection

from outbox.destinations.choice import chosen
from outbox.destinations.port import Destination
from outbox.relay import drain

INTERVAL_SECONDS = 0.5
PAUSE_SECONDS = 2.0
DRAIN_SECONDS_MAX = 10.0

logger = structlog.stdlib.get_logger(__name__)


class Command(BaseCommand):
    """Relays until SIGTERM or Ctrl-C; it may run beside workers and beside more of itself."""

    help = "Publish events in a process of its own, for an installation whose broker is apart."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Relay, wait, relay."""
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        destination = chosen()
        while not stopped.is_set():
            stopped.wait(INTERVAL_SECONDS if _relay(destination) else PAUSE_SECONDS)
        destination.close()


def _relay(destination: Destination) -> bool:
    """Whether all went well; a database that is away comes back like a broker does."""
    try:
        return not drain(destination, seconds_max=DRAIN_SECONDS_MAX).failure
    except (DatabaseError, InterfaceError) as error:
        logger.warning("relay_waits_for_database", reason=type(error).__name__)
        connection.close()
        return False
