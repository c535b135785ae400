"""How long a repeat waits for the one that is running, and how many of a process may wait.

Work in one transaction takes milliseconds, and its answer is better than "still running". But a
key that comes in a storm must not occupy a server's threads by waiting: a few wait, without lock
or transaction, and all others are told at once.
"""

import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

PAUSES_SECONDS: Final = (0.005, 0.01, 0.02, 0.04, 0.08)
#: Half of the threads that `manage.py up` gives to each process of the web server.
WAITING_MAX: Final = 2

_places = threading.BoundedSemaphore(WAITING_MAX)

T = TypeVar("T")


def ask_repeatedly(ask: Callable[[], T | None]) -> T | None:
    """What `ask` finds before the patience ends; None at once if enough others wait."""
    if not _places.acquire(blocking=False):
        return None
    try:
        for pause in PAUSES_SECONDS:
            time.sleep(pause)
            found = ask()
            if found is not None:
                return found
    finally:
        _places.release()
    return None
