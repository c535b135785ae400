"""`GET /metrics` for Prometheus, for who has the token; without METRICS_TOKEN there is none."""

import hmac
from collections.abc import Callable, Iterator

import structlog
from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from outbox.figures import figures
from outbox.slots import slots

log = structlog.get_logger(__name__)


class MetricsMiddleware:
    """Answer `/metrics` whatever Host is asked for: Prometheus asks each process by its address.

    The figures are read from the database when they are asked for, so every process tells the
    same, and one of them is enough to ask.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer one request."""
        if request.path != "/metrics" or not settings.METRICS_TOKEN:
            return self.get_response(request)
        given = request.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {settings.METRICS_TOKEN}".encode()):
            return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
        try:
            return HttpResponse(generate_latest(_REGISTRY), content_type=CONTENT_TYPE_PLAIN_0_0_4)
        except Error as error:
            log.warning("no metrics", error=type(error).__name__)
            connection.close()
            return HttpResponse(status=503)


class _Outbox(Collector):
    """What waits for each destination, and what replication slots hold back."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        waiting = _gauge("outbox_waiting", "Events that wait for the destination.", "destination")
        oldest = _gauge(
            "outbox_oldest_seconds", "Age of the oldest event that waits.", "destination"
        )
        dead = _gauge("outbox_dead", "Events that it refused for good.", "destination")
        published = _gauge(
            "outbox_published_last_minute", "Events that it took in a minute.", "destination"
        )
        active = _gauge("outbox_destination_active", "1 unless it rests.", "destination")
        for each in figures():
            waiting.add_metric([each.destination], each.waiting)
            oldest.add_metric([each.destination], each.oldest_seconds)
            dead.add_metric([each.destination], each.dead)
            published.add_metric([each.destination], each.published_last_minute)
            active.add_metric([each.destination], each.active)
        retained = _gauge(
            "replication_slot_retained_bytes", "Log that the slot holds back.", "slot"
        )
        read = _gauge("replication_slot_active", "1 while somebody reads it.", "slot")
        for slot in slots():
            retained.add_metric([slot.name], slot.retained_bytes)
            read.add_metric([slot.name], slot.active)
        yield from (waiting, oldest, dead, published, active, retained, read)


def _gauge(name: str, meaning: str, label: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"paidonce_{name}", meaning, labels=[label])


_REGISTRY = CollectorRegistry()
_REGISTRY.register(_Outbox())
