"""Daily totals, whatever the order in which the events come."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from orders.models import CountedMove
from orders.totals import counting
from orders.totals.queries import Day, daily_totals
from outbox.consumers.port import HeardEvent, Unreadable
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

pytestmark = pytest.mark.django_db

TODAY = NOON.date()
TOMORROW = TODAY + timedelta(days=1)


def hear(event: HeardEvent) -> None:
    with transaction.atomic():
        counting.hear(event)


def test_a_day_is_what_was_paid_and_refunded_on_it() -> None:
    paid("A", 1000)
    paid("B", 500)
    refunded("A", 2, 300)
    refunded("A", 3, 1000, at=NOON + timedelta(days=1))
    for event in heard():
        hear(event)

    assert kept() == {
        (TODAY, "acme", "EUR"): (1500, 300, 2),
        (TOMORROW, "acme", "EUR"): (0, 700, 0),
    }


def test_money_that_comes_back_from_a_failed_refund_lessens_its_day() -> None:
    paid("A", 1000)
    refunded("A", 2, 1000)
    refunded("A", 3, 0, at=NOON + timedelta(days=1))
    for event in heard():
        hear(event)

    assert kept()[TOMORROW, "acme", "EUR"] == (0, -1000, 0)


@pytest.mark.parametrize("arrival", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1), (3, 0, 1, 2)])
def test_an_older_event_after_a_newer_one_takes_its_part_of_it(arrival: tuple[int, ...]) -> None:
    paid("A", 1000)
    refunded("A", 2, 200)
    refunded("A", 3, 900, at=NOON + timedelta(days=1))
    refunded("A", 4, 500, at=NOON + timedelta(days=2))
    events = heard()
    for number in arrival:
        hear(events[number])
        hear(events[number])

    assert kept() == {
        (TODAY, "acme", "EUR"): (1000, 200, 1),
        (TOMORROW, "acme", "EUR"): (0, 700, 0),
        (TODAY + timedelta(days=2), "acme", "EUR"): (0, -400, 0),
    }


@pytest.mark.parametrize("seed", range(6))
def test_any_arrival_with_repeats_comes_to_the_sum_of_the_events(seed: int) -> None:
    chance = seeded(seed)
    some_orders(chance, 12)
    events = heard()
    delivered = [event for event in events for _ in range(chance.randrange(1, 4))]
    chance.shuffle(delivered)

    for event in delivered:
        hear(event)

    assert kept() == added_up(events)
    assert CountedMove.objects.filter(counted_minor=None).count() == 0


@pytest.mark.parametrize(
    ("at", "day"),
    [
        ("2026-11-01T23:59:59.999999Z", date(2026, 11, 1)),
        ("2026-11-02T00:00:00Z", date(2026, 11, 2)),
        ("2026-11-02T07:30:00+08:00", date(2026, 11, 1)),
    ],
)
def test_a_day_is_a_day_in_utc(at: str, day: date) -> None:
    paid("A")
    [event] = heard()
    hear(HeardEvent(id=event.id, type=event.type, data={**event.data, "paid_at": at}))

    assert list(kept()) == [(day, "acme", "EUR")]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"amount": None}, "amount is NoneType, not an object"),
        ({"amount": {"amount_minor": "10", "currency": "EUR"}}, "amount_minor is not a whole"),
        ({"amount": {"amount_minor": True, "currency": "EUR"}}, "amount_minor is not a whole"),
        ({"amount": {"amount_minor": 1.5, "currency": "EUR"}}, "amount_minor is not a whole"),
        ({"amount": {"amount_minor": -1, "currency": "EUR"}}, "amount_minor is not a whole"),
        ({"amount": {"amount_minor": 2**63, "currency": "EUR"}}, "amount_minor is not a whole"),
        ({"amount": {"amount_minor": 1, "currency": "EURO"}}, "currency is not a text"),
        ({"merchant": ""}, "merchant is not a text"),
        ({"order_no": "a\0b"}, "order_no is not a text"),
        ({"order_no": 7}, "order_no is not a text"),
        ({"version": 2**31}, "version is not a whole number"),
        ({"paid_at": None}, "paid_at is not a text"),
        ({"paid_at": "yesterday"}, "paid_at is no time"),
        ({"paid_at": "2026-11-01T12:00:00"}, "paid_at has no time zone"),
    ],
)
def test_what_cannot_be_counted_is_said_and_changes_nothing(
    changed: dict[str, Any], why: str
) -> None:
    paid("A")
    [event] = heard()

    with pytest.raises(Unreadable, match=why):
        hear(HeardEvent(id=event.id, type=event.type, data={**event.data, **changed}))

    assert kept() == {}


def test_a_chart_has_every_day_by_currency_of_one_merchant_or_of_all() -> None:
    paid("A", 1000)
    paid("B", 70, currency="JPY", at=NOON + timedelta(days=2))
    paid("A", 500, merchant="zeta")
    refunded("A", 2, 100, merchant="zeta", at=NOON + timedelta(days=1))
    for event in heard():
        hear(event)
    last = TODAY + timedelta(days=2)
    quiet = Day(day=last)

    assert daily_totals(first=TODAY, last=last, merchant="zeta") == {
        "EUR": [
            Day(day=TODAY, paid_minor=500, paid_count=1),
            Day(day=TOMORROW, refunded_minor=100),
            quiet,
        ]
    }
    assert daily_totals(first=TODAY, last=last) == {
        "EUR": [
            Day(day=TODAY, paid_minor=1500, paid_count=2),
            Day(day=TOMORROW, refunded_minor=100),
            quiet,
        ],
        "JPY": [
            Day(day=TODAY),
            Day(day=TOMORROW),
            Day(day=last, paid_minor=70, paid_count=1),
        ],
    }
    assert daily_totals(first=datetime(2020, 1, 1, tzinfo=UTC).date(), last=date(2020, 1, 2)) == {}
