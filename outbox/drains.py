"""Keep all destinations busy at once: each drains in a thread of its own and waits for no other."""

import random
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import structlog
from django.db import DatabaseError, InterfaceError, connection

from outbox import due, models
from outbox.crew import Crew
from outbox.destinations.choice import Misconfigured, resolve
from outbox.destinations.port import Destination
from outbox.relay import Figures, drain

#: How many drain at once. Those that failed or were slow the last time share a few threads of
#: their own, so that they cannot take all.
SOUND_MAX: Final = 8
SUSPECT_MAX: Final = 2
SLOW_SECONDS_PER_EVENT: Final = 1.0

#: After this long another destination may have the thread.
TURN_SECONDS: Final = 2.0
POLL_SECONDS: Final = 0.1
#: The look for work may not take more than this part of the time, however much is waiting.
POLL_PART: Final = 0.1
#: What waits behind a dead event looks like work, and is none.
NOTHING_SECONDS: Final = 0.3
FAILED_SECONDS_FIRST: Final = 1.0
FAILED_SECONDS_MAX: Final = 5.0
#: A drain ends by then: a turn, a batch, and the destination's last timeout.
CLOSE_SECONDS_MAX: Final = 25.0

logger = structlog.stdlib.get_logger(__name__)
_random = random.SystemRandom()


@dataclass
class _Line:
    """What this process knows of one destination."""

    opened: Destination | None = None
    opened_as: tuple[Any, ...] = ()
    busy: bool = False
    began_at: float = 0.0
    not_before: float = 0.0
    failures: int = 0
    slow: bool = False


@dataclass
class Drains:
    """The relays of one process. One thread calls `run`; `close` ends everything."""

    open_destination: Callable[[models.Destination], Destination] = resolve
    figures: Figures = field(default_factory=Figures)

    def __post_init__(self) -> None:
        self._lines: dict[int, _Line] = {}
        self._sound = Crew("relay", SOUND_MAX)
        self._suspect = Crew("relay-suspect", SUSPECT_MAX)
        self._lock = threading.Lock()
        self._ended = threading.Event()

    def run(
        self,
        *,
        seconds_max: float,
        lingers: bool,
        stopped: Callable[[], bool] = lambda: False,
        only: str = "",
    ) -> None:
        """Relay for so long; a run that does not linger ends when nothing is left to do.

        `only` is the code of a destination. Drains that have begun go on after the run.
        """
        stop_at = time.monotonic() + seconds_max

        def over() -> bool:
            return stopped() or time.monotonic() >= stop_at

        while True:
            self._ended.clear()
            looked_at = time.monotonic()
            found = due.destinations(only)
            looked_for = time.monotonic() - looked_at
            self._start(found, over)
            if not lingers and not any(line.busy for line in self._lines.values()):
                return
            if over():
                return
            self._ended.wait(max(POLL_SECONDS, looked_for / POLL_PART))

    def busy(self) -> bool:
        """Whether any drain is still going on."""
        return any(line.busy for line in self._lines.values())

    def close(self) -> None:
        """Wait for the drains to end, and let go of all connections."""
        for crew in (self._sound, self._suspect):
            crew.dismiss(seconds_max=CLOSE_SECONDS_MAX)
        for line in self._lines.values():
            if line.opened is not None:
                line.opened.close()
        self._lines.clear()

    def _start(self, found: Iterable[models.Destination], over: Callable[[], bool]) -> None:
        now = time.monotonic()
        lines = [(self._lines.setdefault(row.pk, _Line()), row) for row in found]
        # Whoever had no turn for longest comes first.
        for line, row in sorted(lines, key=lambda pair: pair[0].began_at):
            if line.busy or now < line.not_before:
                continue
            crew = self._suspect if line.failures or line.slow else self._sound
            line.busy, line.began_at = True, now
            if not crew.take(partial(self._drain, line, row, over)):
                line.busy = False

    def _drain(self, line: _Line, row: models.Destination, over: Callable[[], bool]) -> None:
        began = time.monotonic()
        figures = Figures(failure="it broke down")
        try:
            destination = self._opened(line, row)
            figures = drain(destination, row.pk, seconds_max=TURN_SECONDS, stopped=over)
        except Misconfigured as error:
            logger.error(  # noqa: TRY400 - the message says it all
                "destination_misconfigured", destination=row.code, reason=str(error)
            )
            figures = Figures(failure=str(error))
        except (DatabaseError, InterfaceError) as error:
            logger.warning("relay_waits_for_database", reason=type(error).__name__)
            connection.close()
        finally:
            self._judge(line, figures, seconds=time.monotonic() - began)

    def _opened(self, line: _Line, row: models.Destination) -> Destination:
        wanted = (row.kind, row.config)
        if line.opened is not None and line.opened_as != wanted:
            line.opened.close()
            line.opened = None
        if line.opened is None:
            line.opened, line.opened_as = self.open_destination(row), wanted
        return line.opened

    def _judge(self, line: _Line, figures: Figures, *, seconds: float) -> None:
        now = time.monotonic()
        if figures.failure:
            line.failures += 1
            pause = min(FAILED_SECONDS_MAX, FAILED_SECONDS_FIRST * 2 ** min(line.failures - 1, 10))
            line.not_before = now + pause * _random.uniform(0.5, 1.0)
        else:
            line.failures = 0
            line.not_before = now if figures.claimed else now + NOTHING_SECONDS
        line.slow = seconds > SLOW_SECONDS_PER_EVENT * max(figures.claimed, 1)
        with self._lock:
            self.figures.add(figures)
        line.busy = False
        self._ended.set()
