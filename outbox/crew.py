"""Threads that take jobs and keep their database connections between them."""

import threading
from collections.abc import Callable
from queue import SimpleQueue

import structlog
from django.db import connection

logger = structlog.stdlib.get_logger(__name__)


class Crew:
    """At most `size` threads, each started when it is first needed."""

    def __init__(self, name: str, size: int) -> None:
        self._name = name
        self._size = size
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._idle = 0
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def take(self, job: Callable[[], None]) -> bool:
        """Do this at once in a thread; False if all of them are busy."""
        with self._lock:
            if self._idle:
                self._idle -= 1
            elif len(self._threads) < self._size:
                # A daemon: what it holds at the end of the process is covered by leases.
                thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._threads.append(thread)
                thread.start()
            else:
                return False
        self._jobs.put(job)
        return True

    def dismiss(self, *, seconds_max: float) -> None:
        """Let all end after what they are doing, and wait for them so long in all."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(seconds_max / len(self._threads))
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._idle = 0

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:
                logger.exception("relay_thread_failed")
                connection.close()
            with self._lock:
                self._idle += 1
        connection.close()
