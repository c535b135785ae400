"""A topic exchange on RabbitMQ, with every message confirmed before the next one is sent."""

import ssl
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from amqp import Channel, Connection
from amqp.basic_message import Message as AmqpMessage
from amqp.exceptions import AMQPError, MessageNacked, PreconditionFailed
from kombu.utils.url import url_to_parts

from outbox.destinations.port import Message, Refused, Unavailable

CONNECT_SECONDS_MAX: Final = 3
REPLY_SECONDS_MAX: Final = 5
_PERSISTENT: Final = 2
_PORTS: Final = {"amqp": 5672, "amqps": 5671}


class RabbitMQ:
    """Publishes to a durable exchange; the routing key is the event's type.

    A durable quorum queue is bound to everything unless `queue` is empty; then other queues must
    be bound, because a message that no queue takes is refused.

    One message is in flight at a time, and anything but a clean answer closes the connection:
    a confirmation carries a number that the client library does not compare, so one that came late
    would be taken for the confirmation of the next message.
    """

    def __init__(
        self, url: str, *, exchange: str, queue: str, reply_seconds_max: float = REPLY_SECONDS_MAX
    ) -> None:
        parts = url_to_parts(url)
        secure = parts.scheme == "amqps"
        self._address: dict[str, Any] = {
            "host": f"{parts.hostname or 'localhost'}:{parts.port or _PORTS[parts.scheme]}",
            "userid": parts.username or "guest",
            "password": parts.password or "guest",
            "virtual_host": parts.path or "/",
            "ssl": {"server_hostname": parts.hostname, "cert_reqs": ssl.CERT_REQUIRED}
            if secure
            else False,
        }
        self._exchange = exchange
        self._queue = queue
        self._reply_seconds_max = reply_seconds_max
        self._connection: Connection | None = None
        self._channel: Channel | None = None
        self._returned: list[str] = []

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
        """Send each message once the one before it was confirmed."""
        for message in messages:
            yield self._publish(message)

    def close(self) -> None:
        """Drop the connection without a word: the words could be answered by a late reply."""
        connection, self._connection, self._channel = self._connection, None, None
        if connection is not None:
            with suppress(OSError, AMQPError):
                connection.collect()

    def _publish(self, message: Message) -> Refused | None:
        channel = self._channel or self._open()
        self._returned.clear()
        try:
            channel.basic_publish_confirm(
                _amqp_message(message),
                exchange=self._exchange,
                routing_key=message.type,
                mandatory=True,
                timeout=self._reply_seconds_max,
                confirm_timeout=self._reply_seconds_max,
            )
        except MessageNacked:
            self.close()
            return Refused("the broker answered with a nack")
        except PreconditionFailed as error:
            self.close()
            return Refused(f"the broker will not take it: {error.reply_text}")
        except (OSError, AMQPError) as error:
            self.close()
            raise Unavailable(f"{type(error).__name__}: {error}") from error
        except BaseException:
            self.close()
            raise
        # RabbitMQ returns a message first and confirms it then.
        return Refused(f"no queue takes it: {self._returned[0]}") if self._returned else None

    def _open(self) -> Channel:
        connection = Connection(
            **self._address,
            confirm_publish=True,
            connect_timeout=CONNECT_SECONDS_MAX,
            read_timeout=self._reply_seconds_max,
            write_timeout=self._reply_seconds_max,
        )
        self._connection = connection
        try:
            connection.connect()
            self._channel = connection.channel()
            self._declare(self._channel)
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
        channel.events["basic_return"].add(self._on_return)  # type: ignore[attr-defined] # (stubs)

    def _on_return(self, error: AMQPError, *_rest: object) -> None:
        self._returned.append(str(error.reply_text))


def _amqp_message(message: Message) -> AmqpMessage:
    """The event as CloudEvents has it in binary mode on AMQP, and as RabbitMQ's tools show it."""
    attributes = message.attributes()
    headers = {f"cloudEvents_{name}": value for name, value in attributes.items()}
    if message.traceparent:
        headers["traceparent"] = message.traceparent
    return AmqpMessage(
        message.payload,
        content_type="application/json",
        delivery_mode=_PERSISTENT,
        message_id=attributes["id"],
        type=message.type,
        timestamp=int(message.created_at.timestamp()),
        application_headers=headers,
    )
