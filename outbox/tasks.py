"""The worker's part in the relay: beat wakes it, the table says what there is to do."""

import threading
import time
from typing import Final

from celery import shared_task

from outbox.destinations.choice import chosen
from outbox.destinations.port import Destination
from outbox.relay import drain

#: Far below the time limit of a task and the visibility timeout of a broker that is a Redis.
DRAIN_SECONDS_MAX: Final = 10.0
#: While a destination is down, ticks must not fill the worker with waits for connections.
PAUSE_SECONDS: Final = 2.0


class _Held(threading.local):
    """The destination of this thread of this process, kept connected from task to task."""

    destination: Destination | None = None
    not_before: float = 0.0


_held = _Held()


@shared_task(name="outbox.relay")
def relay(**_from_newer_publishers: object) -> None:
    """Publish what waits in the outbox. Any number of these may run at once."""
    if time.monotonic() < _held.not_before:
        return
    if _held.destination is None:
        _held.destination = chosen()
    figures = drain(_held.destination, seconds_max=DRAIN_SECONDS_MAX)
    if figures.failure:
        _held.not_before = time.monotonic() + PAUSE_SECONDS
