"""The consumer as it really runs: a process of its own, on whatever the events are published to."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command

from config.consumers import CONSUMERS
from outbox.consumers.choice import source_for
from outbox.consumers.rabbitmq import RabbitMQSource
from outbox.consumers.redis_stream import RedisStreamSource
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.destinations.redis_stream import RedisStream
from outbox.models import Dispatch
from outbox.relay import drain
from tests.consumers.test_rabbitmq import exists
from tests.orders.totals.telling import added_up, heard, kept, seeded, some_orders
from tests.outbox.brokers import amqp_channel, queued, until
from tests.processes import ROOT, environment

pytestmark = pytest.mark.django_db(transaction=True)

SUBSCRIPTION = CONSUMERS["daily-totals"]


@pytest.fixture
def consumer(request: pytest.FixtureRequest, name: str) -> Iterator[subprocess.Popen[bytes]]:
    """`manage.py consume daily-totals`, with the variables that the test was given."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "consume", "daily-totals"],
        cwd=ROOT,
        env=environment(**request.getfixturevalue(request.param)),
    )
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def on_rabbitmq(rabbitmq_url: str, name: str) -> dict[str, str]:
    return {"AMQP_URL": rabbitmq_url, "AMQP_EXCHANGE": name}


@pytest.fixture
def on_stream(valkey_url: str, name: str) -> dict[str, str]:
    return {"EVENT_STREAM_URL": valkey_url, "EVENT_STREAM": name}


def relay(destination: RabbitMQ | RedisStream) -> None:
    bus = Dispatch.objects.all()[0].destination_id
    figures = drain(destination, bus, seconds_max=30)
    assert (figures.failure, figures.refused) == ("", 0)


@pytest.mark.parametrize("consumer", ["on_rabbitmq"], indirect=True)
def test_what_the_relay_publishes_to_rabbitmq_becomes_totals(
    consumer: subprocess.Popen[bytes], rabbitmq_url: str, name: str
) -> None:
    some_orders(seeded(3), 10)
    queue = f"{name}.daily-totals"
    destination = RabbitMQ(rabbitmq_url, exchange=name, queue=f"{name}.all")
    until(lambda: exists(rabbitmq_url, queue))

    relay(destination)

    until(lambda: kept() == added_up(heard()))
    consumer.send_signal(signal.SIGTERM)
    assert consumer.wait(20) == 0
    assert queued(rabbitmq_url, queue) == []
    assert queued(rabbitmq_url, f"{queue}.dead") == []
    destination.close()
    with amqp_channel(rabbitmq_url) as channel:
        for each in (queue, f"{queue}.dead", f"{name}.all"):
            channel.queue_delete(each)
        channel.exchange_delete(name)


@pytest.mark.parametrize("consumer", ["on_stream"], indirect=True)
def test_what_the_relay_appends_to_the_stream_becomes_totals(
    consumer: subprocess.Popen[bytes], valkey_url: str, name: str
) -> None:
    some_orders(seeded(4), 10)
    destination = RedisStream(valkey_url, stream=name, length_max=1000)

    relay(destination)

    until(lambda: kept() == added_up(heard()))
    consumer.send_signal(signal.SIGTERM)
    assert consumer.wait(20) == 0
    destination.close()


def test_it_hears_where_the_events_are_published(settings: Any) -> None:
    assert type(source_for(SUBSCRIPTION)) is RedisStreamSource
    settings.AMQP_URL = "amqp://127.0.0.1"
    assert type(source_for(SUBSCRIPTION)) is RabbitMQSource


def test_it_says_where_it_cannot_hear(settings: Any) -> None:
    settings.KAFKA_SERVERS = "127.0.0.1:9"
    with pytest.raises(ImproperlyConfigured, match="Events go to Kafka"):
        source_for(SUBSCRIPTION)
    settings.RELAY = "cdc"
    with pytest.raises(ImproperlyConfigured, match=r"RELAY=cdc.*where nothing new arrives"):
        source_for(SUBSCRIPTION)
    settings.RELAY = "polling"
    settings.KAFKA_SERVERS = settings.EVENT_STREAM_URL = ""
    with pytest.raises(CommandError, match="There is nowhere to hear events"):
        call_command("consume", "daily-totals")


def test_a_consumer_that_does_not_exist_is_not_run() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'totals'"):
        call_command("consume", "totals")
