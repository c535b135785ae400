"""A topic exchange on a real RabbitMQ."""

import json
import time
from collections.abc import Iterator

import pytest

from outbox.destinations.port import Refused, Unavailable
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.models import Dispatch, DispatchState, Event
from outbox.redrive import redrive
from outbox.retries import ATTEMPTS_MAX
from tests.concurrency.racing import race
from tests.factories import DispatchFactory
from tests.outbox.brokers import amqp_channel, message, queued, until
from tests.outbox.proxy import Proxy
from tests.outbox.relaying import drain, relay_once
from tests.server_control import ServerControl


def bodies(url: str, queue: str) -> list[bytes | str]:
    return [one.body for one in queued(url, queue)]


def test_a_message_says_what_it_is_and_outlives_the_broker(
    rabbitmq: RabbitMQ, rabbitmq_url: str, name: str
) -> None:
    one = message(payload='{"text": "支付"}'.encode())
    rabbitmq.ready()

    assert list(rabbitmq.publish([one])) == [None]

    (kept,) = queued(rabbitmq_url, name)
    assert kept.body == one.payload
    assert kept.delivery_info["routing_key"] == "order.paid"
    properties = kept.properties
    headers = properties.pop("application_headers")
    assert properties == {
        "content_type": "application/json",
        "delivery_mode": 2,
        "message_id": str(one.id),
        "type": "order.paid",
        "timestamp": 1772362800,
    }
    headers.pop("x-delivery-count", None)  # of a quorum queue, from the second delivery on
    assert headers == {
        "cloudEvents_specversion": "1.0",
        "cloudEvents_id": str(one.id),
        "cloudEvents_source": "paidonce",
        "cloudEvents_type": "order.paid",
        "cloudEvents_subject": "order/shop/O-1",
        "cloudEvents_time": "2026-03-01T11:00:00Z",
        "cloudEvents_sequence": "0000000001",
    }


def test_a_batch_keeps_its_order(rabbitmq: RabbitMQ, rabbitmq_url: str, name: str) -> None:
    messages = [message(number, payload=b"%d" % number) for number in range(50)]

    assert list(rabbitmq.publish(messages)) == [None] * 50

    assert [int(one.body) for one in queued(rabbitmq_url, name)] == list(range(50))


def test_a_message_that_no_queue_takes_is_refused_and_the_next_is_not(
    rabbitmq_url: str, name: str
) -> None:
    destination = RabbitMQ(rabbitmq_url, exchange=name, queue="")
    destination.ready()
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_declare(name, durable=True, auto_delete=False)
        channel.queue_bind(name, name, routing_key="order.*")

        told = list(
            destination.publish(
                [
                    message(payload=b"1"),
                    message(payload=b"2", type_="refund.failed"),
                    message(payload=b"3"),
                ]
            )
        )

        assert told == [None, Refused("no queue takes it: NO_ROUTE"), None]
        assert bodies(rabbitmq_url, name) == [b"1", b"3"]
        channel.queue_delete(name)
        channel.exchange_delete(name)
    destination.close()


def test_a_message_that_the_broker_nacks_is_refused_and_the_next_is_not(
    rabbitmq_url: str, name: str
) -> None:
    destination = RabbitMQ(rabbitmq_url, exchange=name, queue="")
    destination.ready()
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_declare(
            name,
            durable=True,
            auto_delete=False,
            arguments={"x-max-length": 1, "x-overflow": "reject-publish"},
        )
        channel.queue_bind(name, name, routing_key="#")

        told = list(destination.publish([message(), message(), message()]))

        nacked = Refused("the broker answered with a nack")
        assert told == [None, nacked, nacked]
        channel.queue_purge(name)
        assert list(destination.publish([message(payload=b"last")])) == [None]
        assert bodies(rabbitmq_url, name) == [b"last"]
        channel.queue_delete(name)
        channel.exchange_delete(name)
    destination.close()


def test_a_message_that_closes_the_channel_is_found_among_those_in_flight(
    rabbitmq: RabbitMQ, rabbitmq_url: str, name: str
) -> None:
    # The tests' RabbitMQ takes no more than 2 MiB.
    messages = [message(number, payload=b"%d" % number) for number in range(10)]
    messages[4] = message(4, payload=b"x" * 3 * 1024 * 1024)

    told = list(rabbitmq.publish(messages))

    assert [number for number, answer in enumerate(told) if answer is not None] == [4]
    refused = told[4]
    assert refused is not None
    assert refused.reason.startswith("the broker will not take it: ")
    assert set(bodies(rabbitmq_url, name)) == {
        b"%d" % number for number in range(10) if number != 4
    }


def test_whoever_stops_listening_leaves_no_confirmation_behind(
    rabbitmq: RabbitMQ, rabbitmq_url: str, name: str
) -> None:
    answers = rabbitmq.publish([message(number) for number in range(5)])
    next(iter(answers))
    answers.close()  # type: ignore[attr-defined] # a generator

    assert list(rabbitmq.publish([message()])) == [None]
    assert len(bodies(rabbitmq_url, name)) == 6


@pytest.fixture
def proxy(rabbitmq_url: str) -> Iterator[Proxy]:
    proxy = Proxy(rabbitmq_url)
    yield proxy
    proxy.close()


def test_a_late_confirmation_is_not_taken_for_that_of_the_next_message(
    proxy: Proxy, rabbitmq: RabbitMQ, rabbitmq_url: str, name: str
) -> None:
    destination = RabbitMQ(proxy.url, exchange=name, queue=name, reply_seconds_max=0.5)
    rabbitmq.ready()
    assert list(destination.publish([message(payload=b"before")])) == [None]
    proxy.hold_answers()
    with pytest.raises(Unavailable):
        list(destination.publish([message(payload=b"first")]))
    until(lambda: bodies(rabbitmq_url, name) == [b"before", b"first"])

    proxy.betray()
    told = list(destination.publish([message(payload=b"second")]))

    assert told == [None]
    assert bodies(rabbitmq_url, name) == [b"before", b"first", b"second"]
    destination.close()


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_takes_everything_and_confirms_nothing_costs_no_attempts(
    proxy: Proxy, rabbitmq: RabbitMQ, name: str
) -> None:
    destination = RabbitMQ(proxy.url, exchange=name, queue=name, reply_seconds_max=0.5)
    destination.ready()
    DispatchFactory.create_batch(5)
    proxy.hold_answers()

    figures = relay_once(destination)

    assert (figures.claimed, figures.published, figures.released) == (5, 0, 5)
    assert figures.failure.startswith("TimeoutError: ")
    assert set(Dispatch.objects.values_list("state", "attempts")) == {("PENDING", 0)}
    destination.close()


@pytest.mark.django_db(transaction=True)
def test_of_a_batch_that_takes_too_long_only_what_was_sent_is_told_of_and_sent(
    proxy: Proxy, rabbitmq: RabbitMQ, rabbitmq_url: str, name: str
) -> None:
    destination = RabbitMQ(proxy.url, exchange=name, queue=name)
    destination.ready()
    DispatchFactory.create_batch(8, payload={"x": "x" * 1_000_000})
    proxy.slow_down(20_000_000)

    figures = relay_once(destination, publish_seconds_max=0.3)

    assert 0 < figures.published < 8
    assert figures.published + figures.released == figures.claimed == 8
    assert len(queued(rabbitmq_url, name)) == figures.published
    destination.close()


def test_a_broker_that_never_answers_is_given_up(proxy: Proxy, rabbitmq: RabbitMQ) -> None:
    proxy.hold_answers()
    destination = RabbitMQ(proxy.url, exchange="x", queue="x", reply_seconds_max=0.5)

    with pytest.raises(Unavailable):
        destination.ready()


def test_a_wrong_password_is_told_and_costs_nothing(rabbitmq_url: str) -> None:
    scheme, _, address = rabbitmq_url.partition("://")
    destination = RabbitMQ(
        f"{scheme}://nobody:wrong@{address.rpartition('@')[2]}", exchange="x", queue="x"
    )

    with pytest.raises(Unavailable, match="ACCESS_REFUSED"):
        destination.ready()


def test_an_exchange_that_was_deleted_is_declared_again(
    rabbitmq: RabbitMQ, rabbitmq_url: str, name: str
) -> None:
    rabbitmq.ready()
    with amqp_channel(rabbitmq_url) as channel:
        channel.exchange_delete(name)

    with pytest.raises(Unavailable, match="NOT_FOUND"):
        list(rabbitmq.publish([message()]))

    rabbitmq.ready()
    assert list(rabbitmq.publish([message()])) == [None]


@pytest.mark.django_db(transaction=True)
def test_poison_among_good_events_dies_alone_and_is_not_lost(
    rabbitmq: RabbitMQ, rabbitmq_url: str, name: str
) -> None:
    DispatchFactory.create()
    poison = DispatchFactory.create(aggregate_id="A", payload={"x": "x" * 20_000_000})
    follower = DispatchFactory.create(aggregate_id="A", seq=2)
    DispatchFactory.create_batch(200)

    for _ in range(ATTEMPTS_MAX):
        drain(rabbitmq, seconds_max=30)
        Dispatch.objects.update(next_attempt_at=None)

    assert Dispatch.objects.filter(state=DispatchState.PUBLISHED).count() == 201
    assert Dispatch.objects.get(pk=poison.pk).state == DispatchState.DEAD
    assert Dispatch.objects.get(pk=follower.pk).state == DispatchState.PENDING
    ids = [one.properties["message_id"] for one in queued(rabbitmq_url, name)]
    assert len(ids) == len(set(ids)) == 201
    assert not {str(poison.event_id), str(follower.event_id)} & set(ids)

    Event.objects.filter(pk=poison.event_id).update(payload={"small": 1})
    redrive([poison.event_id])
    drain(rabbitmq, seconds_max=30)

    last = queued(rabbitmq_url, name)[-2:]
    assert [one.properties["message_id"] for one in last] == [
        str(poison.event_id),
        str(follower.event_id),
    ]
    assert json.loads(last[0].body) == {"small": 1}


@pytest.mark.django_db(transaction=True)
def test_events_wait_for_a_killed_broker_and_survive_it(private_rabbitmq: ServerControl) -> None:
    destination = RabbitMQ(private_rabbitmq.url, exchange="events", queue="events")
    before = DispatchFactory.create()
    assert relay_once(destination).published == 1
    # RabbitMQ 3.10 notes on the disk that a new quorum queue exists only a second after it has
    # confirmed messages; killed before that, it never serves the queue again.
    time.sleep(2)
    # Under load: the relay is at work when the broker dies.
    DispatchFactory.create_batch(300)
    figures, _ = race(
        lambda: drain(destination, seconds_max=60, batch=3),
        lambda: kill_at_work(private_rabbitmq),
    )
    assert figures is not None
    assert figures.failure
    assert 0 < figures.published < 300

    for _ in range(2 * ATTEMPTS_MAX):
        figures = relay_once(destination)
        # The dead connection is noticed before anything is claimed for it.
        assert (figures.claimed, bool(figures.failure)) == (0, True)
    private_rabbitmq.start()
    until(lambda: drain(destination, seconds_max=30).failure == "" and all_published())

    assert set(Dispatch.objects.values_list("attempts", flat=True)) == {0}
    ids = [one.properties["message_id"] for one in queued(private_rabbitmq.url, "events")]
    assert ids[0] == str(before.event_id)
    assert set(ids) == {str(one) for one in Dispatch.objects.values_list("event_id", flat=True)}
    destination.close()


def kill_at_work(broker: ServerControl) -> None:
    until(lambda: Dispatch.objects.filter(state=DispatchState.PUBLISHED).count() > 10)
    broker.kill()


def all_published() -> bool:
    return not Dispatch.objects.exclude(state=DispatchState.PUBLISHED).exists()
