"""The list of destinations, and `manage.py destinations`."""

import json
import threading
from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from outbox import claims
from outbox.destinations import directory
from outbox.destinations.directory import ENTERED_FROM, Refused
from outbox.events import emit
from outbox.models import Destination, DestinationKind, DestinationState, Dispatch, Endpoint
from outbox.relay import relay_once
from tests.concurrency.racing import race
from tests.factories import (
    CREATED_AT,
    DestinationFactory,
    DispatchFactory,
    EndpointFactory,
    EventFactory,
)
from tests.outbox.brokers import until
from tests.outbox.doubles import Recorder

pytestmark = pytest.mark.django_db(transaction=True)

CONFIG = '{"url": "redis://127.0.0.1:9", "stream": "shop"}'


def manage(*arguments: str) -> str:
    output = StringIO()
    call_command("destinations", *arguments, stdout=output)
    return output.getvalue().strip()


def add(*arguments: str) -> str:
    return manage("add", "shop", "--kind", "redis_stream", "--config", CONFIG, *arguments)


def tell(aggregate: str, seq: int = 1, **changes: Any) -> None:
    values: dict[str, Any] = {
        "aggregate_type": "order",
        "aggregate_id": aggregate,
        "seq": seq,
        "type": "order.paid",
        "payload": {},
        "at": CREATED_AT,
        "tenant": "acme",
    }
    with transaction.atomic():
        emit(**values | changes)


def told(code: str = "shop") -> list[tuple[str, int]]:
    rows = Dispatch.objects.filter(destination__code=code).order_by("aggregate_id", "seq")
    return list(rows.values_list("aggregate_id", "seq"))


def test_a_new_destination_gets_events_from_then_on() -> None:
    tell("A")

    assert add("--tenant", "acme", "--types", "order.*", "refund.failed") == "shop is ACTIVE."

    tell("B")
    row = Destination.objects.get(code="shop")
    assert (row.tenant, row.event_types) == ("acme", ["order.*", "refund.failed"])
    assert row.config == {"url": "redis://127.0.0.1:9", "stream": "shop"}
    assert told() == [("B", 1)]


def test_it_is_filled_with_earlier_events_once_and_in_their_order() -> None:
    tell("OLD", at=CREATED_AT - timedelta(seconds=1))
    tell("A")
    tell("A", 2)
    tell("B", tenant="other")
    tell("C", type="refund.failed")

    add("--tenant", "acme", "--types", "order.*", "--from", CREATED_AT.isoformat())

    tell("A", 3)
    assert told() == [("A", 1), ("A", 2), ("A", 3)]
    recorder = Recorder()
    shop = Destination.objects.get(code="shop")
    assert shop.state == DestinationState.ACTIVE
    for _ in range(3):
        relay_once(recorder, shop.pk)
    assert [message.seq for message in recorder.taken] == [1, 2, 3]


@pytest.mark.parametrize("wants", [["*.x"], ["order.*"], ["order.paid"], ["order"], ["ord.*"], []])
def test_what_it_is_filled_with_is_what_it_would_have_got(wants: list[str]) -> None:
    DestinationFactory.create(code="before", event_types=wants)
    for number, type_ in enumerate(("order.paid", "order.paid.late", "order", "orders.paid")):
        tell(f"A{number}", type=type_)
    DestinationFactory.create(code="shop", event_types=wants, state="PAUSED", reason="new")

    directory.fill("shop", since=CREATED_AT)

    assert told() == told("before")


def test_no_event_falls_between_what_it_is_filled_with_and_what_it_gets() -> None:
    """An event that was told before the destination was there, and is committed after that."""
    has_told, may_commit = threading.Event(), threading.Event()

    def slow_emitter() -> None:
        with transaction.atomic():
            tell("SLOW")
            has_told.set()
            may_commit.wait(20)

    def adder() -> None:
        has_told.wait(20)
        add("--from", CREATED_AT.isoformat())

    def next_emitter() -> None:
        until(_somebody_waits_for_a_lock)
        may_commit.set()
        tell("NEXT")

    race(slow_emitter, adder, next_emitter)

    assert told() == [("NEXT", 1), ("SLOW", 1)]


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


def test_what_has_published_is_never_filled_with_earlier_events() -> None:
    shop = DestinationFactory.create(code="shop")
    EventFactory.create()
    DispatchFactory.create(destination=shop)
    relay_once(Recorder(), shop.pk)
    with pytest.raises(CommandError, match="shop is ACTIVE; only one that is PAUSED"):
        manage("fill", "shop", "--from", CREATED_AT.isoformat())
    manage("pause", "shop", "--reason", "moving")

    with pytest.raises(CommandError, match="may have published events"):
        manage("fill", "shop", "--from", CREATED_AT.isoformat())

    assert len(told()) == 1


def test_what_may_have_been_published_is_not_filled_either() -> None:
    """Its relay has not said yet what became of it, or died before it could."""
    shop = DestinationFactory.create(code="shop")
    EventFactory.create()
    DispatchFactory.create(destination=shop)
    (held,) = claims.claim_heads(shop.pk, batch=9, lease=timedelta(seconds=30))
    manage("pause", "shop", "--reason", "moving")

    with pytest.raises(CommandError, match="may have published"):
        manage("fill", "shop", "--from", CREATED_AT.isoformat())

    assert claims.published([held]) == {held.id}
    assert len(told()) == 1


def test_filling_goes_on_where_it_was_interrupted() -> None:
    EventFactory.create(aggregate_id="A")
    DestinationFactory.create(code="shop", state="PAUSED", reason=directory.FILLING)

    for _ in range(2):
        Destination.objects.filter(code="shop").update(
            state="PAUSED", reason="again", rested_by="OPERATOR"
        )
        assert manage("fill", "shop", "--from", CREATED_AT.isoformat()) == "shop is ACTIVE."

    assert told() == [("A", 1)]


MOVES = {
    DestinationState.ACTIVE: lambda: manage("resume", "shop"),
    DestinationState.PAUSED: lambda: manage("pause", "shop", "--reason", "moving"),
    DestinationState.DISABLED: lambda: manage("disable", "shop", "--reason", "gone"),
}


@pytest.mark.parametrize("present", DestinationState)
@pytest.mark.parametrize("target", DestinationState)
def test_every_pair_of_states_obeys_the_table(
    present: DestinationState, target: DestinationState
) -> None:
    reason = "" if present == DestinationState.ACTIVE else "before"
    DestinationFactory.create(code="shop", state=present, reason=reason)

    if present in ENTERED_FROM[target]:
        assert MOVES[target]() == f"shop is {target}."
    else:
        with pytest.raises(CommandError, match=f"shop is {target} already"):
            MOVES[target]()

    row = Destination.objects.get(code="shop")
    assert row.state == target
    assert bool(row.reason) == (target != DestinationState.ACTIVE)


def test_a_destination_that_rests_keeps_its_events_and_sends_them_when_it_works_again() -> None:
    add()
    manage("pause", "shop", "--reason", "moving")
    tell("A")
    shop = Destination.objects.get(code="shop")
    recorder = Recorder()
    assert relay_once(recorder, shop.pk).claimed == 0

    manage("resume", "shop")

    assert relay_once(recorder, shop.pk).published == 1


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["pause", "nowhere", "--reason", "x"], "there is no destination nowhere"),
        (["pause", "shop", "--reason", " "], "say why"),
        (["disable", "bus", "--reason", "x"], "the bus takes every event and cannot be disabled"),
        (["add", "bus", "--kind", "redis_stream"], "stream must be a text|url must begin"),
        (["add", "A shop", "--kind", "redis_stream"], "code must be 1-40 of a-z"),
        (["add", "x", "--kind", "bus"], "invalid choice"),
        (["add", "x", "--kind", "redis_stream", "--types", "Order"], "an event type is a name"),
        (["add", "x", "--kind", "redis_stream", "--types", "*"], "an event type is a name"),
        (["add", "x", "--kind", "redis_stream", "--tenant", "a b"], "tenant must be a merchant"),
        (["add", "x", "--kind", "redis_stream", "--config", "[]"], "must be a JSON object"),
        (["add", "x", "--kind", "redis_stream", "--config", "{"], "is no JSON"),
        (["add", "x", "--kind", "redis_stream", "--from", "2026-03-01"], "needs a time zone"),
        (["add", "x", "--kind", "redis_stream", "--from", "today"], "must be a time like"),
        (["add", "shop", "--kind", "redis_stream", "--config", CONFIG], "shop already"),
    ],
)
def test_what_cannot_be_done_is_explained(arguments: list[str], hint: str) -> None:
    DestinationFactory.create(code="shop")
    before = list(Destination.objects.order_by("pk").values())

    with pytest.raises(CommandError, match=hint):
        manage(*arguments)

    assert list(Destination.objects.order_by("pk").values()) == before


def test_the_bus_is_there_already() -> None:
    with pytest.raises(Refused, match="the bus is there already"):
        directory.add("x", DestinationKind.BUS)


def test_the_list_says_what_waits_where() -> None:
    shop = DestinationFactory.create(code="shop", event_types=["order.*"], tenant="acme")
    DispatchFactory.create_batch(2, destination=shop)
    DispatchFactory.create(destination=shop, state="DEAD", dead_at=datetime(2026, 3, 2, tzinfo=UTC))
    manage("pause", "shop", "--reason", "moving")

    bus, line = manage("list").splitlines()

    assert bus.split() == [
        "bus",
        "bus",
        "ACTIVE",
        "waiting=0",
        "dead=0",
        "all",
        "merchants,",
        "all",
        "types",
    ]
    assert line.split() == [
        *("shop", "redis_stream", "PAUSED", "waiting=2", "dead=1", "acme,", "order.*", "(moving)")
    ]
    fields = json.loads(manage("list", "--json").splitlines()[1])
    assert (fields["code"], fields["waiting"], fields["dead"]) == ("shop", 2, 1)
    assert fields["oldest"] == CREATED_AT.isoformat()


def test_a_state_is_left_only_if_it_is_the_one_that_was_seen() -> None:
    stream = DestinationFactory.create(code="audit")
    directory.disable("audit", reason="sold")

    with pytest.raises(Refused, match="audit is DISABLED by now"):
        directory.pause("audit", reason="a new disk", seen="ACTIVE")

    stream.refresh_from_db()
    assert (stream.state, stream.reason) == ("DISABLED", "sold")


def test_to_resume_a_webhook_forgets_its_failures_and_none_that_was_removed_comes_back() -> None:
    endpoint = EndpointFactory.create(state="PAUSED", reason="asked")
    other = EndpointFactory.create(state="DISABLED", reason="removed")
    at = CREATED_AT
    Endpoint.objects.update(failures=5, failing_since=at, open_until=at)
    Endpoint.objects.filter(pk=other.pk).update(removed_at=at)

    directory.resume(endpoint.destination.code)
    with pytest.raises(Refused, match="was removed"):
        directory.resume(other.destination.code)

    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.failing_since, endpoint.open_until) == (0, None, None)
    assert Destination.objects.get(pk=other.pk).state == "DISABLED"
