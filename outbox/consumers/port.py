"""What a consumer is, what it hears, and what it asks of the place that it hears it from."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class Unreadable(ValueError):
    """What was delivered is no event, or not one that this consumer can understand."""


class Unavailable(Exception):
    """The broker cannot be heard now. It says nothing about any one event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardEvent:
    """An event as it was delivered."""

    id: str
    type: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A consumer: its name, its group in the inbox, the types that it hears, and what it does.

    The name is also that of its queue or of its group on the stream; the inbox's group may carry
    the handler's version. `handler` runs in the transaction of the mark. It raises Unreadable for
    an event that it will never understand.
    """

    name: str
    group: str
    types: tuple[str, ...]
    handler: Callable[[HeardEvent], None]


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message: the event in it or why there is none, and the broker's own name for it."""

    event: HeardEvent | Unreadable
    receipt: Any


class Source(Protocol):
    """A place that events are heard from, each until it is settled. Not shared between threads.

    Every method may raise Unavailable; what was not settled then is delivered again.
    """

    def open(self) -> None:
        """Connect, and declare what we hear from."""

    def next(self, seconds_max: float) -> Delivery | None:
        """The next delivery, or None if none came in that time."""

    def still_here(self, delivery: Delivery, /) -> None:
        """Say that we live, while this delivery takes long."""

    def done(self, delivery: Delivery) -> None:
        """Acknowledge it: its effect is committed."""

    def bury(self, delivery: Delivery, reason: str) -> None:
        """Put it where a person finds it, with the reason, and acknowledge it after that."""

    def take_no_more(self) -> None:
        """From now on `next` gives only what has been taken already."""

    def close(self) -> None:
        """Let go of the connection; `open` makes another."""


def read(attributes: Mapping[str, str], body: bytes | str) -> HeardEvent | Unreadable:
    """The event that these CloudEvents attributes and this JSON make, or why they make none."""
    event_id, type_ = attributes.get("id", ""), attributes.get("type", "")
    if not event_id or not type_:
        return Unreadable("it has no CloudEvents id and type")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        return Unreadable(f"its body is no JSON: {type(error).__name__}")
    if not isinstance(data, dict):
        return Unreadable("its body is no JSON object")
    return HeardEvent(id=event_id, type=type_, data=data)
