"""What the relay asks of a place that events go to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from uuid import UUID

from django.conf import settings

#: The most that one event may carry: well under what any broker takes as it comes (RabbitMQ 4:
#: 16 MiB), and small enough that a whole batch fits in memory.
PAYLOAD_BYTES_MAX: Final = 1024 * 1024

#: So much is sent before the first of it is heard of: what takes longer than the time that there is
#: for a batch is given back unsent, and not sent and forgotten.
PART_BYTES_MAX: Final = 1024 * 1024

#: As many digits as the largest `seq` has: CloudEvents wants sequences that sort as text.
SEQUENCE_DIGITS: Final = 10
CONTENT_TYPE: Final = "application/json"


class Unavailable(Exception):
    """The destination cannot confirm anything now. It says nothing about any one event."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The destination is there and will not take this one event, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An event on its way out."""

    id: UUID
    type: str
    aggregate_type: str
    aggregate_id: str
    seq: int
    created_at: datetime
    payload: bytes
    dataschema: str = ""
    traceparent: str = ""

    def attributes(self) -> dict[str, str]:
        """What goes beside the payload: the attributes of CloudEvents 1.0, each in its text form.

        https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md. `subject` names the
        aggregate. `sequence` and `traceparent` are documented extensions of it.
        """
        attributes = {
            "specversion": "1.0",
            "id": str(self.id),
            "source": settings.EVENT_SOURCE,
            "type": self.type,
            "subject": f"{self.aggregate_type}/{self.aggregate_id}",
            "time": self.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            "datacontenttype": CONTENT_TYPE,
            "sequence": str(self.seq).zfill(SEQUENCE_DIGITS),
        }
        if self.dataschema:
            attributes["dataschema"] = self.dataschema
        if self.traceparent:
            attributes["traceparent"] = self.traceparent
        return attributes

    def headers(self, prefix: str) -> dict[str, str]:
        """The attributes for a binding's binary mode, each name behind the binding's prefix.

        `datacontenttype` is not among them: in every binding the protocol's own content type
        carries it. Values are printable ASCII by what `emit` lets in, so that none needs escaping.
        """
        return {
            f"{prefix}{name}": value
            for name, value in self.attributes().items()
            if name != "datacontenttype"
        }


class Destination(Protocol):
    """A place that events go to. Not shared between threads."""

    def ready(self) -> None:
        """Connect if need be; raises Unavailable, so that nothing is claimed in vain."""

    def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        """Send the messages in order, and tell of each in turn: None once it is safely there.

        What was told before Unavailable is raised remains true; the messages after that may or
        may not have arrived.
        """

    def close(self) -> None:
        """Let go of the connection; `ready` makes another."""


def parts(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """The messages in order, each part PART_BYTES_MAX at most; a larger one goes alone."""
    part: list[Message] = []
    size = 0
    for message in messages:
        size += len(message.payload)
        if part and size > PART_BYTES_MAX:
            yield part
            part, size = [], len(message.payload)
        part.append(message)
    if part:
        yield part
