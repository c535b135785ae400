"""Events a second, by one relay and by several, over RabbitMQ and over signed HTTP."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import httpx2
from django.db import transaction

from bench.relay import broker, events, processes, yardsticks
from bench.servers import Site
from outbox.webhooks import endpoints, secrets

ENDPOINTS: Final = 4
_YARDSTICK_EVENTS_MAX: Final = 5000
#: Published before anything is timed, so that every relay has connected everywhere.
_WARM_UP_EVENTS: Final = 200


class NotAllDelivered(AssertionError):
    """The endpoints got another number of events than were sent."""


@dataclass(frozen=True, kw_only=True)
class Rate:
    """What so many relays made of a backlog, and what the yardsticks gave just before."""

    over: str
    relays: int
    events: int
    seconds: float
    yardsticks: Mapping[str, float]

    @property
    def per_second(self) -> float:
        """Events a second, from the moment when they could leave to when the last was out."""
        return self.events / self.seconds

    def ratio(self, yardstick: str) -> float:
        """How much of that the relays reached."""
        return self.per_second / self.yardsticks[yardstick]


def over_rabbitmq(site: Site, url: str, bus: int, *, relays: int, number: int) -> Rate:
    """With a confirm for every message. Raises NotPublished, NotAllArrived."""
    yards = {
        "RabbitMQ": broker.plain_loop(url, min(number, _YARDSTICK_EVENTS_MAX)),
        "updates": yardsticks.updates(bus, min(number, _YARDSTICK_EVENTS_MAX)),
    }
    with processes.relays(site, "relay", relays):
        _drained(_WARM_UP_EVENTS, [bus])
        broker.check_arrived(url, _WARM_UP_EVENTS)
        seconds = _drained(number, [bus])
    broker.check_arrived(url, number)
    return Rate(over="RabbitMQ", relays=relays, events=number, seconds=seconds, yardsticks=yards)


def over_http(
    site: Site, port: int, destinations: Sequence[int], *, relays: int, number: int
) -> Rate:
    """To several endpoints, with `number` deliveries in all. Raises NotPublished, NotAllDelivered.

    A local receiver answers at once, so it is we who are measured.
    """
    url = f"http://127.0.0.1:{port}/"
    each = number // len(destinations)
    yards = {"httpx": yardsticks.plain_posts(url, min(number, _YARDSTICK_EVENTS_MAX))}
    with processes.relays(site, "relay_webhooks", relays):
        _drained(_WARM_UP_EVENTS // len(destinations), destinations)
        httpx2.get(url, trust_env=False)
        seconds = _drained(each, destinations)
    came, distinct = map(int, httpx2.get(url, trust_env=False).text.split())
    sent = each * len(destinations)
    if (came, distinct) != (sent, sent):
        raise NotAllDelivered(f"{came} deliveries of {distinct} events came of {sent}")
    return Rate(over="HTTP", relays=relays, events=sent, seconds=seconds, yardsticks=yards)


def add_endpoints(port: int) -> list[int]:
    """Endpoints at the local receiver that have a secret each."""
    made = []
    for place in range(ENDPOINTS):
        with transaction.atomic():
            added = endpoints.add(tenant="bench", url=f"http://127.0.0.1:{port}/{place}")
            secrets.rotate(added)
        made.append(added.pk)
    return made


def _drained(number: int, destinations: Sequence[int]) -> float:
    events.forget()
    began = events.write(number, destinations)
    return events.wait_until_gone() - began
