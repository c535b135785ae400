"""Consumers on a real RabbitMQ."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import amqp
import pytest
from django.db import DatabaseError, connection, transaction

from outbox.consumers.port import HeardEvent, Unreadable
from outbox.consumers.rabbitmq import RabbitMQSource
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.inbox import first_time
from outbox.models import ConsumedEvent
from tests.consumers.conftest import Crew
from tests.consumers.telling import (
    SUBSCRIPTION,
    count_naively,
    counted,
    event,
    publish,
    subscription,
)
from tests.outbox.brokers import amqp_channel, queued, until, waiting
from tests.server_control import ServerControl

pytestmark = pytest.mark.django_db(transaction=True)

Queue = Callable[..., RabbitMQSource]


@pytest.fixture
def exchange(rabbitmq_url: str, name: str, queue: Queue) -> Iterator[RabbitMQ]:
    """Where the consumers' events come from."""
    destination = RabbitMQ(rabbitmq_url, exchange=name, queue="")
    yield destination
    destination.close()


def buried(url: str, name: str) -> list[amqp.Message]:
    return queued(url, f"{name}.dead")


def reasons(url: str, name: str) -> list[str]:
    return [one.properties["application_headers"]["x-reason"] for one in buried(url, name)]


def test_each_event_is_handled_once_and_acknowledged(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    events = [event(number) for number in range(50)]
    publish(exchange, [*events, *events[:20], event(99, type_="order.refunded")])

    crew(queue())
    until(lambda: counted() == 51)
    crew.dismiss()

    assert ConsumedEvent.objects.filter(consumer_group="naive@1").count() == 51
    assert waiting(rabbitmq_url, name) == 0
    assert buried(rabbitmq_url, name) == []


def test_types_that_it_does_not_hear_do_not_reach_it(
    exchange: RabbitMQ, queue: Queue, rabbitmq_url: str, name: str
) -> None:
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_declare(f"{name}.other", exclusive=True)
        channel.queue_bind(f"{name}.other", name, routing_key="#")
        publish(exchange, [event(type_="conflict.opened")])

        assert waiting(rabbitmq_url, name) == 0


def test_the_loser_of_a_race_is_a_duplicate_that_is_acknowledged_and_not_buried(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(heard: HeardEvent) -> None:
        inside.set()
        go_on.wait(20)
        count_naively(heard)

    for _ in range(2):
        crew(queue(prefetch=1), subscription(slow))
    one = event()
    publish(exchange, [one, one])
    assert inside.wait(20)
    until(lambda: locks_waited_for() == 1)
    go_on.set()
    until(lambda: counted() == 1)
    crew.dismiss()

    assert counted() == 1
    assert waiting(rabbitmq_url, name) == 0
    assert buried(rabbitmq_url, name) == []


def locks_waited_for() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return int(cursor.fetchone()[0])


def test_who_waits_longer_than_the_lock_timeout_waits_on_and_is_not_buried(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    one = event()
    publish(exchange, [one])
    with transaction.atomic():
        first_time(str(one.id), group=SUBSCRIPTION.group)
        crew(queue())
        until(lambda: locks_waited_for() == 1)
        until(lambda: locks_waited_for() == 0)  # it gave up, for now

    until(lambda: settled_and_idle(rabbitmq_url, name))
    crew.dismiss()
    assert waiting(rabbitmq_url, name) == 0
    assert (counted(), buried(rabbitmq_url, name)) == (0, [])


def settled_and_idle(url: str, name: str) -> bool:
    return waiting(url, name) == 0 and locks_waited_for() == 0


def test_what_is_no_event_is_buried_with_the_reason_and_the_next_is_handled(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    crew(queue())
    with amqp_channel(rabbitmq_url) as channel:
        for body, headers in (
            ("{}", {}),
            ("{", {"cloudEvents_id": "1", "cloudEvents_type": "order.paid"}),
            ("[1]", {"cloudEvents_id": "2", "cloudEvents_type": "order.paid"}),
            ("[" * 100_000, {"cloudEvents_id": "3", "cloudEvents_type": "order.paid"}),
            ("{}", {"cloudEvents_id": "x" * 300, "cloudEvents_type": "order.paid"}),
        ):
            told = amqp.Message(body, application_headers=headers, message_id="m")
            channel.basic_publish(told, exchange=name, routing_key="order.paid")
    publish(exchange, [event()])
    until(lambda: counted() == 1)
    crew.dismiss()

    assert waiting(rabbitmq_url, name) == 0
    assert [reason[:30] for reason in reasons(rabbitmq_url, name)] == [
        "it has no CloudEvents id and t",
        "its body is no JSON: JSONDecod",
        "its body is no JSON object",
        "its body is no JSON: Recursion",
        "an event's id has 1-255 charac",
    ]
    kept: Any = buried(rabbitmq_url, name)[1]
    assert kept.body == "{"
    assert kept.properties["message_id"] == "m"
    assert kept.properties["application_headers"]["x-routing-key"] == "order.paid"


def test_an_event_whose_handler_fails_is_tried_and_then_buried_alone(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    tries: list[int] = []

    def picky(heard: HeardEvent) -> None:
        count_naively(heard)
        tries.append(heard.data["number"])
        if heard.data["number"] == 2:
            raise LookupError("no such thing")
        if heard.data["number"] == 3:
            raise Unreadable("not for me")
        if heard.data["number"] == 4 and tries.count(4) < 2:
            raise LookupError("only once")
        if heard.data["number"] == 5:
            # Whatever it does then is undone, and nobody says so but us.
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute("SELECT 1 / 0")

    publish(exchange, [event(number) for number in range(1, 7)])
    crew(queue(), subscription(picky))
    until(lambda: 6 in tries)
    crew.dismiss()

    assert tries == [1, 2, 2, 2, 3, 4, 4, 5, 5, 5, 6]
    assert counted() == 3
    told = reasons(rabbitmq_url, name)
    assert told[:2] == ["LookupError: no such thing", "not for me"]
    assert told[2].startswith("NotKept: ")


def test_a_message_that_kills_its_consumers_is_buried_by_the_broker(
    exchange: RabbitMQ, queue: Queue, rabbitmq_url: str, name: str
) -> None:
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_delete(name)
    publish_to = queue(deliveries_max=2)
    publish_to.open()
    publish_to.close()
    publish(exchange, [event()])
    for _ in range(3):
        source = queue(deliveries_max=2)
        source.open()
        assert source.next(10) is not None
        source.close()

    until(lambda: len(buried(rabbitmq_url, name)) == 1)

    [dead] = buried(rabbitmq_url, name)
    assert dead.properties["application_headers"]["x-death"][0]["reason"] == "delivery_limit"
    assert waiting(rabbitmq_url, name) == 0


def test_a_consumer_that_stops_settles_what_it_had_taken(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def slow(heard: HeardEvent) -> None:
        inside.set()
        go_on.wait(20)
        count_naively(heard)

    publish(exchange, [event(number) for number in range(10)])
    crew(queue(prefetch=5), subscription(slow))
    assert inside.wait(20)
    threading.Timer(0.2, go_on.set).start()
    crew.dismiss()

    assert 5 <= counted() <= 6
    rest = queued(rabbitmq_url, name)
    assert len(rest) == 10 - counted()
    # One may have been on its way when the subscription ended; no other counts as delivered.
    assert sum((one.headers or {}).get("x-delivery-count", 0) for one in rest) <= 1


def test_a_deleted_queue_is_declared_again(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    crew(queue())
    publish(exchange, [event(1)])
    until(lambda: counted() == 1)
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_delete(name)
        until(lambda: exists(rabbitmq_url, name))

    publish(exchange, [event(2)])

    until(lambda: counted() == 2)


def exists(url: str, queue: str) -> bool:
    with amqp_channel(url) as channel:
        try:
            channel.queue_declare(queue, passive=True)
        except amqp.NotFound:
            return False
        return True


def test_a_broker_that_dies_and_comes_back_loses_nothing(
    private_rabbitmq: ServerControl, crew: Crew
) -> None:
    url = private_rabbitmq.url
    source = RabbitMQSource(url, exchange="events", queue="events", types=SUBSCRIPTION.types)
    destination = RabbitMQ(url, exchange="events", queue="all")
    crew(source)
    until(lambda: exists(url, "events"))
    publish(destination, [event(number) for number in range(20)])
    until(lambda: counted() == 20)
    private_rabbitmq.stop()
    private_rabbitmq.start()
    destination.close()

    publish(destination, [event(number) for number in range(20, 40)])

    until(lambda: counted() == 40)
    crew.dismiss()
    assert buried(url, "events") == []
    destination.close()


def test_a_database_that_is_away_costs_no_event(
    exchange: RabbitMQ, queue: Queue, crew: Crew, rabbitmq_url: str, name: str
) -> None:
    cut: list[int] = []

    def cut_off(heard: HeardEvent) -> None:
        count_naively(heard)
        if len(cut) < 3:
            cut.append(1)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    publish(exchange, [event()])
    crew(queue(), subscription(cut_off))
    until(lambda: counted() == 1)
    crew.dismiss()

    assert len(cut) == 3
    assert buried(rabbitmq_url, name) == []
    assert waiting(rabbitmq_url, name) == 0
