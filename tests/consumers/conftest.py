"""Consumers that run in threads, on queues and streams of a test's own."""

import threading
from collections.abc import Callable, Iterator
from typing import Protocol
from uuid import uuid4

import pytest
from django.db import connection

from outbox.consumers.port import Source, Subscription
from outbox.consumers.rabbitmq import RabbitMQSource
from outbox.consumers.run import run
from tests.consumers.telling import SUBSCRIPTION
from tests.outbox.brokers import amqp_channel


@pytest.fixture
def name() -> str:
    """A name that nothing else on the broker has."""
    return f"test-{uuid4().hex[:12]}"


class Start(Protocol):
    def __call__(self, source: Source, subscription: Subscription = SUBSCRIPTION) -> None: ...


class Crew:
    """Consumers in threads, until `dismiss`."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []

    def __call__(self, source: Source, subscription: Subscription = SUBSCRIPTION) -> None:
        def work() -> None:
            try:
                run(source, subscription, self._stopped)
            finally:
                connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        self._threads.append(thread)

    def dismiss(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def crew() -> Iterator[Crew]:
    crew = Crew()
    yield crew
    crew.dismiss()


@pytest.fixture
def queue(rabbitmq_url: str, name: str) -> Iterator[Callable[..., RabbitMQSource]]:
    """Makes sources on one queue; exchange and queue are both called `name`."""

    def make(**extra: int) -> RabbitMQSource:
        return RabbitMQSource(
            rabbitmq_url, exchange=name, queue=name, types=SUBSCRIPTION.types, **extra
        )

    source = make()
    source.open()
    source.close()
    yield make
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_delete(name)
        channel.queue_delete(f"{name}.dead")
        channel.exchange_delete(name)
