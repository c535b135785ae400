"""Destinations that stand in for a broker where a test is about the relay alone."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from outbox.destinations.port import Message, Refused, Unavailable


@dataclass
class Recorder:
    """Takes what `judge` lets pass and keeps it; `judge` may also raise Unavailable."""

    judge: Callable[[Message], Refused | None] = lambda _message: None
    taken: list[Message] = field(default_factory=list)

    def ready(self) -> None:
        pass

    def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        for message in messages:
            refused = self.judge(message)
            if refused is None:
                self.taken.append(message)
            yield refused

    def close(self) -> None:
        pass


class Absent(Recorder):
    """Cannot be connected to."""

    def ready(self) -> None:
        raise Unavailable("connection refused")


def always_refusing(_message: Message) -> Refused:
    return Refused("not wanted")


def breaking(_message: Message) -> None:
    raise Unavailable("connection lost")
