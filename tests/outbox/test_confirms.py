"""Which confirmation belongs to which message, whatever order the broker chooses."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from amqp.exceptions import ChannelError, UnexpectedFrame

from outbox.destinations.confirms import Confirms
from outbox.destinations.port import Refused


class Channel:
    """What the client library calls when the broker speaks."""

    def __init__(self) -> None:
        self.events: defaultdict[str, set[Callable[..., None]]] = defaultdict(set)
        self.confirms = False

    def confirm_select(self) -> None:
        self.confirms = True

    def says(self, event: str, *words: Any) -> None:
        (listener,) = self.events[event]
        listener(*words)


class Returned:
    def __init__(self, message_id: str) -> None:
        self.properties = {"message_id": message_id}


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture
def confirms(channel: Channel) -> Confirms:
    confirms = Confirms()
    listen: Any = confirms.listen
    listen(channel)
    assert channel.confirms
    return confirms


def send(confirms: Confirms, *ids: str) -> list[int]:
    return [confirms.sent(one) for one in ids]


def told(confirms: Confirms, numbers: list[int]) -> list[object]:
    return [confirms.take(one) if confirms.has(one) else "nothing" for one in numbers]


def test_a_confirmation_is_its_own_messages_only(confirms: Confirms, channel: Channel) -> None:
    numbers = send(confirms, "a", "b", "c")

    channel.says("basic_ack", 2, False)

    assert told(confirms, numbers) == ["nothing", None, "nothing"]


def test_one_answer_may_speak_of_all_up_to_it(confirms: Confirms, channel: Channel) -> None:
    numbers = send(confirms, "a", "b", "c", "d")
    channel.says("basic_nack", 1, False)
    channel.says("basic_ack", 3, True)

    nacked = Refused("the broker answered with a nack")
    assert told(confirms, numbers) == [nacked, None, None, "nothing"]
    channel.says("basic_nack", 4, True)
    assert told(confirms, numbers[3:]) == [nacked]


def test_a_message_that_comes_back_is_refused_and_no_other(
    confirms: Confirms, channel: Channel
) -> None:
    numbers = send(confirms, "a", "b", "c")

    channel.says("basic_return", ChannelError("NO_ROUTE"), "exchange", "key", Returned("b"))
    channel.says("basic_ack", 3, True)

    assert told(confirms, numbers) == [None, Refused("no queue takes it: NO_ROUTE"), None]


def test_a_confirmation_for_nothing_that_waits_is_an_error(
    confirms: Confirms, channel: Channel
) -> None:
    send(confirms, "a")
    channel.says("basic_ack", 1, False)

    for number in (1, 2):
        with pytest.raises(UnexpectedFrame):
            channel.says("basic_ack", number, False)
