"""Destinations of a test's own on the shared brokers."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from outbox.destinations.rabbitmq import RabbitMQ
from outbox.destinations.redis_stream import RedisStream
from tests.outbox.brokers import amqp_channel


@pytest.fixture
def name() -> str:
    """A name that nothing else on the broker has."""
    return f"test-{uuid4().hex[:12]}"


@pytest.fixture
def rabbitmq(rabbitmq_url: str, name: str) -> Iterator[RabbitMQ]:
    """A destination whose exchange and queue are both called `name`."""
    destination = RabbitMQ(rabbitmq_url, exchange=name, queue=name)
    yield destination
    destination.close()
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_delete(name)
        channel.exchange_delete(name)


@pytest.fixture
def redis_stream(valkey_url: str, name: str) -> Iterator[RedisStream]:
    """A destination whose stream is called `name`."""
    destination = RedisStream(valkey_url, stream=name, length_max=100_000)
    yield destination
    destination.close()
