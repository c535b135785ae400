"""Figures for people: what they count, and that what they cost has a bound."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments.figures import rhythm, traffic, waiting
from payments.figures.rhythm import rhythms
from payments.figures.traffic import Moment, Step
from payments.models import (
    ConflictReason,
    ConflictStatus,
    TransactionKind,
    UnknownKeySighting,
)
from tests.factories import (
    ConflictFactory,
    DeliveryFactory,
    ProviderAccountFactory,
    ProviderTransactionFactory,
)

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 2, 18, 20, tzinfo=UTC)
HOUR = timedelta(hours=1)


def counted(moments: Any) -> list[Moment]:
    return [one for one in moments if one.callbacks or one.paid or one.refunded]


def test_callbacks_payments_and_refunds_are_counted_in_their_hours_by_provider() -> None:
    stripe = ProviderAccountFactory.create(provider="stripe")
    other = ProviderAccountFactory.create(provider="paypal")
    for account, at in ((stripe, NOW), (stripe, NOW - HOUR), (other, NOW - 23 * HOUR)):
        DeliveryFactory.create(account=account, received_at=at)
    DeliveryFactory.create(account=stripe, received_at=NOW - 24 * HOUR)
    for kind in (TransactionKind.PAYMENT, TransactionKind.CHARGEBACK):
        ProviderTransactionFactory.create(account=stripe, kind=kind, recorded_at=NOW)

    known = traffic.traffic(Step.HOUR, now=NOW)

    this_hour = NOW.replace(minute=0)
    assert counted(known.by_provider["stripe"]) == [
        Moment(this_hour - HOUR, callbacks=1),
        Moment(this_hour, callbacks=1, paid=1),
    ]
    assert counted(known.by_provider["paypal"]) == [Moment(this_hour - 23 * HOUR, callbacks=1)]
    assert [len(moments) for moments in known.by_provider.values()] == [24, 24]
    assert known.whole_since is None


def test_days_begin_at_midnight_utc() -> None:
    account = ProviderAccountFactory.create(provider="stripe")
    for at in (NOW, NOW.replace(hour=0, minute=0), NOW - timedelta(days=29)):
        DeliveryFactory.create(account=account, received_at=at)
    DeliveryFactory.create(account=account, received_at=NOW - timedelta(days=30))

    moments = traffic.traffic(Step.DAY, now=NOW).by_provider["stripe"]

    assert [(one.at.day, one.callbacks) for one in counted(moments)] == [(1, 1), (2, 2)]
    assert len(moments) == 30


def test_what_is_too_much_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "LOOKED_AT_MAX", 2)
    account = ProviderAccountFactory.create(provider="stripe")
    for back in (3, 2, 1):
        DeliveryFactory.create(account=account, received_at=NOW - back * HOUR)

    known = traffic.traffic(Step.HOUR, now=NOW)

    assert sum(one.callbacks for one in known.by_provider["stripe"]) == 2
    assert known.whole_since == NOW - 2 * HOUR


def test_conflicts_are_counted_by_reason_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for reason, due_at in (
        (ConflictReason.LATE_PAYMENT, NOW + HOUR),
        (ConflictReason.LATE_PAYMENT, NOW + HOUR),
        (ConflictReason.AMOUNT_MISMATCH, NOW),
    ):
        ConflictFactory.create(reason=reason, due_at=due_at)
    ConflictFactory.create(status=ConflictStatus.DISMISSED, resolved_at=NOW)

    def known() -> list[tuple[str, int, int]]:
        return [
            (one.reason, one.number, one.overdue) for one in waiting.conflicts_by_reason(now=NOW)
        ]

    assert known() == [("AMOUNT_MISMATCH", 1, 1), ("LATE_PAYMENT", 2, 0)]
    monkeypatch.setattr(waiting, "COUNTED_MAX", 1)
    assert sum(number for _, number, _ in known()) == 2  # one more than counts: "1+"


@pytest.mark.parametrize(
    ("silence", "silent"), [(timedelta(hours=6), False), (timedelta(hours=6, seconds=1), True)]
)
def test_an_account_is_silent_after_twice_its_longest_pause(
    silence: timedelta, silent: bool
) -> None:
    account = ProviderAccountFactory.create()
    last = NOW - silence
    pauses = [timedelta(minutes=10)] * 9 + [timedelta(hours=3)]
    for number in range(11):
        at = last - sum(pauses[:number], timedelta())
        DeliveryFactory.create(account=account, received_at=at)
    UnknownKeySighting.objects.create(
        account=account, key_id="k", first_seen_at=NOW, last_seen_at=NOW
    )

    (known,) = rhythms(now=NOW)

    assert (known.last, known.usual) == (last, timedelta(minutes=10))
    assert known.longest == timedelta(hours=3)
    assert known.is_silent(NOW) == silent
    assert known.unknown_keys == 1


@pytest.mark.parametrize("what", ["an answer of its API", "a replay"])
def test_what_we_fetched_or_took_once_more_is_no_callback(what: str) -> None:
    account = ProviderAccountFactory.create()
    times = [NOW - 20 * HOUR + number * HOUR / 4 for number in range(12)]
    first, *_ = [DeliveryFactory.create(account=account, received_at=at) for at in times]
    ours = {"key_id": "api"} if what == "an answer of its API" else {"replay_of": first}
    for _ in range(20):
        DeliveryFactory.create(account=account, received_at=NOW, **ours)

    (known,) = rhythms(now=NOW)
    told = traffic.traffic(Step.HOUR, now=NOW).by_provider[account.provider]

    assert (known.last, known.number, known.is_silent(NOW)) == (times[-1], 12, True)
    assert sum(moment.callbacks for moment in told) == 12


def test_an_account_without_a_rhythm_is_not_called_silent() -> None:
    ProviderAccountFactory.create()
    quiet = ProviderAccountFactory.create()
    DeliveryFactory.create(account=quiet, received_at=NOW - timedelta(days=300))

    assert [known.is_silent(NOW) for known in rhythms(now=NOW)] == [False, False]


def limits(sql: str) -> list[dict[str, Any]]:
    """The plan's nodes, in which every scan of a table that grows stands below a limit."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN (FORMAT JSON) {sql}")
        (plan,) = cursor.fetchone()[0]
    found: list[dict[str, Any]] = []

    def walk(node: dict[str, Any], *, limited: bool) -> None:
        limited = limited or node["Node Type"] == "Limit"
        if "Relation Name" in node:
            found.append({"table": node["Relation Name"], "limited": limited, **node})
        for below in node.get("Plans", ()):
            walk(below, limited=limited)

    walk(plan["Plan"], limited=False)
    return found


_GROWING = {"payments_delivery", "payments_providertransaction", "payments_conflict"}


def test_every_question_reads_what_grows_along_an_index_and_below_a_limit() -> None:
    ProviderAccountFactory.create()
    with CaptureQueriesContext(connection) as asked:
        for step in Step:
            traffic.traffic(step, now=NOW)
        rhythm.rhythms(now=NOW)
        waiting.conflicts_by_reason(now=NOW)

    scans = [scan for query in asked for scan in limits(query["sql"])]
    growing = [scan for scan in scans if scan["table"] in _GROWING]

    assert {scan["table"] for scan in growing} == _GROWING
    unbounded = [scan for scan in growing if not (scan["limited"] and "Index Name" in scan)]
    assert unbounded == [], json.dumps(unbounded, indent=1)
