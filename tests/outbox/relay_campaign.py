"""Relays that die at every point of their work, until all is published.

Run as a program by `test_relay_kills.py`: forks relay after relay, three at a time, each with one
fault; then relays without one drain the table. Prints what was done as JSON.

    python -m tests.outbox.relay_campaign <amqp url> <queue> <faults> <events> <seed>

Events are written all the while, every third time in a transaction that rolls back.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import django

django.setup()

from django.db import connection, transaction  # noqa: E402 - Django first

from outbox.destinations.port import Message, Refused  # noqa: E402
from outbox.destinations.rabbitmq import RabbitMQ  # noqa: E402
from outbox.events import emit  # noqa: E402
from outbox.models import BUS, Destination, Dispatch, DispatchState  # noqa: E402
from outbox.relay import relay_once  # noqa: E402
from tests.outbox.fault_points import FAULTS  # noqa: E402

RELAYS = 3
BATCH = 4
LEASE = timedelta(milliseconds=400)
PUBLISH_SECONDS_MAX = 0.2


@dataclass
class Fault:
    """Strikes at the `countdown`-th time that this point is passed."""

    point: str
    countdown: int

    def passed(self, point: str) -> None:
        if self.point.removeprefix("pause ") != point:
            return
        self.countdown -= 1
        if self.countdown == 0:
            pauses = self.point.startswith("pause ")
            os.kill(os.getpid(), signal.SIGSTOP if pauses else signal.SIGKILL)

    def around_statement(self, execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        name = "claim" if "heads" in sql else "mark" if "unnest" in sql else "look"
        self.passed(f"before {name}")
        answer = execute(sql, *rest)
        self.passed(f"after {name}")
        return answer


class Faulty(RabbitMQ):
    """The real destination, and a fault before or after a message."""

    fault: Fault

    def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        for message in messages:
            self.fault.passed("before publish")
            yield from super().publish([message])
            self.fault.passed("after publish")


def relay(url: str, queue: str, fault: Fault) -> int:
    destination = Faulty(url, exchange=queue, queue=queue)
    destination.fault = fault
    stale = 0
    bus = Destination.objects.get(code=BUS).pk
    with connection.execute_wrapper(fault.around_statement):
        while fault.countdown > 0 and unpublished():
            figures = relay_once(
                destination, bus, batch=BATCH, lease=LEASE, publish_seconds_max=PUBLISH_SECONDS_MAX
            )
            stale += figures.stale
            if not figures.claimed:
                time.sleep(0.02)
    return stale


def unpublished() -> bool:
    return Dispatch.objects.exclude(state=DispatchState.PUBLISHED).exists()


@dataclass
class Campaign:
    """The parent: writes events, forks relays, wakes those that paused, counts."""

    url: str
    queue: str
    faults: int
    events: int
    random: random.Random

    def __post_init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.running: dict[int, Fault] = {}
        self.asleep: dict[int, float] = {}
        self.last_seq: Counter[str] = Counter()
        self.started = 0

    def run(self) -> Counter[str]:
        while self.started < self.faults or self.running or self.unfinished():
            while len(self.running) < RELAYS and (self.started < self.faults or self.unfinished()):
                self.start_one()
            self.wait()
        return self.counts

    def unfinished(self) -> bool:
        answer = unpublished()
        connection.close()
        return answer

    def start_one(self) -> None:
        fault = Fault("none", 1)
        if self.started < self.faults:
            self.write_events()
            fault = Fault(FAULTS[self.started % len(FAULTS)], self.random.randint(1, 3))
        self.started += 1
        # A child must not inherit a connection: its end would end it for all.
        connection.close()
        child = os.fork()
        if child == 0:
            status = 99
            try:
                status = relay(self.url, self.queue, fault)
            finally:
                os._exit(min(status, 99))
        self.running[child] = fault

    def write_events(self) -> None:
        """A part of all the events for each fault, so that the last relays have some too."""
        wanted = self.events * (self.started + 1) // self.faults
        while self.counts["written"] < wanted:
            # Each aggregate in turn first, then any.
            number = self.counts["written"]
            aggregate = f"A-{number if number < 40 else self.random.randrange(40)}"
            rolls_back = self.random.random() < 1 / 3
            with transaction.atomic():
                emit(
                    aggregate_type="order",
                    aggregate_id=aggregate,
                    seq=self.last_seq[aggregate] + 1,
                    type="order.paid",
                    payload={"told": not rolls_back},
                    # The time says nothing about the order.
                    at=datetime.fromtimestamp(self.random.randrange(2**31), UTC),
                )
                transaction.set_rollback(rolls_back)
            self.last_seq[aggregate] += not rolls_back
            self.counts["rolled back" if rolls_back else "written"] += 1

    def wait(self) -> None:
        time.sleep(0.005)
        for child, since in list(self.asleep.items()):
            if time.monotonic() > since + 2 * LEASE.total_seconds():
                del self.asleep[child]
                os.kill(child, signal.SIGCONT)
        while self.running:
            child, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            if child == 0:
                return
            if os.WIFSTOPPED(status):
                self.asleep[child] = time.monotonic()
                self.counts[self.running[child].point] += 1
                continue
            fault = self.running.pop(child)
            if os.WIFSIGNALED(status):
                self.counts[fault.point] += 1
            elif os.WEXITSTATUS(status) == 99:
                self.counts["crashed"] += 1
            else:
                self.counts["stale"] += os.WEXITSTATUS(status)


if __name__ == "__main__":
    url, queue, faults, events, seed = sys.argv[1:]
    campaign = Campaign(url, queue, int(faults), int(events), random.Random(int(seed)))  # noqa: S311
    sys.stdout.write(json.dumps(campaign.run()) + "\n")
