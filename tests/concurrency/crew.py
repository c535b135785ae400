"""Runners that stay for many races, each with a database connection that stays open too."""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Protocol

from django.db import connection, connections

from tests.concurrency.nursery import Nursery, answer
from tests.concurrency.tally import tally

_WAIT_SECONDS = 60

Call = Callable[[], Any]


class Crew(Protocol):
    """A number of runners, as threads or as processes."""

    size: int

    def race(self, *calls: Call, spread: float = 0) -> list[Any]:
        """Run the calls at once, each begun within `spread` seconds; their results in order."""

    def close(self) -> None:
        """Send the runners home, with their connections."""


class Threads:
    """Runners that share this process."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._random = Random(size)  # noqa: S311 - no secret
        self._pool = ThreadPoolExecutor(size)

    def race(self, *calls: Call, spread: float = 0) -> list[Any]:
        tally["races of threads"] += 1
        return self._run(calls, spread)

    def _run(self, calls: Sequence[Call], spread: float = 0) -> list[Any]:
        barrier = threading.Barrier(len(calls))

        def run(call: Call, pause: float) -> Any:
            try:
                connection.ensure_connection()
                barrier.wait(_WAIT_SECONDS)
            except BaseException:
                barrier.abort()
                raise
            time.sleep(pause)
            return call()

        pauses = _pauses(self._random, len(calls), spread)
        running = [self._pool.submit(run, *pair) for pair in zip(calls, pauses, strict=True)]
        return [future.result() for future in running]

    def close(self) -> None:
        self._run([hang_up] * self.size)
        self._pool.shutdown()


class Processes:
    """Runners that share nothing but the database."""

    def __init__(self, nursery: Nursery, size: int) -> None:
        self.size = size
        self._random = Random(size)  # noqa: S311 - no secret
        self._lines = [nursery.hire() for _ in range(size)]

    def race(self, *calls: Call, spread: float = 0) -> list[Any]:
        tally["races of processes"] += 1
        return self._run(calls, spread)

    def _run(self, calls: Sequence[Call], spread: float = 0) -> list[Any]:
        lines = self._lines[: len(calls)]
        for line, call in zip(lines, calls, strict=True):
            line.send(call)
        for line, pause in zip(lines, _pauses(self._random, len(calls), spread), strict=True):
            line.send(pause)
        return [answer(line) for line in lines]

    def close(self) -> None:
        self._run([hang_up] * self.size)
        for line in self._lines:
            line.close()


def hang_up() -> None:
    """Close this runner's connection to the database."""
    connections.close_all()


def _pauses(random: Random, number: int, spread: float) -> Sequence[float]:
    return [random.uniform(0, spread) if spread else 0 for _ in range(number)]
