"""Days counted anew, also while consumers count."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from random import Random

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction

from orders.models import CountedMove, DailyTotal
from orders.totals import counting
from orders.totals.rebuild import EventsGone, UnreadableEvent, rebuild
from outbox.consumers.port import HeardEvent
from outbox.inbox import consume
from outbox.models import Dispatch, Event
from tests.orders.totals.telling import (
    NOON,
    added_up,
    heard,
    kept,
    paid,
    refunded,
    seeded,
    some_orders,
)

pytestmark = pytest.mark.django_db(transaction=True)

TODAY = NOON.date()


def hear(event: HeardEvent) -> None:
    consume(event, group=counting.GROUP, handler=counting.hear)


def delete_events(**which: object) -> None:
    """As retention does, once they are published everywhere."""
    Dispatch.objects.filter(event__in=Event.objects.filter(**which)).delete()
    Event.objects.filter(**which).delete()


@pytest.mark.parametrize("first", [TODAY, TODAY + timedelta(days=2)])
def test_days_that_were_spoilt_are_replaced_and_others_left_alone(first: date) -> None:
    some_orders(seeded(1), 20)
    for event in heard():
        hear(event)
    before = kept()
    assert before == added_up(heard())
    DailyTotal.objects.filter(day__gte=first).update(paid_minor=7, refunded_minor=-7)
    CountedMove.objects.filter(day__gte=first, seq=2).delete()

    rebuild(first)

    assert kept() == before


def test_events_on_their_way_are_counted_once_whether_they_arrive_before_or_after() -> None:
    some_orders(seeded(2), 20)
    events = heard()
    for event in events[::2]:
        hear(event)

    rebuilt = rebuild(TODAY)
    for event in events:
        hear(event)

    assert rebuilt.events == len(events)
    assert kept() == added_up(events)


@pytest.mark.parametrize("seed", range(2))
def test_beside_consumers_that_count_all_the_while(seed: int) -> None:
    chance = seeded(seed)
    some_orders(chance, 15)
    old = heard()
    some_orders(chance, 15, prefix="N")
    events = heard()
    finished = threading.Event()

    def consumer(own: Random) -> None:
        # Each hears everything, twice, in an order of its own.
        deliveries = [*events, *old]
        own.shuffle(deliveries)
        try:
            for event in deliveries:
                while True:
                    try:
                        hear(event)
                        break
                    except OperationalError:  # a wait for the lock that took too long
                        continue
        finally:
            connection.close()

    def rebuilder() -> int:
        runs = 0
        try:
            while not finished.is_set():
                rebuild(TODAY + timedelta(days=runs % 3))
                runs += 1
            return runs
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        rebuilding = threads.submit(rebuilder)
        consuming = [threads.submit(consumer, seeded(seed * 10 + n)) for n in range(3)]
        for each in consuming:
            each.result()
        finished.set()
        assert rebuilding.result() >= 1

    assert kept() == added_up(events)


def test_a_rebuild_waits_for_who_is_counting_and_loses_nothing_of_it() -> None:
    paid("A")
    paid("B")
    event, other = heard()
    hear(other)  # its day has a total that both would write to

    def rebuilder() -> None:
        try:
            rebuild(TODAY)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            counting.hear(event)
            rebuilding = threads.submit(rebuilder)
            with connection.cursor() as cursor:
                waiting = 0
                while not waiting:
                    cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
                    waiting = cursor.fetchone()[0]
        rebuilding.result()

    assert kept() == added_up(heard())


def test_a_refund_of_a_rebuilt_day_leans_on_one_of_a_day_before_it() -> None:
    paid("A", 1000)
    refunded("A", 2, 400)
    refunded("A", 3, 900, at=NOON + timedelta(days=3))
    for event in heard():
        hear(event)
    # The first day's events are gone by retention; what they told is still known.
    delete_events(seq__lt=3)

    rebuild(TODAY + timedelta(days=1))

    assert kept()[TODAY + timedelta(days=3), "acme", "EUR"] == (0, 500, 0)


def test_days_whose_events_are_gone_are_not_thrown_away() -> None:
    paid("A")
    paid("B", at=NOON + timedelta(days=1))
    for event in heard():
        hear(event)
    before = kept()
    delete_events(aggregate_id="acme/A")

    with pytest.raises(EventsGone, match="count anew from 2026-11-02 on"):
        rebuild(TODAY)
    assert kept() == before
    rebuild(TODAY + timedelta(days=1))
    assert kept() == before


def test_an_event_that_cannot_be_counted_is_named_and_nothing_changed() -> None:
    paid("A")
    paid("B")
    for event in heard():
        hear(event)
    before = kept()
    spoilt = Event.objects.get(aggregate_id="acme/B")
    Event.objects.filter(pk=spoilt.pk).update(
        payload={**spoilt.payload, "version": "x"},
        headers={},  # Spoilt by hand, it names no schema.
    )

    with pytest.raises(UnreadableEvent, match=f"{spoilt.pk}: version is not a whole number"):
        rebuild(TODAY)

    assert kept() == before


def test_the_command_says_what_it_did_and_what_it_cannot(
    capsys: pytest.CaptureFixture[str],
) -> None:
    paid("A")
    call_command("rebuild_totals", "--from", "2026-11-01")

    assert capsys.readouterr().out == ("Counted 1 events from 2026-11-01 on into 1 daily totals.\n")
    with pytest.raises(CommandError, match="invalid fromisoformat value"):
        call_command("rebuild_totals", "--from", "yesterday")
