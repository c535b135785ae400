"""The relay: nothing lost, nothing invented, in order, whatever the destination does."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
import structlog
from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now

from outbox.destinations.port import PAYLOAD_BYTES_MAX, Message, Refused, Unavailable
from outbox.models import Event, EventState
from outbox.redrive import redrive_all
from outbox.relay import Figures, InTransaction, drain, relay_once
from outbox.retries import ATTEMPTS_MAX, PAUSE, backoff
from tests.concurrency.racing import race
from tests.factories import EventFactory
from tests.outbox.doubles import Absent, Recorder, always_refusing, breaking

pytestmark = pytest.mark.django_db(transaction=True)


def no_more_waiting() -> None:
    """As if the time of every next attempt had come."""
    Event.objects.update(next_attempt_at=None)


def test_a_round_publishes_and_marks() -> None:
    event = EventFactory.create(payload={"order_no": "O-1"})
    destination = Recorder()

    assert relay_once(destination) == Figures(claimed=1, published=1)

    (message,) = destination.taken
    assert (message.id, message.payload) == (event.pk, b'{"order_no": "O-1"}')
    assert Event.objects.get().state == EventState.PUBLISHED
    assert relay_once(destination) == Figures()


def test_a_drain_publishes_all_events_of_an_aggregate_in_order() -> None:
    for seq in (3, 1, 2):
        EventFactory.create(aggregate_id="A", seq=seq)
    destination = Recorder()

    assert drain(destination, seconds_max=30) == Figures(claimed=3, published=3)
    assert [message.seq for message in destination.taken] == [1, 2, 3]


def test_a_drain_ends_when_its_time_is_up() -> None:
    for seq in (1, 2):
        EventFactory.create(aggregate_id="A", seq=seq)

    assert drain(Recorder(), seconds_max=0) == Figures(claimed=1, published=1)


def test_publishing_inside_a_transaction_is_refused() -> None:
    EventFactory.create()

    with transaction.atomic(), pytest.raises(InTransaction):
        relay_once(Recorder())

    assert Event.objects.get().state == EventState.PENDING


def test_no_transaction_is_open_while_a_destination_works() -> None:
    EventFactory.create()

    def judge(_message: Message) -> None:
        assert not connection.in_atomic_block
        assert connection.connection.info.transaction_status.name == "IDLE"

    assert relay_once(Recorder(judge)).published == 1


def test_a_transaction_that_rolls_back_publishes_nothing() -> None:
    with transaction.atomic():
        EventFactory.create()
        transaction.set_rollback(True)
    destination = Recorder()

    assert relay_once(destination) == Figures()
    assert destination.taken == []


def test_while_the_destination_is_away_no_event_is_touched() -> None:
    EventFactory.create()
    before = Event.objects.values().get()

    for _ in range(3):
        assert relay_once(Absent()) == Figures(failure="connection refused")

    assert Event.objects.values().get() == before


def test_an_outage_longer_than_all_attempts_kills_no_event() -> None:
    EventFactory.create()

    for _ in range(3 * ATTEMPTS_MAX):
        figures = relay_once(Recorder(breaking))
        assert figures == Figures(claimed=1, released=1, failure="connection lost")
        event = Event.objects.get()
        assert (event.state, event.attempts) == (EventState.PENDING, 0)
        assert event.last_error == "connection lost"
        no_more_waiting()

    assert relay_once(Recorder()) == Figures(claimed=1, published=1)


def test_what_was_confirmed_before_the_destination_broke_is_marked() -> None:
    events = [EventFactory.create() for _ in range(3)]

    def judge(message: Message) -> None:
        if message.id == events[1].pk:
            raise Unavailable("connection lost")

    figures = relay_once(Recorder(judge))

    assert figures == Figures(claimed=3, published=1, released=2, failure="connection lost")
    states = [Event.objects.get(pk=event.pk).state for event in events]
    assert states == [EventState.PUBLISHED, EventState.PENDING, EventState.PENDING]


def test_an_event_that_breaks_the_connection_does_not_hold_up_the_others() -> None:
    killer, *others = (EventFactory.create() for _ in range(4))

    def judge(message: Message) -> None:
        if message.id == killer.pk:
            raise Unavailable("connection lost")

    destination = Recorder(judge)
    relay_once(destination)
    # As if the pause of those behind it were over; the one in flight pauses longer.
    Event.objects.update(next_attempt_at=F("next_attempt_at") - PAUSE)

    assert relay_once(destination) == Figures(claimed=3, published=3)
    assert {message.id for message in destination.taken} == {event.pk for event in others}


def test_a_refused_event_costs_itself_alone() -> None:
    poison = EventFactory.create(aggregate_id="A")
    EventFactory.create(aggregate_id="A", seq=2)
    EventFactory.create_batch(5)
    destination = Recorder(
        lambda message: Refused("not wanted") if message.id == poison.pk else None
    )

    with structlog.testing.capture_logs() as logs:
        for _ in range(ATTEMPTS_MAX):
            drain(destination, seconds_max=30)
            no_more_waiting()

    event = Event.objects.get(pk=poison.pk)
    assert (event.state, event.attempts) == (EventState.DEAD, ATTEMPTS_MAX)
    assert event.last_error == "not wanted"
    assert len(destination.taken) == 5
    assert [log["log_level"] for log in logs] == ["warning"] * (ATTEMPTS_MAX - 1) + ["error"]
    assert logs[-1] == {
        "event": "event_dead",
        "log_level": "error",
        "event_id": str(poison.pk),
        "attempts": ATTEMPTS_MAX,
        "reason": "not wanted",
    }


def test_the_follower_of_a_dead_event_is_sent_after_it_once_it_is_redriven() -> None:
    for seq in (1, 2):
        EventFactory.create(aggregate_id="A", seq=seq)
    for _ in range(ATTEMPTS_MAX):
        drain(Recorder(always_refusing), seconds_max=30)
        no_more_waiting()
    destination = Recorder()
    assert drain(destination, seconds_max=30) == Figures()

    redrive_all()

    assert drain(destination, seconds_max=30) == Figures(claimed=2, published=2)
    assert [message.seq for message in destination.taken] == [1, 2]


def test_a_payload_beyond_the_limit_dies_without_reaching_the_destination() -> None:
    too_large = EventFactory.create(payload={"x": "x" * PAYLOAD_BYTES_MAX})
    good = EventFactory.create()
    destination = Recorder()

    assert relay_once(destination) == Figures(claimed=2, published=1, refused=1)

    assert [message.id for message in destination.taken] == [good.pk]
    assert Event.objects.get(pk=too_large.pk).last_error == "larger than 1048576 bytes"


def test_a_refused_event_waits_longer_each_time() -> None:
    EventFactory.create()
    waits = []
    for _ in range(4):
        relay_once(Recorder(always_refusing))
        event = Event.objects.annotate(at=Now()).get()
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
    EventFactory.create_batch(3)
    destination = Recorder()

    figures = relay_once(destination, publish_seconds_max=0)

    assert figures == Figures(claimed=3, published=1, released=2)
    assert relay_once(destination) == Figures(claimed=2, published=2)


def test_a_fault_in_a_destination_neither_loses_count_nor_kills_events() -> None:
    first, second = (EventFactory.create() for _ in range(2))

    def judge(message: Message) -> None:
        if message.id == second.pk:
            raise ZeroDivisionError("a fault")

    figures = relay_once(Recorder(judge))

    assert figures == Figures(
        claimed=2, published=1, released=1, failure="ZeroDivisionError: a fault"
    )
    assert Event.objects.get(pk=first.pk).state == EventState.PUBLISHED
    assert Event.objects.get(pk=second.pk).attempts == 0


def test_a_relay_that_lost_its_claim_says_so_and_changes_nothing() -> None:
    event = EventFactory.create()

    class Overtaken(Recorder):
        def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
            Event.objects.update(lease_until=Now() - timedelta(seconds=1))
            assert race(lambda: relay_once(successor)) == [Figures(claimed=1, published=1)]
            self.marked = Event.objects.values().get()
            yield from super().publish(messages)

    successor, overtaken = Recorder(), Overtaken()
    with structlog.testing.capture_logs() as logs:
        figures = relay_once(overtaken)

    assert figures == Figures(claimed=1, stale=1)
    assert Event.objects.values().get() == overtaken.marked
    assert [message.id for message in successor.taken + overtaken.taken] == [event.pk] * 2
    assert {"event": "event_claim_lost", "log_level": "warning", "event_id": str(event.pk)} in logs


def test_two_clocks_that_tick_at_once_publish_each_event_once() -> None:
    for aggregate in range(20):
        for seq in (1, 2, 3):
            EventFactory.create(aggregate_id=f"A-{aggregate}", seq=seq)
    destinations = [Recorder() for _ in range(4)]

    race(*[_draining(destination) for destination in destinations])

    taken = [message.id for destination in destinations for message in destination.taken]
    assert len(taken) == len(set(taken)) == 60
    assert not Event.objects.exclude(state=EventState.PUBLISHED).exists()


def _draining(destination: Recorder) -> Callable[[], Figures]:
    return lambda: drain(destination, seconds_max=30)


@pytest.mark.parametrize("lost", [0, 1], ids=["claim", "mark"])
def test_an_answer_of_the_database_that_is_lost_loses_no_event(lost: int) -> None:
    EventFactory.create_batch(2)
    destination = Recorder()
    statements = 0

    def lose_the_answer(execute: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal statements
        answer = execute(*arguments)
        statements += 1
        if statements == lost + 1:
            raise OperationalError("server closed the connection unexpectedly")
        return answer

    with connection.execute_wrapper(lose_the_answer), pytest.raises(OperationalError):
        relay_once(destination)
    Event.objects.filter(state="CLAIMED").update(lease_until=Now() - timedelta(seconds=1))
    drain(destination, seconds_max=30)

    assert len(destination.taken) == 2
    assert Event.objects.filter(state=EventState.PUBLISHED).count() == 2
