"""Consumers of a stream on a real Valkey."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from outbox.consumers.port import HeardEvent
from outbox.consumers.redis_stream import RedisStreamSource
from outbox.destinations.redis_stream import RedisStream
from tests.consumers.conftest import Crew
from tests.consumers.telling import count_naively, counted, event, publish, subscription
from tests.outbox.brokers import streamed, until
from tests.server_control import ServerControl

pytestmark = pytest.mark.django_db(transaction=True)

Group = Callable[..., RedisStreamSource]


@pytest.fixture
def stream(valkey_url: str, name: str) -> Iterator[RedisStream]:
    destination = RedisStream(valkey_url, stream=name, length_max=100_000)
    yield destination
    destination.close()


@pytest.fixture
def group(valkey_url: str, name: str) -> Group:
    """Makes sources, all of one group."""

    def make(**extra: Any) -> RedisStreamSource:
        return RedisStreamSource(valkey_url, stream=name, group="totals", **extra)

    return make


def pending(url: str, name: str) -> int:
    client = redis.Redis.from_url(url)
    found: Any = client.xpending(name, "totals")
    client.close()
    return int(found["pending"])


def test_each_event_is_handled_once_and_acknowledged_also_what_was_there_before(
    stream: RedisStream, group: Group, crew: Crew, valkey_url: str, name: str
) -> None:
    events = [event(number) for number in range(50)]
    publish(stream, [*events, *events[:20], event(99, type_="conflict.opened")])

    crew(group())
    crew(group())
    until(lambda: counted() == 50)
    publish(stream, [event(100)])
    until(lambda: counted() == 51)
    crew.dismiss()

    assert pending(valkey_url, name) == 0
    assert streamed(valkey_url, f"{name}.totals.dead") == []


def test_what_a_dead_consumer_had_taken_is_taken_over(
    stream: RedisStream, group: Group, crew: Crew, valkey_url: str, name: str
) -> None:
    publish(stream, [event(number) for number in range(5)])
    dead = group()
    dead.open()
    assert dead.next(5) is not None
    dead.close()
    assert pending(valkey_url, name) == 5

    crew(group(idle_seconds_max=0.2))
    until(lambda: counted() == 5)
    crew.dismiss()

    assert pending(valkey_url, name) == 0


def test_an_entry_that_kills_its_consumers_is_buried(
    stream: RedisStream, group: Group, crew: Crew, valkey_url: str, name: str
) -> None:
    publish(stream, [event()])
    for _ in range(3):
        dead = group(idle_seconds_max=0)
        dead.open()
        assert dead.next(5) is not None
        dead.close()

    crew(group(idle_seconds_max=0.05, deliveries_max=3))
    until(lambda: len(streamed(valkey_url, f"{name}.totals.dead")) == 1)
    crew.dismiss()

    [buried] = streamed(valkey_url, f"{name}.totals.dead")
    assert buried["x-reason"] == "delivered 3 times without an answer"
    assert buried["data"] == '{"number": 1}'
    assert (counted(), pending(valkey_url, name)) == (0, 0)


def test_who_is_only_slow_keeps_its_entries_and_no_delivery_is_counted(
    stream: RedisStream, group: Group
) -> None:
    publish(stream, [event(number) for number in range(3)])
    slow, other = group(), group(idle_seconds_max=0.3)
    slow.open()
    other.open()
    held = slow.next(5)
    assert held is not None
    pause = threading.Event()
    for _ in range(4):
        pause.wait(0.2)
        slow.still_here(held)
        assert other.next(0.01) is None


def test_what_is_no_event_is_buried_with_the_reason_and_the_next_is_handled(
    stream: RedisStream, group: Group, crew: Crew, valkey_url: str, name: str
) -> None:
    client = redis.Redis.from_url(valkey_url)
    client.xadd(name, {"what": "ever"})
    client.xadd(name, {"id": "1", "type": "order.paid", "data": b"\xff{"})
    client.close()
    publish(stream, [event(2), event(3)])

    def picky(heard: HeardEvent) -> None:
        count_naively(heard)
        if heard.data["number"] == 2:
            raise LookupError("no such thing")

    crew(group(), subscription(picky))
    until(lambda: counted() == 1)
    crew.dismiss()

    assert [each["x-reason"] for each in streamed(valkey_url, f"{name}.totals.dead")] == [
        "it has no CloudEvents id and type",
        "its body is no JSON: JSONDecodeError",
        "LookupError: no such thing",
    ]
    assert pending(valkey_url, name) == 0


def test_entries_that_the_stream_dropped_unread_are_told(
    stream: RedisStream,
    group: Group,
    valkey_url: str,
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    publish(stream, [event(number) for number in range(10)])
    source = group(idle_seconds_max=0)
    source.open()
    assert source.next(5) is not None
    source.close()
    publish(stream, [event(number) for number in range(10, 20)])
    client = redis.Redis.from_url(valkey_url)
    client.xtrim(name, maxlen=3, approximate=False)
    client.close()

    source.open()
    while (left := source.next(0.05)) is not None:
        source.done(left)

    said: list[Any] = [record.msg for record in caplog.records]
    missed = [line["entries"] for line in said if line["event"] == "events_missed"]
    # Seven of the later ten were never read; the first ten were read and never acknowledged.
    assert missed == [7, 10]


def test_a_server_that_dies_and_comes_back_loses_nothing(
    private_valkey: ServerControl, crew: Crew
) -> None:
    destination = RedisStream(private_valkey.url, stream="events", length_max=1000)
    crew(RedisStreamSource(private_valkey.url, stream="events", group="totals"))
    publish(destination, [event(number) for number in range(10)])
    until(lambda: counted() == 10)
    private_valkey.kill()
    private_valkey.start()

    publish(destination, [event(number) for number in range(10, 20)])

    until(lambda: counted() == 20)
    destination.close()
