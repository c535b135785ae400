"""From the commit to the broker's confirmation: at rest, at a steady rate, at full rate."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from django.db import connection, transaction

from bench import load
from bench.placed import Orders, order_no
from bench.provider import PretendStripe
from bench.publishing import LATENCIES_SQL
from bench.relay import events
from outbox.events import emit

#: No multiple of the relay's look-out, so that events come at all moments between two looks.
_PAUSE_SECONDS: Final = 0.137
_CONNECTIONS: Final = 16


@dataclass(frozen=True, kw_only=True)
class Latency:
    """Seconds from commit to confirmation, of each event, sorted."""

    when: str
    seconds: list[float]
    per_second: float

    def percentile(self, percent: float) -> float:
        """What so many percent of the events stayed within, in seconds."""
        return self.seconds[min(len(self.seconds) - 1, int(len(self.seconds) * percent / 100))]


def at_rest(number: int) -> Latency:
    """Single events with pauses between. Needs a relay. Raises NotPublished."""
    return _paced("at rest", number, lambda place: place * _PAUSE_SECONDS)


def at_rate(per_second: int, seconds: float) -> Latency:
    """A transaction for each event, at this rate whatever the relay does. Raises NotPublished."""
    number = int(per_second * seconds)
    return _paced(f"{per_second} events/s", number, lambda place: place / per_second)


def beside_callbacks(orders: Orders, stripe: PretendStripe, *, seconds: float) -> Latency:
    """Callbacks over HTTP as fast as they are answered; from arrival to confirmation.

    Needs the web server and a relay. Raises NotPublished.
    """
    warm_up = orders.place(10 * _CONNECTIONS)
    requests = stripe.requests(warm_up, now=int(time.time()))
    rate = load.send_all(stripe.port, requests, connections=_CONNECTIONS).per_second
    numbers = orders.place(max(_CONNECTIONS, int(rate * seconds)))
    requests = stripe.requests(numbers, now=int(time.time()))
    sent = load.send_all(stripe.port, requests, connections=_CONNECTIONS)
    events.wait_until_gone()
    with connection.cursor() as cursor:
        cursor.execute(LATENCIES_SQL, [order_no(numbers.first), order_no(max(numbers))])
        waited = sorted(float(row[0]) for row in cursor.fetchall())
    if len(waited) != numbers.count:
        raise events.NotPublished(f"{len(waited)} of {numbers.count} events went out")
    return Latency(when="callbacks at full rate", seconds=waited, per_second=sent.per_second)


def _paced(when: str, number: int, due: Callable[[int], float]) -> Latency:
    events.forget()
    committed: dict[str, float] = {}
    began = time.monotonic()
    for place in range(number):
        time.sleep(max(0.0, began + due(place) - time.monotonic()))
        with transaction.atomic():
            event = emit(
                aggregate_type="order",
                aggregate_id=f"bench/L{place}",
                seq=0,
                type="order.paid",
                payload={"order_no": f"L{place}", "amount": "10.99", "currency": "USD"},
                at=datetime.fromtimestamp(time.time(), UTC),
                tenant="bench",
            )
        committed[str(event)] = time.time()
    per_second = number / (time.monotonic() - began)
    events.wait_until_gone()
    left = events.published()
    return Latency(
        when=when,
        seconds=sorted(left[event] - moment for event, moment in committed.items()),
        per_second=per_second,
    )
