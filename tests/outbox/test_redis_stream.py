"""A stream on a real Valkey."""

import json

import pytest
import redis

from outbox.destinations.port import Unavailable
from outbox.destinations.redis_stream import RedisStream
from outbox.models import Dispatch
from outbox.relay import Figures
from tests.factories import DispatchFactory
from tests.outbox.brokers import message, streamed, until
from tests.outbox.relaying import drain, relay_once
from tests.server_control import ServerControl


def test_an_entry_holds_the_attributes_and_the_payload(
    redis_stream: RedisStream, valkey_url: str, name: str
) -> None:
    one = message(payload='{"text": "支付"}'.encode())

    assert list(redis_stream.publish([one])) == [None]

    assert streamed(valkey_url, name) == [
        {
            "specversion": "1.0",
            "id": str(one.id),
            "source": "paidonce",
            "type": "order.paid",
            "subject": "order/shop/O-1",
            "time": "2026-03-01T11:00:00Z",
            "datacontenttype": "application/json",
            "sequence": "0000000001",
            "data": '{"text": "支付"}',
        }
    ]


def test_a_batch_keeps_its_order(redis_stream: RedisStream, valkey_url: str, name: str) -> None:
    messages = [message(number) for number in range(50)]

    assert list(redis_stream.publish(messages)) == [None] * 50
    assert list(redis_stream.publish([])) == []

    assert [entry["id"] for entry in streamed(valkey_url, name)] == [str(m.id) for m in messages]


def test_a_stream_keeps_about_its_newest_entries(valkey_url: str, name: str) -> None:
    destination = RedisStream(valkey_url, stream=name, length_max=100)
    messages = [message(number) for number in range(1000)]

    list(destination.publish(messages))

    kept = [entry["id"] for entry in streamed(valkey_url, name)]
    assert 100 <= len(kept) < 300
    assert kept == [str(m.id) for m in messages[-len(kept) :]]
    destination.close()


@pytest.fixture
def private_stream(private_valkey: ServerControl) -> RedisStream:
    return RedisStream(private_valkey.url, stream="events", length_max=1000)


def test_a_server_that_would_forget_events_is_refused(
    private_valkey: ServerControl, private_stream: RedisStream
) -> None:
    client = redis.Redis.from_url(private_valkey.url)
    client.config_set("appendonly", "no")

    for attempt in (private_stream.ready, lambda: list(private_stream.publish([message()]))):
        with pytest.raises(Unavailable, match="start it with `--appendonly yes`"):
            attempt()

    client.config_set("appendonly", "yes")
    until(lambda: not client.info("persistence")["aof_rewrite_in_progress"])
    private_stream.ready()
    client.close()
    private_stream.close()


def test_a_write_that_is_not_on_the_disk_in_time_is_not_taken_for_one(
    private_valkey: ServerControl,
) -> None:
    client = redis.Redis.from_url(private_valkey.url)
    client.config_set("appendfsync", "no")
    destination = RedisStream(
        private_valkey.url, stream="events", length_max=1000, confirm_seconds_max=0.2
    )

    with pytest.raises(Unavailable, match=r"writes were not on the disk within 0\.2 s"):
        list(destination.publish([message()]))

    client.config_set("appendfsync", "always")
    assert list(destination.publish([message()])) == [None]
    client.close()
    destination.close()


def test_a_server_that_is_full_costs_no_event_an_attempt(
    private_valkey: ServerControl, private_stream: RedisStream
) -> None:
    client = redis.Redis.from_url(private_valkey.url)
    client.config_set("maxmemory", "1")

    with pytest.raises(
        Unavailable,
        match=r"^OutOfMemoryError: command not allowed when used memory > 'maxmemory'\.$",
    ):
        list(private_stream.publish([message()]))

    client.config_set("maxmemory", "0")
    assert list(private_stream.publish([message()])) == [None]
    client.close()
    private_stream.close()


@pytest.mark.django_db(transaction=True)
def test_events_wait_for_a_killed_server_and_survive_it(
    private_valkey: ServerControl, private_stream: RedisStream
) -> None:
    before = DispatchFactory.create()
    assert relay_once(private_stream).published == 1
    private_valkey.kill()
    after = DispatchFactory.create()

    figures = relay_once(private_stream)
    assert (figures.claimed, bool(figures.failure)) == (0, True)
    assert Dispatch.objects.get(pk=after.pk).fence == 0
    private_valkey.start()

    assert drain(private_stream, seconds_max=30) == Figures(claimed=1, published=1)
    entries = streamed(private_valkey.url, "events")
    assert [entry["id"] for entry in entries] == [str(before.event_id), str(after.event_id)]
    assert [json.loads(entry["data"]) for entry in entries] == [
        before.event.payload,
        after.event.payload,
    ]
    private_stream.close()


def test_a_wrong_password_is_told_and_costs_nothing(valkey_url: str) -> None:
    _, _, address = valkey_url.rpartition("@")
    destination = RedisStream(f"redis://:wrong@{address}", stream="events", length_max=10)

    with pytest.raises(Unavailable, match="invalid username-password pair"):
        destination.ready()
    destination.close()
