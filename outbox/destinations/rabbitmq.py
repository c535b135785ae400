"""A topic exchange on RabbitMQ that confirms every message by its number."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from amqp import Channel, Connection
from amqp.basic_message import Message as AmqpMessage
from amqp.exceptions import AMQPError, PreconditionFailed

from outbox.amqp_address import connection_arguments
from outbox.destinations.confirms import Confirms
from outbox.destinations.port import CONTENT_TYPE, Message, Refused, Unavailable, parts

CONNECT_SECONDS_MAX: Final = 3
REPLY_SECONDS_MAX: Final = 5
_PERSISTENT: Final = 2


class RabbitMQ:
    """Publishes to a durable exchange; the routing key is the event's type.

    A durable quorum queue is bound to everything unless `queue` is empty; then other queues must
    be bound, because a message that no queue takes is refused.

    The messages of a batch follow each other without waiting. A confirmation counts for the message
    whose number it carries and for no other; after any error or silence the connection is closed,
    and the numbers end with it, so that a confirmation that comes late is never taken for another
    message's.
    """

    def __init__(
        self, url: str, *, exchange: str, queue: str, reply_seconds_max: float = REPLY_SECONDS_MAX
    ) -> None:
        self._address = connection_arguments(url)
        self._exchange = exchange
        self._queue = queue
        self._reply_seconds_max = reply_seconds_max
        self._connection: Connection | None = None
        self._channel: Channel | None = None
        self._confirms = Confirms()

    def ready(self) -> None:
        """Connect and declare what we publish to; notice a connection that has died meanwhile."""
        if self._connection is not None:
            try:
                # Nothing is owed to us here: whatever can be read is the end of the connection.
                self._connection.drain_events(timeout=0.001)
            except TimeoutError:
                return
            except (OSError, AMQPError):
                pass
            self.close()
        self._open()

    def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        """Send the messages one behind the other, and tell of each when it was confirmed."""
        told = 0
        try:
            for result in self._send(messages):
                told += 1
                yield result
        except PreconditionFailed:
            # One of those in flight is why the broker closed the channel; alone, each shows.
            for message in messages[told:]:
                yield self._send_alone(message)

    def close(self) -> None:
        """Drop the connection without a word: the words could be answered by a late reply."""
        connection, self._connection, self._channel = self._connection, None, None
        if connection is not None:
            with suppress(OSError, AMQPError):
                connection.collect()

    def _send(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        clean = False
        try:
            channel = self._channel or self._open()
            for part in parts(messages):
                waiting = deque(self._publish(channel, message) for message in part)
                while waiting:
                    yield self._answer(waiting.popleft())
            clean = True
        except PreconditionFailed:
            raise
        except (OSError, AMQPError) as error:
            raise Unavailable(f"{type(error).__name__}: {error}") from error
        finally:
            # Also when nobody waits for the rest of the answers.
            if not clean:
                self.close()

    def _send_alone(self, message: Message) -> Refused | None:
        try:
            (result,) = self._send([message])
        except PreconditionFailed as error:
            return Refused(f"the broker will not take it: {error.reply_text}")
        return result

    def _publish(self, channel: Channel, message: Message) -> int:
        channel.basic_publish(
            _amqp_message(message),
            exchange=self._exchange,
            routing_key=message.type,
            mandatory=True,
            timeout=self._reply_seconds_max,
        )
        return self._confirms.sent(str(message.id))

    def _answer(self, number: int) -> Refused | None:
        """What the broker says of this message; TimeoutError if it is silent too long."""
        silent_at = time.monotonic() + self._reply_seconds_max
        while not self._confirms.has(number):
            if self._connection is None or (left := silent_at - time.monotonic()) <= 0:
                raise TimeoutError(f"no confirmation within {self._reply_seconds_max} s")
            self._connection.drain_events(timeout=left)
        return self._confirms.take(number)

    def _open(self) -> Channel:
        connection = Connection(
            **self._address,
            connect_timeout=CONNECT_SECONDS_MAX,
            read_timeout=self._reply_seconds_max,
            write_timeout=self._reply_seconds_max,
        )
        self._connection = connection
        try:
            connection.connect()
            self._channel = connection.channel()
            self._declare(self._channel)
            self._confirms = Confirms()
            self._confirms.listen(self._channel)
        except (OSError, AMQPError) as error:
            self.close()
            raise Unavailable(f"{type(error).__name__}: {error}") from error
        return self._channel

    def _declare(self, channel: Channel) -> None:
        channel.exchange_declare(self._exchange, "topic", durable=True, auto_delete=False)
        if self._queue:
            channel.queue_declare(
                self._queue,
                durable=True,
                auto_delete=False,
                arguments={"x-queue-type": "quorum"},
            )
            channel.queue_bind(self._queue, self._exchange, routing_key="#")


def _amqp_message(message: Message) -> AmqpMessage:
    """The event as CloudEvents has it in binary mode on AMQP, and as RabbitMQ's tools show it."""
    headers = message.headers("cloudEvents_")
    if message.traceparent:
        headers["traceparent"] = message.traceparent
    return AmqpMessage(
        message.payload,
        content_type=CONTENT_TYPE,
        delivery_mode=_PERSISTENT,
        message_id=str(message.id),
        type=message.type,
        timestamp=int(message.created_at.timestamp()),
        application_headers=headers,
    )
