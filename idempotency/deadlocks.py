"""Run a transaction again that PostgreSQL ended to free two that waited for each other."""

import random
import time
from collections.abc import Callable
from typing import Final, TypeVar

from django.db import OperationalError

#: Deadlock detected, serialization failure: the transaction left no trace and may run again.
_RETRYABLE: Final = frozenset({"40P01", "40001"})
#: Every deadlock has cost `deadlock_timeout` (one second) already: the caller waits no longer.
ATTEMPTS_MAX: Final = 3
#: Time for the other to take what it waited for. Without it, the one that was ended often takes
#: the same row again first, and the two meet in the next deadlock.
_PAUSE_SECONDS: Final = (0.02, 0.1)

_Result = TypeVar("_Result")


def retry_deadlocks(run: Callable[[], _Result]) -> _Result:
    """What `run`, which is one whole transaction, returns.

    Raises what it raises, a deadlock only after ATTEMPTS_MAX of them.
    """
    for _ in range(ATTEMPTS_MAX - 1):
        try:
            return run()
        except OperationalError as error:
            if getattr(error.__cause__, "sqlstate", None) not in _RETRYABLE:
                raise
            time.sleep(random.uniform(*_PAUSE_SECONDS))  # noqa: S311 - no secret
    return run()
