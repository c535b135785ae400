"""A topic on Kafka, as librdkafka's mock cluster plays it: a broker of its own, over TCP."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition

from outbox.destinations.kafka import Kafka
from outbox.destinations.port import PAYLOAD_BYTES_MAX, Message, Refused, Unavailable
from outbox.models import Dispatch, DispatchState
from outbox.relay import relay_once
from tests.factories import DispatchFactory
from tests.outbox.brokers import message, until
from tests.outbox.kafka_broker import Broker, broker
from tests.processes import ROOT

TOPIC = "paidonce.events"


@pytest.fixture
def kafka_broker() -> Iterator[Broker]:
    yield from broker()


@pytest.fixture
def kafka(kafka_broker: Broker) -> Iterator[Kafka]:
    destination = Kafka(kafka_broker.servers, topic=TOPIC, delivery_seconds_max=2)
    yield destination
    destination.close()


def stored(servers: str) -> list[Any]:
    """All messages of the topic, partition by partition, read past the code under test."""
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "test"})
    partitions = consumer.list_topics(TOPIC, timeout=10).topics[TOPIC].partitions
    messages: list[Any] = []
    for number in partitions:
        _, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, number), timeout=10)
        consumer.assign([TopicPartition(TOPIC, number, 0)])
        found: list[Any] = []
        while len(found) < end:
            found += consumer.consume(end - len(found), timeout=1)
        messages += found
    consumer.close()
    return messages


def bodies(servers: str) -> list[bytes]:
    return sorted(one.value() for one in stored(servers))


def test_a_message_says_what_it_is(kafka: Kafka, kafka_broker: Broker) -> None:
    one = Message(
        id=message().id,
        type="order.paid",
        aggregate_type="order",
        aggregate_id="shop/O-1",
        seq=3,
        created_at=message().created_at,
        payload='{"text": "支付"}'.encode(),
        traceparent="00-" + "1" * 32 + "-" + "2" * 16 + "-01",
    )
    kafka.ready()

    assert list(kafka.publish([one])) == [None]

    [kept] = stored(kafka_broker.servers)
    assert kept.value() == one.payload
    # What the connector of docs/cdc.md takes as well.
    assert kept.key() == b"shop/O-1"
    assert dict(kept.headers()) == {
        "content-type": b"application/json",
        "ce_specversion": b"1.0",
        "ce_id": str(one.id).encode(),
        "ce_source": b"paidonce",
        "ce_type": b"order.paid",
        "ce_subject": b"order/shop/O-1",
        "ce_time": b"2026-03-01T11:00:00Z",
        "ce_sequence": b"0000000003",
        "ce_traceparent": one.traceparent.encode(),
        "traceparent": one.traceparent.encode(),
    }


def test_events_of_one_aggregate_stay_in_order_in_one_partition(
    kafka: Kafka, kafka_broker: Broker
) -> None:
    kafka.ready()
    for seq in range(20):
        batch = [message(number, payload=b"%d" % seq) for number in range(8)]
        assert list(kafka.publish(batch)) == [None] * 8

    of_key: dict[bytes, list[tuple[int, int]]] = {}
    for one in stored(kafka_broker.servers):
        of_key.setdefault(one.key(), []).append((one.partition(), int(one.value())))
    assert len(of_key) == 8
    assert len({partition for told in of_key.values() for partition, _ in told}) > 1
    for told in of_key.values():
        assert told == [(told[0][0], seq) for seq in range(20)]


def test_a_message_that_is_too_large_is_refused_and_its_neighbours_are_not(
    kafka: Kafka, kafka_broker: Broker
) -> None:
    kafka.ready()
    too_large = message(2, payload=b"x" * (5 * PAYLOAD_BYTES_MAX))

    first, refused, last = kafka.publish([message(1, payload=b"1"), too_large, message(3)])

    assert (first, last) == (None, None)
    assert isinstance(refused, Refused)
    assert refused.reason.startswith("MSG_SIZE_TOO_LARGE")
    assert list(kafka.publish([message(4, payload=b"4")])) == [None]
    assert bodies(kafka_broker.servers) == [b"1", b"4", b'{"a": 1}']


def test_the_largest_events_fit(kafka: Kafka, kafka_broker: Broker) -> None:
    largest = [message(number, payload=b"x" * PAYLOAD_BYTES_MAX) for number in range(3)]

    assert list(kafka.publish(largest)) == [None] * 3


def test_nobody_there_is_told_before_anything_is_claimed() -> None:
    destination = Kafka("127.0.0.1:9", topic=TOPIC)

    with pytest.raises(Unavailable, match=r"_TRANSPORT|_ALL_BROKERS_DOWN"):
        destination.ready()


def test_a_broker_that_is_killed_is_unavailable_and_refuses_nothing(
    kafka: Kafka, kafka_broker: Broker
) -> None:
    kafka.ready()
    assert list(kafka.publish([message(1)])) == [None]
    kafka_broker.process.kill()
    kafka_broker.process.wait()

    with pytest.raises(Unavailable):
        list(kafka.publish([message(2)]))
    with pytest.raises(Unavailable):
        kafka.ready()


def test_what_a_paused_broker_takes_late_is_not_taken_for_the_next_message(
    kafka: Kafka, kafka_broker: Broker
) -> None:
    kafka.ready()
    assert list(kafka.publish([message(0, payload=b"before")])) == [None]
    kafka_broker.process.send_signal(signal.SIGSTOP)
    until(lambda: psutil.Process(kafka_broker.process.pid).status() == psutil.STATUS_STOPPED)
    began = time.monotonic()
    with pytest.raises(Unavailable, match=r"_MSG_TIMED_OUT|nothing was confirmed|_TIMED_OUT"):
        list(kafka.publish([message(1, payload=b"late")]))
    assert time.monotonic() - began < 4
    kafka_broker.process.send_signal(signal.SIGCONT)

    assert list(kafka.publish([message(2, payload=b"next")])) == [None]

    # The broker may or may not have taken the late one; the next was really taken.
    kept = bodies(kafka_broker.servers)
    assert [each for each in kept if each != b"late"] == [b"before", b"next"]


def test_a_caller_that_stops_listening_leaves_nothing_behind(
    kafka: Kafka, kafka_broker: Broker
) -> None:
    kafka.ready()
    results = kafka.publish([message(1), message(2)])
    assert next(iter(results)) is None
    results.close()  # type: ignore[attr-defined] # a generator

    assert list(kafka.publish([message(3)])) == [None]
    assert len(stored(kafka_broker.servers)) == 3


def test_options_that_librdkafka_does_not_know_are_told() -> None:
    destination = Kafka("127.0.0.1:9", topic=TOPIC, options={"security.protocoll": "ssl"})

    with pytest.raises(Unavailable, match="No such configuration property"):
        destination.ready()


@pytest.mark.django_db(transaction=True)
def test_the_relay_publishes_to_it_and_an_outage_costs_no_attempt(
    kafka: Kafka, kafka_broker: Broker
) -> None:
    DispatchFactory.create_batch(3)
    bus = Dispatch.objects.all()[0].destination_id

    assert relay_once(kafka, bus).published == 3
    late = DispatchFactory.create()
    kafka_broker.process.kill()
    kafka_broker.process.wait()
    for _ in range(3):
        assert relay_once(kafka, bus).failure

    late.refresh_from_db()
    assert (late.state, late.attempts) == (DispatchState.PENDING, 0)


def test_without_the_extra_it_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['confluent_kafka'] = None\n"
        "from outbox.destinations.kafka import Kafka\n"
        "Kafka('127.0.0.1:9', topic='x')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert "pip install --require-hashes -r requirements-kafka.txt" in done.stderr
