"""Consumers that die at every point of their work, until the queue is empty.

Run as a program by `test_kills.py`: forks consumer after consumer, three at a time, each with one
fault, on a queue that is full of repeats. Prints how many were killed where, as JSON.

    python -m tests.consumers.kill_campaign <amqp url> <queue> <kills> <seed>
"""

import json
import os
import random
import signal
import sys
import threading
from collections import Counter

import django

django.setup()

from django.db import connection  # noqa: E402 - Django first

from outbox.consumers.port import Delivery, HeardEvent  # noqa: E402
from outbox.consumers.rabbitmq import RabbitMQSource  # noqa: E402
from outbox.consumers.run import run  # noqa: E402
from tests.consumers.telling import SUBSCRIPTION, count_naively, subscription  # noqa: E402
from tests.outbox.brokers import waiting  # noqa: E402

CONSUMERS = 3
POINTS = ("before effect", "after effect", "after commit", "after acknowledgement")


class Fault:
    """Kills this process at the `countdown`-th time that the point is passed."""

    def __init__(self, point: str, countdown: int) -> None:
        self._point = point
        self._countdown = countdown

    def passed(self, point: str) -> None:
        if point == self._point:
            self._countdown -= 1
            if self._countdown == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class Faulty(RabbitMQSource):
    """The real source, and a fault around its acknowledgements."""

    fault: Fault

    def done(self, delivery: Delivery) -> None:
        self.fault.passed("after commit")
        super().done(delivery)
        self.fault.passed("after acknowledgement")


def consume(url: str, queue: str, fault: Fault) -> None:
    def handler(heard: HeardEvent) -> None:
        fault.passed("before effect")
        count_naively(heard)
        fault.passed("after effect")

    source = Faulty(
        url,
        exchange=queue,
        queue=queue,
        types=SUBSCRIPTION.types,
        prefetch=4,
        deliveries_max=1000,
    )
    source.fault = fault
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    run(source, subscription(handler), stopped)


def hire(url: str, queue: str, fault: Fault) -> int:
    child = os.fork()
    if child == 0:
        try:
            consume(url, queue, fault)
        finally:
            os._exit(0)
    return child


def main(url: str, queue: str, kills: int, seed: int) -> None:
    connection.close()
    chance = random.Random(seed)  # noqa: S311 - no secret
    killed: Counter[str] = Counter()
    crew: dict[int, str] = {}
    while crew or sum(killed.values()) < kills:
        while len(crew) < CONSUMERS and sum(killed.values()) + len(crew) < kills:
            point = POINTS[(sum(killed.values()) + len(crew)) % len(POINTS)]
            crew[hire(url, queue, Fault(point, chance.randrange(1, 4)))] = point
        child, status = os.wait()
        point = crew.pop(child)
        killed[point] += os.WIFSIGNALED(status)
    # Those that are left live, until nothing is left.
    last = [hire(url, queue, Fault("never", 0)) for _ in range(CONSUMERS)]
    while waiting(url, queue):
        signal.sigtimedwait([], 0.05)
    for child in last:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
    sys.stdout.write(json.dumps(killed))


if __name__ == "__main__":
    _, url, queue, kills, seed = sys.argv
    main(url, queue, int(kills), int(seed))
