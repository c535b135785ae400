"""What a broker really holds, read past the code under test."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import amqp
import redis

from outbox.destinations.port import Message

DEADLINE_SECONDS = 30


@contextmanager
def amqp_channel(url: str) -> Iterator[amqp.Channel]:
    user, _, host = url.removeprefix("amqp://").rstrip("/").partition("@")
    name, _, password = user.partition(":")
    with amqp.Connection(host, userid=name, password=password) as connection:
        yield connection.channel()


def queued(url: str, queue: str) -> list[amqp.Message]:
    """All messages of a queue, in order; they stay there."""
    messages = []
    with amqp_channel(url) as channel:
        while (message := channel.basic_get(queue, no_ack=False)) is not None:
            messages.append(message)
    return messages


def waiting(url: str, queue: str) -> int:
    """How many messages of a queue nobody has taken."""
    with amqp_channel(url) as channel:
        declared: Any = channel.queue_declare(queue, passive=True)
        return int(declared.message_count)


def streamed(url: str, stream: str) -> list[dict[str, str]]:
    """All entries of a stream, in order."""
    client = redis.Redis.from_url(url, decode_responses=True)
    entries: Any = client.xrange(stream)
    client.close()
    return [fields for _, fields in entries]


def until(true: Callable[[], bool]) -> None:
    """Wait for another process, but not for ever."""
    give_up_at = time.monotonic() + DEADLINE_SECONDS
    while not true():
        assert time.monotonic() < give_up_at, "it never came true"
        time.sleep(0.02)


def message(number: int = 1, *, payload: bytes = b'{"a": 1}', type_: str = "order.paid") -> Message:
    return Message(
        id=uuid4(),
        type=type_,
        aggregate_type="order",
        aggregate_id=f"shop/O-{number}",
        seq=1,
        created_at=datetime(2026, 3, 1, 11, 0, tzinfo=UTC),
        payload=payload,
    )
