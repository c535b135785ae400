"""A topic on Kafka: idempotent, all replicas in sync, one key for each aggregate."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import ImproperlyConfigured

from outbox.destinations.port import Message, Refused, Unavailable, parts

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Producer

CONNECT_SECONDS_MAX: Final = 3.0
#: Within this time a batch is confirmed or given up; far below the lease of its claims.
DELIVERY_SECONDS_MAX: Final = 5.0
#: What concerns one message and would be the same again. All else is said of the broker.
_REFUSALS: Final = ("MSG_SIZE_TOO_LARGE", "INVALID_MSG", "INVALID_RECORD", "RECORD_LIST_TOO_LARGE")
#: Above what any event has, so that the broker alone decides what is too large.
_MESSAGE_BYTES_MAX: Final = 4 * 1024 * 1024
#: A broker refuses whole batches. Well under its usual limit of 1 MiB nobody shares a refusal; a
#: message that is larger than this goes alone.
_BATCH_BYTES_MAX: Final = 512 * 1024


class Kafka:
    """Publishes to one topic; the key is the aggregate's id, so its events stay in one partition.

    `options` are librdkafka's, for TLS and SASL. After a failure or a timeout the producer is
    purged and made anew: what it had sent may still arrive, but none of its reports can then be
    taken for that of a later attempt, and nothing of it is repeated behind our back.

    Raises ImproperlyConfigured if confluent-kafka is not installed.
    """

    def __init__(
        self,
        servers: str,
        *,
        topic: str,
        options: Mapping[str, str] | None = None,
        delivery_seconds_max: float = DELIVERY_SECONDS_MAX,
    ) -> None:
        self._library = _library()
        self._topic = topic
        self._delivery_seconds_max = delivery_seconds_max
        self._config: dict[str, Any] = {
            "client.id": "paidonce",
            "bootstrap.servers": servers,
            "enable.idempotence": True,
            "acks": "all",
            "delivery.timeout.ms": int(delivery_seconds_max * 1000),
            "request.timeout.ms": int(delivery_seconds_max * 1000),
            "socket.connection.setup.timeout.ms": int(CONNECT_SECONDS_MAX * 1000),
            "reconnect.backoff.max.ms": 1000,
            # A batch is at hand in full: there is nothing to wait for.
            "linger.ms": 0,
            "message.max.bytes": _MESSAGE_BYTES_MAX,
            "batch.size": _BATCH_BYTES_MAX,
            # What Java's producers do: the same key meets the same partition, whoever sends it.
            "partitioner": "murmur2_random",
            "log_level": 3,
            **(options or {}),
        }
        self._producer: Producer | None = None
        self._broken = ""

    def ready(self) -> None:
        """Ask for the topic if we are not connected; else see whether the connection broke."""
        if self._producer is not None:
            self._producer.poll(0)
            if not self._broken:
                return
            self.close()
        producer = self._made()
        try:
            known = producer.list_topics(self._topic, timeout=CONNECT_SECONDS_MAX)
        except self._library.KafkaException as error:
            raise self._lost(error.args[0]) from error
        problem = known.topics[self._topic].error
        # A topic that does not exist yet may come to be with the first message.
        if problem is not None and problem.code() != self._library.KafkaError.UNKNOWN_TOPIC_OR_PART:
            raise self._lost(problem)

    def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        """Send a part, wait for its reports, and tell of each in its turn; then the next."""
        for part in parts(messages):
            yield from self._publish(part)

    def _publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        producer = self._producer or self._made()
        reports: dict[int, KafkaError | None] = {}
        for number, message in enumerate(messages):
            self._send(producer, number, message, reports)
        try:
            self._wait(producer, reports, len(messages))
            for number in range(len(messages)):
                yield self._told(reports, number)
        except BaseException:
            # Also where the caller has no time left to hear of all of them.
            self.close()
            raise

    def close(self) -> None:
        """Forget the producer with all that it has not sent."""
        producer, self._producer = self._producer, None
        if producer is not None:
            producer.purge(in_queue=True, in_flight=True, blocking=False)

    def _made(self) -> "Producer":
        self._broken = ""
        try:
            self._producer = self._library.Producer({**self._config, "error_cb": self._on_error})
        except self._library.KafkaException as error:
            raise self._lost(error.args[0]) from error
        return self._producer

    def _send(
        self,
        producer: "Producer",
        number: int,
        message: Message,
        reports: "dict[int, KafkaError | None]",
    ) -> None:
        def report(error: "KafkaError | None", _message: object) -> None:
            reports[number] = error

        try:
            producer.produce(
                self._topic,
                value=message.payload,
                # The same as by change data capture, so that an aggregate keeps its partition.
                key=message.aggregate_id,
                headers=_headers(message),
                on_delivery=report,
            )
        except self._library.KafkaException as error:
            reports[number] = error.args[0]
        except BufferError:
            reports[number] = self._library.KafkaError(self._library.KafkaError._QUEUE_FULL)  # noqa: SLF001 - librdkafka's own errors are named so

    def _wait(
        self, producer: "Producer", reports: "dict[int, KafkaError | None]", count: int
    ) -> None:
        # librdkafka itself gives up a little earlier; this is for a librdkafka that does not.
        give_up_at = time.monotonic() + self._delivery_seconds_max + 1
        while len(reports) < count and (left := give_up_at - time.monotonic()) > 0:
            producer.poll(min(left, 0.1))

    def _told(self, reports: "dict[int, KafkaError | None]", number: int) -> Refused | None:
        if number not in reports:
            raise self._lost(None)
        error = reports[number]
        if error is None:
            return None
        if error.name() in _REFUSALS:
            self.close()
            return Refused(f"{error.name()}: {error.str()}")
        raise self._lost(error)

    def _lost(self, error: "KafkaError | None") -> Unavailable:
        self.close()
        if error is None:
            return Unavailable(f"nothing was confirmed within {self._delivery_seconds_max} s")
        return Unavailable(f"{error.name()}: {error.str()}")

    def _on_error(self, error: "KafkaError") -> None:
        """Not of one message; librdkafka mends most by itself, but we would wait for that."""
        self._broken = f"{error.name()}: {error.str()}"


def _library() -> Any:
    try:
        import confluent_kafka  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        raise ImproperlyConfigured(
            "Events shall go to Kafka, and confluent-kafka is not installed: "
            "pip install --require-hashes -r requirements-kafka.txt"
        ) from error
    return confluent_kafka


def _headers(message: Message) -> list[tuple[str, str | bytes | None]]:
    """CloudEvents in binary mode, as its Kafka protocol binding names them."""
    attributes = message.attributes()
    headers: list[tuple[str, str | bytes | None]] = [
        ("content-type", attributes.pop("datacontenttype"))
    ]
    headers += [(f"ce_{name}", value) for name, value in attributes.items()]
    if message.traceparent:
        headers.append(("traceparent", message.traceparent))
    return headers
