"""Events from a queue on RabbitMQ, each acknowledged after its effect is committed."""

import time
from collections import deque
from contextlib import suppress
from typing import Any, Final

from amqp import Channel, Connection
from amqp.basic_message import Message as AmqpMessage
from amqp.exceptions import AMQPError

from outbox.amqp_address import connection_arguments
from outbox.consumers.port import Delivery, Unavailable, read

CONNECT_SECONDS_MAX: Final = 3
REPLY_SECONDS_MAX: Final = 5
HEARTBEAT_SECONDS: Final = 60
#: What a consumer that dies gives back, and what one that stops still handles.
PREFETCH: Final = 20
#: After so many deliveries without an answer the broker itself buries a message: it kills whoever
#: handles it. Others that were taken with it count too, so it must not be few.
DELIVERIES_MAX: Final = 20
REASON_BYTES_MAX: Final = 500
_CLOUDEVENTS: Final = "cloudEvents_"


class RabbitMQSource:
    """A durable quorum queue of the consumer's own, bound to the types that it hears.

    What is buried goes to `<queue>.dead`, durable too: by us with the header `x-reason`, or by the
    broker (then `x-death` says `delivery_limit`). Nothing there expires.
    """

    def __init__(
        self,
        url: str,
        *,
        exchange: str,
        queue: str,
        types: tuple[str, ...],
        prefetch: int = PREFETCH,
        deliveries_max: int = DELIVERIES_MAX,
    ) -> None:
        self._address = connection_arguments(url)
        self._exchange = exchange
        self._queue = queue
        self._dead = f"{queue}.dead"
        self._types = types
        self._prefetch = prefetch
        self._deliveries_max = deliveries_max
        self._connection: Connection | None = None
        self._channel: Channel | None = None
        self._tag = ""
        self._taken: deque[AmqpMessage] = deque()
        self._returned: list[str] = []

    def open(self) -> None:
        """Connect, declare the queues, and begin to take."""
        connection = Connection(
            **self._address,
            confirm_publish=True,
            heartbeat=HEARTBEAT_SECONDS,
            connect_timeout=CONNECT_SECONDS_MAX,
            read_timeout=REPLY_SECONDS_MAX,
            write_timeout=REPLY_SECONDS_MAX,
        )
        self._connection = connection
        self._taken.clear()
        try:
            connection.connect()
            self._channel = connection.channel()
            self._declare(self._channel)
            self._channel.basic_qos(0, self._prefetch, a_global=False)
            self._tag = self._channel.basic_consume(self._queue, callback=self._taken.append)
        except (OSError, AMQPError) as error:
            raise self._lost(error) from error

    def next(self, seconds_max: float) -> Delivery | None:
        """The next message; hears the broker out for at most this time."""
        give_up_at = time.monotonic() + seconds_max
        while not self._taken:
            left = give_up_at - time.monotonic()
            if left <= 0 or self._connection is None:
                return None
            self._hear(left)
        message = self._taken.popleft()
        return Delivery(event=read(_attributes(message), message.body or b""), receipt=message)

    def still_here(self, _delivery: Delivery) -> None:
        """Take in what the broker says meanwhile, and send a heartbeat when one is due."""
        self._hear(0.001)

    def done(self, delivery: Delivery) -> None:
        """Acknowledge the message."""
        try:
            self._open_channel().basic_ack(delivery.receipt.delivery_tag)
        except (OSError, AMQPError) as error:
            raise self._lost(error) from error

    def bury(self, delivery: Delivery, reason: str) -> None:
        """Have the broker confirm the message in the dead-letter queue, then acknowledge it."""
        message: AmqpMessage = delivery.receipt
        headers = dict(message.properties.get("application_headers") or {})
        cut = reason.encode()[:REASON_BYTES_MAX].decode(errors="ignore")
        headers |= {"x-reason": cut, "x-routing-key": message.delivery_info["routing_key"]}
        properties = {**message.properties, "delivery_mode": 2, "application_headers": headers}
        self._returned.clear()
        try:
            self._open_channel().basic_publish_confirm(
                AmqpMessage(message.body, **properties),
                exchange="",
                routing_key=self._dead,
                mandatory=True,
                timeout=REPLY_SECONDS_MAX,
                confirm_timeout=REPLY_SECONDS_MAX,
            )
        except (OSError, AMQPError) as error:
            raise self._lost(error) from error
        if self._returned:
            # Somebody has deleted the dead-letter queue: it is declared again as we connect again.
            raise self._lost(OSError(f"no queue {self._dead}: {self._returned[0]}"))
        self.done(delivery)

    def take_no_more(self) -> None:
        """End the subscription; what was sent before that is still ours to handle."""
        try:
            self._open_channel().basic_cancel(self._tag)
        except (OSError, AMQPError) as error:
            raise self._lost(error) from error

    def close(self) -> None:
        """Drop the connection; the broker delivers again what was not acknowledged."""
        connection, self._connection, self._channel = self._connection, None, None
        if connection is not None:
            with suppress(OSError, AMQPError):
                connection.collect()

    def _hear(self, seconds: float) -> None:
        connection = self._connection
        if connection is None:
            raise Unavailable("not connected")
        try:
            with suppress(TimeoutError):
                connection.drain_events(timeout=seconds)
            connection.heartbeat_tick()
        except (OSError, AMQPError) as error:
            raise self._lost(error) from error

    def _open_channel(self) -> Channel:
        if self._channel is None:
            raise Unavailable("not connected")
        return self._channel

    def _lost(self, error: OSError | AMQPError) -> Unavailable:
        self.close()
        return Unavailable(f"{type(error).__name__}: {error}")

    def _declare(self, channel: Channel) -> None:
        channel.exchange_declare(self._exchange, "topic", durable=True, auto_delete=False)
        arguments: dict[str, Any] = {"x-queue-type": "quorum"}
        channel.queue_declare(self._dead, durable=True, auto_delete=False, arguments=arguments)
        arguments = arguments | {
            "x-delivery-limit": self._deliveries_max,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": self._dead,
            # The broker lets go of a message once the other queue has it; that needs the second.
            "x-dead-letter-strategy": "at-least-once",
            "x-overflow": "reject-publish",
        }
        channel.queue_declare(self._queue, durable=True, auto_delete=False, arguments=arguments)
        for type_ in self._types:
            channel.queue_bind(self._queue, self._exchange, routing_key=type_)
        channel.events["basic_return"].add(self._on_return)  # type: ignore[attr-defined] # (stubs)

    def _on_return(self, error: AMQPError, *_rest: object) -> None:
        self._returned.append(str(error.reply_text))


def _attributes(message: AmqpMessage) -> dict[str, str]:
    headers = message.properties.get("application_headers") or {}
    return {
        name.removeprefix(_CLOUDEVENTS): value
        for name, value in headers.items()
        if name.startswith(_CLOUDEVENTS) and isinstance(value, str)
    }
