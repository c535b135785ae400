"""The relay: nothing lost, nothing invented, in order, whatever the destination does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
import structlog
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from outbox.destinations.port import PAYLOAD_BYTES_MAX, Message, Refused, Unavailable
from outbox.models import Dispatch, DispatchState
from outbox.redrive import redrive_all
from outbox.relay import Figures, InTransaction
from outbox.retries import ATTEMPTS_MAX, PAUSE, backoff
from tests.concurrency.racing import race
from tests.factories import DispatchFactory
from tests.outbox.doubles import Absent, Recorder, always_refusing, breaking
from tests.outbox.relaying import bus_id, drain, end_all_sessions, relay_once

pytestmark = pytest.mark.django_db(transaction=True)


def no_more_waiting() -> None:
    """As if the time of every next attempt had come."""
    Dispatch.objects.update(next_attempt_at=None)


def test_a_round_publishes_and_marks() -> None:
    event = DispatchFactory.create(payload={"order_no": "O-1"})
    destination = Recorder()

    assert relay_once(destination) == Figures(claimed=1, published=1)

    (message,) = destination.taken
    assert (message.id, message.payload) == (event.event_id, b'{"order_no": "O-1"}')
    assert Dispatch.objects.get().state == DispatchState.PUBLISHED
    assert relay_once(destination) == Figures()


def test_a_drain_publishes_all_events_of_an_aggregate_in_order() -> None:
    for seq in (3, 1, 2):
        DispatchFactory.create(aggregate_id="A", seq=seq)
    destination = Recorder()

    assert drain(destination, seconds_max=30) == Figures(claimed=3, published=3)
    assert [message.seq for message in destination.taken] == [1, 2, 3]


def test_a_drain_ends_when_its_time_is_up() -> None:
    for seq in (1, 2):
        DispatchFactory.create(aggregate_id="A", seq=seq)

    assert drain(Recorder(), seconds_max=0) == Figures(claimed=1, published=1)


def test_publishing_inside_a_transaction_is_refused() -> None:
    DispatchFactory.create()

    with transaction.atomic(), pytest.raises(InTransaction):
        relay_once(Recorder())

    assert Dispatch.objects.get().state == DispatchState.PENDING


def test_no_transaction_is_open_while_a_destination_works() -> None:
    DispatchFactory.create()

    def judge(_message: Message) -> None:
        assert not connection.in_atomic_block
        assert connection.connection.info.transaction_status.name == "IDLE"

    assert relay_once(Recorder(judge)).published == 1


def test_a_transaction_that_rolls_back_publishes_nothing() -> None:
    with transaction.atomic():
        DispatchFactory.create()
        transaction.set_rollback(True)
    destination = Recorder()

    assert relay_once(destination) == Figures()
    assert destination.taken == []


def test_while_the_destination_is_away_no_event_is_touched() -> None:
    DispatchFactory.create()
    before = Dispatch.objects.values().get()

    for _ in range(3):
        assert relay_once(Absent()) == Figures(failure="connection refused")

    assert Dispatch.objects.values().get() == before


def test_an_outage_longer_than_all_attempts_kills_no_event() -> None:
    DispatchFactory.create()

    for _ in range(3 * ATTEMPTS_MAX):
        figures = relay_once(Recorder(breaking))
        assert figures == Figures(claimed=1, released=1, failure="connection lost")
        event = Dispatch.objects.get()
        assert (event.state, event.attempts) == (DispatchState.PENDING, 0)
        assert event.last_error == "connection lost"
        no_more_waiting()

    assert relay_once(Recorder()) == Figures(claimed=1, published=1)


def test_what_was_confirmed_before_the_destination_broke_is_marked() -> None:
    events = [DispatchFactory.create() for _ in range(3)]

    def judge(message: Message) -> None:
        if message.id == events[1].event_id:
            raise Unavailable("connection lost")

    figures = relay_once(Recorder(judge))

    assert figures == Figures(claimed=3, published=1, released=2, failure="connection lost")
    states = [Dispatch.objects.get(pk=event.pk).state for event in events]
    assert states == [DispatchState.PUBLISHED, DispatchState.PENDING, DispatchState.PENDING]


def test_an_event_that_breaks_the_connection_does_not_hold_up_the_others() -> None:
    killer, *others = (DispatchFactory.create() for _ in range(4))

    def judge(message: Message) -> None:
        if message.id == killer.event_id:
            raise Unavailable("connection lost")

    destination = Recorder(judge)
    relay_once(destination)
    # As if the pause of those behind it were over; the one in flight pauses longer.
    Dispatch.objects.update(next_attempt_at=F("next_attempt_at") - PAUSE)

    assert relay_once(destination) == Figures(claimed=3, published=3)
    assert {message.id for message in destination.taken} == {event.event_id for event in others}


def test_a_refused_event_costs_itself_alone() -> None:
    poison = DispatchFactory.create(aggregate_id="A")
    DispatchFactory.create(aggregate_id="A", seq=2)
    DispatchFactory.create_batch(5)
    destination = Recorder(
        lambda message: Refused("not wanted") if message.id == poison.event_id else None
    )

    with structlog.testing.capture_logs() as logs:
        for _ in range(ATTEMPTS_MAX):
            drain(destination, seconds_max=30)
            no_more_waiting()

    event = Dispatch.objects.get(pk=poison.pk)
    assert (event.state, event.attempts) == (DispatchState.DEAD, ATTEMPTS_MAX)
    assert event.last_error == "not wanted"
    assert len(destination.taken) == 5
    assert [log["log_level"] for log in logs] == ["warning"] * (ATTEMPTS_MAX - 1) + ["error"]
    assert logs[-1] == {
        "event": "event_dead",
        "log_level": "error",
        "event_id": str(poison.event_id),
        "destination_id": bus_id(),
        "attempts": ATTEMPTS_MAX,
        "reason": "not wanted",
    }


def test_the_follower_of_a_dead_event_is_sent_after_it_once_it_is_redriven() -> None:
    for seq in (1, 2):
        DispatchFactory.create(aggregate_id="A", seq=seq)
    for _ in range(ATTEMPTS_MAX):
        drain(Recorder(always_refusing), seconds_max=30)
        no_more_waiting()
    destination = Recorder()
    assert drain(destination, seconds_max=30) == Figures()

    redrive_all()

    assert drain(destination, seconds_max=30) == Figures(claimed=2, published=2)
    assert [message.seq for message in destination.taken] == [1, 2]


def test_a_payload_beyond_the_limit_dies_without_reaching_the_destination() -> None:
    too_large = DispatchFactory.create(payload={"x": "x" * PAYLOAD_BYTES_MAX})
    good = DispatchFactory.create()
    destination = Recorder()

    assert relay_once(destination) == Figures(claimed=2, published=1, refused=1)

    assert [message.id for message in destination.taken] == [good.event_id]
    assert Dispatch.objects.get(pk=too_large.pk).last_error == "larger than 1048576 bytes"


def test_a_refused_event_waits_longer_each_time() -> None:
    DispatchFactory.create()
    waits = []
    for _ in range(4):
        relay_once(Recorder(always_refusing))
        event = Dispatch.objects.annotate(at=Now()).get()
        assert event.next_attempt_at is not None
        waits.append((event.next_attempt_at - event.at).total_seconds())
        no_more_waiting()

    for wait, ceiling in zip(waits, (1, 2, 4, 8), strict=True):
        assert ceiling / 2 - 0.5 < wait <= ceiling


@pytest.mark.parametrize(
    ("attempts", "ceiling"), [(1, 1), (2, 2), (10, 512), (11, 600), (20_000, 600), (2**31, 600)]
)
def test_backoff_doubles_to_a_ceiling_and_stays_there(attempts: int, ceiling: int) -> None:
    waits = {backoff(attempts).total_seconds() for _ in range(200)}

    assert ceiling / 2 <= min(waits) < max(waits) <= ceiling
    assert len(waits) > 100


def test_publishing_stops_before_the_lease_ends() -> None:
    DispatchFactory.create_batch(3)
    destination = Recorder()

    figures = relay_once(destination, publish_seconds_max=0)

    assert figures == Figures(claimed=3, published=1, released=2)
    assert relay_once(destination) == Figures(claimed=2, published=2)


def test_an_event_that_cannot_be_sent_dies_of_it_alone() -> None:
    *good, poison = DispatchFactory.create_batch(4)

    def judge(message: Message) -> None:
        if message.id == poison.event_id:
            raise TypeError("a float in a header")

    destination = Recorder(judge)
    assert relay_once(destination) == Figures(claimed=4, published=3, refused=1)
    for _ in range(1, ATTEMPTS_MAX):
        no_more_waiting()
        DispatchFactory.create()
        figures = relay_once(destination)
        assert (figures.published, figures.refused, figures.failure) == (1, 1, "")

    poison.refresh_from_db()
    assert (poison.state, poison.attempts) == (DispatchState.DEAD, ATTEMPTS_MAX)
    assert poison.last_error == "it cannot be sent: TypeError: a float in a header"
    assert {one.event_id for one in good} <= {message.id for message in destination.taken}


def test_what_was_told_before_a_fault_is_marked_and_not_sent_again() -> None:
    first, second, third = DispatchFactory.create_batch(3)

    def judge(message: Message) -> None:
        if message.id == second.event_id:
            raise ZeroDivisionError("a fault")

    destination = Recorder(judge)
    relay_once(destination)

    assert [message.id for message in destination.taken] == [first.event_id, third.event_id]


def test_a_fault_that_hits_everything_is_the_destinations_and_kills_no_event() -> None:
    DispatchFactory.create_batch(3)

    def judge(_message: Message) -> None:
        raise ZeroDivisionError("a fault")

    for _ in range(2 * ATTEMPTS_MAX):
        figures = relay_once(Recorder(judge))
        assert figures == Figures(claimed=3, released=3, failure="ZeroDivisionError: a fault")
        no_more_waiting()

    assert set(Dispatch.objects.values_list("state", "attempts")) == {("PENDING", 0)}


def test_a_relay_that_lost_its_claim_says_so_and_changes_nothing() -> None:
    event = DispatchFactory.create()

    class Overtaken(Recorder):
        def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
            Dispatch.objects.update(lease_until=Now() - timedelta(seconds=1))
            assert race(lambda: relay_once(successor)) == [Figures(claimed=1, published=1)]
            self.marked = Dispatch.objects.values().get()
            yield from super().publish(messages)

    successor, overtaken = Recorder(), Overtaken()
    with structlog.testing.capture_logs() as logs:
        figures = relay_once(overtaken)

    assert figures == Figures(claimed=1, stale=1)
    assert Dispatch.objects.values().get() == overtaken.marked
    assert [message.id for message in successor.taken + overtaken.taken] == [event.event_id] * 2
    assert {
        "event": "event_claim_lost",
        "log_level": "warning",
        "event_id": str(event.event_id),
        "destination_id": bus_id(),
    } in logs


def test_two_clocks_that_tick_at_once_publish_each_event_once() -> None:
    for aggregate in range(20):
        for seq in (1, 2, 3):
            DispatchFactory.create(aggregate_id=f"A-{aggregate}", seq=seq)
    destinations = [Recorder() for _ in range(4)]

    race(*[_draining(destination) for destination in destinations])

    taken = [message.id for destination in destinations for message in destination.taken]
    assert len(taken) == len(set(taken)) == 60
    assert not Dispatch.objects.exclude(state=DispatchState.PUBLISHED).exists()


def _draining(destination: Recorder) -> Callable[[], Figures]:
    return lambda: drain(destination, seconds_max=30)


def test_a_claim_whose_answer_is_lost_ends_with_its_lease() -> None:
    DispatchFactory.create_batch(2)
    destination = Recorder()

    with losing_answer(1), pytest.raises(OperationalError):
        relay_once(destination)
    assert destination.taken == []
    Dispatch.objects.filter(state="CLAIMED").update(lease_until=Now() - timedelta(seconds=1))
    drain(destination, seconds_max=30)

    assert len(destination.taken) == 2
    assert Dispatch.objects.filter(state=DispatchState.PUBLISHED).count() == 2


def test_a_mark_whose_answer_is_lost_is_made_sure_of_and_nothing_is_sent_twice() -> None:
    DispatchFactory.create_batch(2)
    destination = Recorder()

    with losing_answer(2), structlog.testing.capture_logs() as logs:
        figures = relay_once(destination)

    assert (figures.published, figures.stale) == (2, 0)
    assert [each["event"] for each in logs] == ["mark_waits_for_database"]
    drain(destination, seconds_max=30)
    assert len(destination.taken) == 2


@contextmanager
def losing_answer(number: int) -> Iterator[None]:
    """The database does what the statement of this number says, and we never hear of it."""
    bus_id()
    statements = 0

    def lose_the_answer(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        nonlocal statements
        answer = execute(sql, *arguments)
        statements += "outbox_dispatch" in sql
        if statements == number:
            statements += 1
            raise OperationalError("server closed the connection unexpectedly")
        return answer

    with connection.execute_wrapper(lose_the_answer):
        yield


def test_a_mark_waits_for_a_database_that_comes_back_and_nothing_is_sent_twice() -> None:
    DispatchFactory.create_batch(3)
    ends = iter([end_all_sessions])
    destination = Recorder(judge=lambda _message: next(ends, lambda: None)())

    figures = relay_once(destination)

    assert (figures.published, figures.stale) == (3, 0)
    assert drain(destination, seconds_max=30).claimed == 0
    assert len(destination.taken) == 3


def test_a_mark_is_given_up_when_the_lease_ends() -> None:
    DispatchFactory.create()
    ends = iter([end_all_sessions])
    destination = Recorder(judge=lambda _message: next(ends, lambda: None)())

    with pytest.raises((InterfaceError, OperationalError)):
        relay_once(destination, lease=timedelta(milliseconds=200))

    connection.close()
    assert Dispatch.objects.get().state == DispatchState.CLAIMED
