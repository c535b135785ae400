"""The RabbitMQ of a measurement, and what a plain loop gets out of it."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from amqp import Channel, Connection
from amqp.basic_message import Message

from outbox.amqp_address import connection_arguments
from tests.rabbitmq import Node

EXCHANGE: Final = "bench"
QUEUE: Final = "bench"
_BATCH: Final = 100
_BODY: Final = b"x" * 200
_COUNTED_SECONDS: Final = 20.0


class NotAllArrived(AssertionError):
    """The queue holds another number of messages than were published."""


@contextmanager
def rabbitmq(folder: Path) -> Iterator[str]:
    """The address of AMQP_URL, else of a node of our own that ends with the measurement."""
    if given := os.environ.get("AMQP_URL"):
        yield given
        return
    node = Node(folder / "rabbitmq")
    node.start()
    try:
        yield node.url
    finally:
        node.stop()
        shutil.rmtree(folder, ignore_errors=True)


def plain_loop(url: str, messages: int) -> float:
    """Messages a second of one channel: batches of 100 one behind the other, then their confirms.

    The queue and the messages are like the relay's; there is no database and no order to keep.
    """
    with Connection(**connection_arguments(url)) as connection:
        channel = connection.channel()
        channel.exchange_declare("bench-plain", "topic", durable=True, auto_delete=False)
        arguments = {"x-queue-type": "quorum"}
        channel.queue_declare("bench-plain", durable=True, auto_delete=False, arguments=arguments)
        channel.queue_bind("bench-plain", "bench-plain", routing_key="#")
        confirmed = 0

        def on_ack(number: int, _multiple: bool) -> None:  # noqa: FBT001 - the library's call
            nonlocal confirmed
            confirmed = max(confirmed, number)

        channel.events["basic_ack"].add(on_ack)  # type: ignore[attr-defined] # (stubs)
        channel.confirm_select()
        began = time.perf_counter()
        for sent in range(_BATCH, messages + 1, _BATCH):
            for _ in range(_BATCH):
                message = Message(_BODY, delivery_mode=2, content_type="application/json")
                channel.basic_publish(
                    message, exchange="bench-plain", routing_key="order.paid", mandatory=True
                )
            while confirmed < sent:
                connection.drain_events(timeout=10)
        seconds = time.perf_counter() - began
        channel.queue_delete("bench-plain")
        channel.exchange_delete("bench-plain")
    return messages // _BATCH * _BATCH / seconds


def check_arrived(url: str, messages: int) -> None:
    """The queue has as many messages as were published; then it is emptied.

    Raises NotAllArrived.
    """
    deadline = time.monotonic() + _COUNTED_SECONDS
    with Connection(**connection_arguments(url)) as connection:
        channel = connection.channel()
        # A quorum queue tells its length with a delay.
        while (found := _length(channel)) != messages:
            if time.monotonic() > deadline:
                raise NotAllArrived(f"{found} messages arrived of {messages}")
            time.sleep(0.2)
        channel.queue_purge(QUEUE)


def empty(url: str) -> None:
    """Forget what is in the queue."""
    with Connection(**connection_arguments(url)) as connection:
        connection.channel().queue_purge(QUEUE)


def _length(channel: Channel) -> int:
    declared = channel.queue_declare(QUEUE, passive=True)
    return 0 if declared is None else int(declared[1])
