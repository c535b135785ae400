"""How fast events leave: a backlog through one relay, and single events at rest."""

import statistics
import time
from dataclasses import dataclass
from typing import Final

from django.db import connection

from bench import load
from bench.placed import Orders, order_no
from bench.provider import PretendStripe
from outbox.destinations.choice import bus
from outbox.models import BUS, Destination
from outbox.relay import drain

_SINGLES: Final = 20
#: No multiple of the clock's tick, so that the callbacks come at all moments between two ticks.
_PAUSE_SECONDS: Final = 0.137
_DEADLINE_SECONDS: Final = 15.0

LATENCIES_SQL: Final = """
    SELECT extract(epoch FROM dispatch.published_at - delivery.received_at)::float
      FROM outbox_dispatch AS dispatch
      JOIN payments_delivery AS delivery
        ON dispatch.aggregate_id = 'bench/' || delivery.order_no
     WHERE dispatch.published_at IS NOT NULL AND delivery.order_no BETWEEN %s AND %s
"""


class NotPublished(RuntimeError):
    """Events wait although the relay should have published them."""


@dataclass(frozen=True, kw_only=True)
class Drained:
    """What one relay made of a backlog."""

    events: int
    seconds: float

    @property
    def per_second(self) -> float:
        """Events a second."""
        return self.events / self.seconds


def backlog(*, seconds_max: float) -> Drained:
    """Let one relay publish what the callbacks left behind. Raises NotPublished."""
    destination = bus()
    bus_id = Destination.objects.get(code=BUS).pk
    started = time.perf_counter()
    figures = drain(destination, bus_id, seconds_max=seconds_max)
    seconds = time.perf_counter() - started
    if figures.failure or not figures.published:
        raise NotPublished(figures.failure or "there was no backlog")
    return Drained(events=figures.published, seconds=seconds)


def forget_backlog() -> None:
    """Leave the outbox empty, as it is at rest."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE outbox_dispatch, outbox_event CASCADE")


def latencies_at_rest(orders: Orders, stripe: PretendStripe) -> list[float]:
    """Seconds from a callback's arrival to the broker's confirmation, sorted, one by one.

    Needs the worker and the clock. Raises NotPublished.
    """
    numbers = orders.place(_SINGLES)
    for number in numbers:
        load.send_all(stripe.port, [stripe.request(number, now=int(time.time()))], connections=1)
        time.sleep(_PAUSE_SECONDS)
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while len(found := _latencies(order_no(numbers.first), order_no(max(numbers)))) < _SINGLES:
        if time.monotonic() > deadline:
            raise NotPublished(f"{_SINGLES - len(found)} of {_SINGLES} events are still waiting")
        time.sleep(0.2)
    return sorted(found)


def median(latencies: list[float]) -> float:
    """The middle one."""
    return statistics.median(latencies)


def _latencies(first: str, last: str) -> list[float]:
    with connection.cursor() as cursor:
        cursor.execute(LATENCIES_SQL, [first, last])
        return [float(row[0]) for row in cursor.fetchall()]
