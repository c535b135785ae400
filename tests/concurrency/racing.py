"""Several calls that start together, each with its own database connection."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connections

_Result = TypeVar("_Result")

_WAIT_SECONDS = 60


def race(*calls: Callable[[], _Result]) -> list[_Result]:
    """Run the calls at once; their results in the order given.

    Raises what the first of them raised, when all have ended.
    """
    barrier = threading.Barrier(len(calls))

    def at_the_signal(call: Callable[[], _Result]) -> _Result:
        try:
            # A connection made beforehand, so that the race is about the work and not about this.
            connections["default"].ensure_connection()
            barrier.wait(_WAIT_SECONDS)
            return call()
        except BaseException:
            barrier.abort()  # Nobody waits for one who cannot come.
            raise
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=len(calls)) as runners:
        running = [runners.submit(at_the_signal, call) for call in calls]
    return [future.result() for future in running]
