"""Bring events to the merchants' endpoints: fair to all of them, and at most so many at once.

This thread claims and writes down; the others only speak HTTP and never see the database. An
endpoint is served by turns, has few messages in flight, and only one while it fails or is slow, so
that none delays another for long.
"""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Final

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection

from outbox import claims
from outbox.claims import Setback
from outbox.marking import mark
from outbox.models import DispatchState
from outbox.relay import InTransaction
from outbox.webhooks import breaker, due, errand
from outbox.webhooks.due import Due
from outbox.webhooks.errand import Errand, Run
from outbox.webhooks.exchange import Post
from outbox.webhooks.settle import settle

THREADS: Final = 16
PER_ENDPOINT: Final = 4
#: Beyond the time of an exchange by a good deal: a claim is only made when a thread is free for it.
LEASE: Final = timedelta(seconds=45)
#: An endpoint whose last answer took longer gets one message at a time.
SLOW_MILLISECONDS: Final = 2000
#: How often new work is looked for while the threads are busy.
POLL_SECONDS: Final = 0.2
#: How long an event waits that we failed to send by a fault of our own.
OUR_FAULT: Final = timedelta(minutes=1)

logger = structlog.stdlib.get_logger(__name__)


def from_settings() -> "WebhookRelay":
    """One that sends as the settings allow."""
    return WebhookRelay(Post.in_production(private=settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE))


@dataclass(frozen=True, slots=True)
class _Flight:
    """`is_doubtful`: it may well hang, and shares half of the threads with all that may."""

    errand: Errand
    until: float
    is_doubtful: bool


@dataclass(slots=True)
class WebhookRelay:
    """Any number of them may run at once. Kept from run to run, it remembers whose turn it is."""

    post: Post
    threads: int = THREADS
    per_endpoint: int = PER_ENDPOINT
    lease: timedelta = LEASE
    slow_milliseconds: int = SLOW_MILLISECONDS
    _in_flight: dict["Future[Run]", _Flight] = field(default_factory=dict)
    _turn: dict[int, int] = field(default_factory=dict)
    _turns: "count[int]" = field(default_factory=lambda: count(1))
    _slow: set[int] = field(default_factory=set)
    _due: list[Due] = field(default_factory=list)
    _look_at: float = 0.0

    def drain(
        self, *, seconds_max: float, stopped: Callable[[], bool] = lambda: False
    ) -> Counter[str]:
        """Send until nothing is left that may go out now, or time is up; counts what became of it.

        What is in flight when time is up is waited for. Raises InTransaction, and what the
        database raises: then what was in flight is sent again when its lease ends.
        """
        if connection.in_atomic_block:
            raise InTransaction("sending must not hold a transaction open")
        stop_at = time.monotonic() + seconds_max
        figures: Counter[str] = Counter()
        self._in_flight.clear()
        self._look_at = 0.0
        with ThreadPoolExecutor(self.threads, thread_name_prefix="webhooks") as pool:
            while True:
                if time.monotonic() < stop_at and not stopped():
                    self._start_more(pool)
                if not self._in_flight:
                    return figures
                done, _ = wait(self._in_flight, POLL_SECONDS, FIRST_COMPLETED)
                for future in done:
                    figures[self._finish(future)] += 1

    def _start_more(self, pool: ThreadPoolExecutor) -> None:
        if self._free() < 1:
            return
        # With many endpoints the look costs more than a claim, so it is not made for each answer.
        if time.monotonic() >= self._look_at or not self._in_flight:
            # People's wishes first, but never all the threads.
            busy = {each.destination for each in self._errands() if each.claim is None}
            until = self._until()
            for each in due.asked(batch=self._doubtful_room(), lease=self.lease, busy=busy):
                self._start(pool, _Flight(each, until, is_doubtful=True))
            self._due = due.endpoints()
            self._look_at = time.monotonic() + POLL_SECONDS
        for endpoint in sorted(self._due, key=lambda each: self._turn.get(each.pk, 0)):
            room = min(self._room_of(endpoint), self._free())
            if room < 1 or (endpoint.is_probe and not breaker.take_probe(endpoint.pk)):
                continue
            self._turn[endpoint.pk] = next(self._turns)
            until = self._until()
            held = claims.claim_heads(endpoint.pk, batch=room, lease=self.lease)
            for each in due.errands(endpoint, held):
                self._start(pool, _Flight(each, until, self._is_doubtful(endpoint)))

    def _start(self, pool: ThreadPoolExecutor, flight: _Flight) -> None:
        self._in_flight[pool.submit(errand.run, flight.errand, self.post)] = flight

    def _until(self) -> float:
        return time.monotonic() + self.lease.total_seconds()

    def _errands(self) -> list[Errand]:
        return [each.errand for each in self._in_flight.values()]

    def _free(self) -> int:
        return self.threads - len(self._in_flight)

    def _doubtful_room(self) -> int:
        taken = sum(each.is_doubtful for each in self._in_flight.values())
        return min(max(self.threads // 2, 1) - taken, self._free())

    def _is_doubtful(self, endpoint: Due) -> bool:
        return bool(endpoint.failures or endpoint.is_probe or endpoint.pk in self._slow)

    def _room_of(self, endpoint: Due) -> int:
        busy = sum(each.destination == endpoint.pk for each in self._errands())
        if self._is_doubtful(endpoint):
            return min(1 - busy, self._doubtful_room())
        return self.per_endpoint - busy

    def _finish(self, future: "Future[Run]") -> str:
        flight = self._in_flight.pop(future)
        each = flight.errand
        try:
            run = future.result()
            state = mark(lambda again: settle(each, run, again=again), until=flight.until)
        except (InterfaceError, OperationalError):
            raise
        except Exception:
            # Whatever an endpoint did to cause this, the others get theirs.
            logger.exception("webhook_not_settled", destination=each.code)
            if each.claim is not None:
                reason = "a fault of ours, see the log"
                claims.released([Setback(claim=each.claim, reason=reason, wait=OUR_FAULT)])
            return "failed"
        slow = run.exchange.milliseconds > self.slow_milliseconds
        (self._slow.add if slow else self._slow.discard)(each.destination)
        if state != DispatchState.PUBLISHED:
            self._look_at = 0.0  # The endpoint may rest now, and fails in any case.
        if each.claim is None:
            return "asked"
        return state.lower() if state else "stale"
