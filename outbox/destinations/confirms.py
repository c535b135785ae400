"""Which confirmation of RabbitMQ belongs to which message."""

from amqp import Channel
from amqp.basic_message import Message as AmqpMessage
from amqp.exceptions import AMQPError, UnexpectedFrame

from outbox.destinations.port import Refused


class Confirms:
    """The numbers of one channel's messages, and what the broker said of each.

    A channel numbers what is published on it from 1 on, and a confirmation carries that number,
    which the client library does not compare.
    See https://www.rabbitmq.com/docs/confirms#publisher-confirms.
    """

    def __init__(self) -> None:
        self._last = 0
        self._open: dict[int, str] = {}
        self._told: dict[int, Refused | None] = {}
        self._returned: dict[str, str] = {}

    def listen(self, channel: Channel) -> None:
        """Ask a new channel for confirmations, and take them all."""
        events = channel.events  # type: ignore[attr-defined] # (stubs)
        events["basic_return"].add(self._on_return)
        events["basic_ack"].add(self._on_ack)
        events["basic_nack"].add(self._on_nack)
        channel.confirm_select()

    def sent(self, message_id: str) -> int:
        """A message has left: the number that its confirmation will carry."""
        self._last += 1
        self._open[self._last] = message_id
        return self._last

    def has(self, number: int) -> bool:
        """Whether the broker has answered for this message."""
        return number in self._told

    def take(self, number: int) -> Refused | None:
        """What it answered: None if it keeps the message."""
        return self._told.pop(number)

    def _on_ack(self, number: int, multiple: bool) -> None:  # noqa: FBT001 - the library's call
        for message_id, one in self._settled(number, multiple=multiple):
            # RabbitMQ returns a message first and confirms it then.
            reason = self._returned.pop(message_id, None)
            self._told[one] = None if reason is None else Refused(f"no queue takes it: {reason}")

    def _on_nack(self, number: int, multiple: bool) -> None:  # noqa: FBT001 - the library's call
        for _, one in self._settled(number, multiple=multiple):
            self._told[one] = Refused("the broker answered with a nack")

    def _on_return(
        self, error: AMQPError, _exchange: str, _routing_key: str, message: AmqpMessage
    ) -> None:
        self._returned[str(message.properties["message_id"])] = str(error.reply_text)

    def _settled(self, number: int, *, multiple: bool) -> list[tuple[str, int]]:
        numbers = [one for one in self._open if one <= number] if multiple else [number]
        if not multiple and number not in self._open:
            raise UnexpectedFrame(f"a confirmation for message {number}, which does not wait")
        return [(self._open.pop(one), one) for one in numbers]
