"""GET /metrics: the figures of the outbox, for who has the token."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from outbox.models import DestinationState, DispatchState
from tests import wire
from tests.factories import DestinationFactory, DispatchFactory

TOKEN = "a-token-of-the-tests"


@pytest.fixture
def figures(settings: Any) -> Any:
    """The figures that the page tells, by name and label."""
    settings.METRICS_TOKEN = TOKEN

    def ask() -> dict[tuple[str, str], float]:
        answer = Client().get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        assert answer["Content-Type"].startswith("text/plain")
        return {
            (sample.name.removeprefix("paidonce_"), label): sample.value
            for family in text_string_to_metric_families(answer.content.decode())
            for sample in family.samples
            for label in sample.labels.values()
        }

    return ask


@pytest.mark.django_db
def test_each_destination_has_its_figures(figures: Any) -> None:
    slow = DestinationFactory.create(state=DestinationState.PAUSED, reason="moving house")
    now, long_ago = Now(), Now() - timedelta(minutes=10)
    DispatchFactory.create(created_at=long_ago, state=DispatchState.PUBLISHED, published_at=now)
    DispatchFactory.create(
        created_at=long_ago, state=DispatchState.PUBLISHED, published_at=long_ago
    )
    DispatchFactory.create(created_at=long_ago, state=DispatchState.DEAD, dead_at=now)
    for _ in range(2):
        DispatchFactory.create(created_at=long_ago, destination=slow)

    told = figures()

    assert {name: told[name, "bus"] for name, code in told if code == "bus"} == {
        "outbox_waiting": 0,
        "outbox_oldest_seconds": 0,
        "outbox_dead": 1,
        "outbox_published_last_minute": 1,
        "outbox_destination_active": 1,
    }
    assert told["outbox_waiting", slow.code] == 2
    assert told["outbox_destination_active", slow.code] == 0
    assert 600 <= told["outbox_oldest_seconds", slow.code] < 660


@pytest.mark.parametrize("given", ["", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer é"])
def test_without_the_token_nothing_is_told(settings: Any, given: str) -> None:
    settings.METRICS_TOKEN = TOKEN

    answer = Client().get("/metrics", headers={"authorization": given})

    assert (answer.status_code, answer.content) == (401, b"")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_where_no_token_is_set_there_is_no_such_page(live_service: str) -> None:
    headers = [("Host", "localhost"), ("Authorization", "Bearer "), ("Connection", "close")]

    assert wire.send(live_service, wire.request("GET", "/metrics", headers)).status == 404
