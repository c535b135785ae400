"""Many endpoints, many relays, and relays that die: nobody delays another, nothing is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from django.db import DataError, connection, transaction

from outbox.models import Attempt, Dispatch, DispatchState
from outbox.webhooks import attempts, breaker
from outbox.webhooks.relay import PER_ENDPOINT
from tests.outbox.brokers import until
from tests.outbox.webhooks import receiver as does
from tests.outbox.webhooks.receiver import Answer, Handler, Receiver, after, answer
from tests.outbox.webhooks.rows import drain, endpoint, relay, tell, way
from tests.processes import ROOT, environment

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = """
import sys
import django; django.setup()
from datetime import timedelta
from outbox.webhooks.exchange import Post
from outbox.webhooks.relay import WebhookRelay
lease = timedelta(seconds=float(sys.argv[1]))
WebhookRelay(Post(private=True, seconds_max=5), lease=lease).drain(seconds_max=20)
"""


def noting(note: Callable[[], None]) -> Answer:
    """All is well, and the test is told when."""

    def give(handler: Handler) -> None:
        note()
        answer()(handler)

    return give


def start_relay(*, lease: float) -> "subprocess.Popen[bytes]":
    env = environment(OUTBOX_WEBHOOK_ALLOW_PRIVATE="true", DJANGO_SETTINGS_MODULE="config.settings")
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(lease)], cwd=ROOT, env=env)


def test_a_relay_killed_between_the_answer_and_the_mark_loses_and_forgets_nothing(
    receiver: Receiver,
) -> None:
    shop = endpoint(receiver)
    events = [str(tell("shop/1", seq)) for seq in (1, 2)]
    doomed: list[subprocess.Popen[bytes]] = []
    ready = threading.Event()

    def kill_whoever_hears(handler: Handler) -> None:
        ready.wait(10)
        # The endpoint has taken it; whoever sent it will never know.
        os.kill(doomed[0].pid, signal.SIGKILL)
        answer()(handler)

    receiver.answers = [kill_whoever_hears]
    doomed.append(start_relay(lease=1.5))
    ready.set()
    assert doomed[0].wait(30) == -signal.SIGKILL
    assert way(shop, UUID(events[0])).state == DispatchState.CLAIMED
    assert drain() == {}

    until(lambda: drain() == {"published": 2})
    assert receiver.ids == [events[0], *events]
    assert receiver.complaints == []
    assert Attempt.objects.count() == 2


def test_two_relays_at_once_send_each_event_once_and_each_aggregate_in_order(
    receiver: Receiver,
) -> None:
    shop = endpoint(receiver)
    expected: dict[str, list[str]] = {f"shop/{number}": [] for number in range(6)}
    for seq in range(1, 6):
        for aggregate, ids in expected.items():
            ids.append(str(tell(aggregate, seq)))
    relays = [start_relay(lease=45) for _ in range(2)]
    assert [each.wait(60) for each in relays] == [0, 0]

    assert set(receiver.times().values()) == {1}
    assert len(receiver.received) == 30
    for aggregate, ids in expected.items():
        subject = f"order/{aggregate}"
        assert [r.id for r in receiver.received if r.headers["ce-subject"] == subject] == ids
    assert Dispatch.objects.filter(destination=shop, state=DispatchState.PUBLISHED).count() == 30
    assert receiver.complaints == []


@pytest.mark.parametrize("trouble", [does.hang, does.hang_up])
def test_a_dead_endpoint_costs_little_and_delays_no_other(
    receivers: Callable[[], Receiver], trouble: Answer
) -> None:
    dead, good = receivers(), receivers()
    dead.always = trouble
    endpoint(dead)
    endpoint(good)
    for _ in range(30):
        tell()
    arrived: list[float] = []
    good.always = noting(lambda: arrived.append(time.monotonic()))
    started = time.monotonic()
    drain(seconds_max=2.0)
    # Each attempt at the one that hangs takes two seconds; the good one does not know it.
    assert len(arrived) == 30
    assert arrived[-1] - started < 4
    assert set(good.times().values()) == {1}
    # Four at once before it is known to fail, then one at a time.
    assert len(dead.received) == breaker.FAILURES_MAX


def test_no_answer_of_one_endpoint_stops_the_others(receivers: Callable[[], Receiver]) -> None:
    hostile, good = receivers(), receivers()
    far = f"Sun, 01 Mar 2026 12:10:00 +{'9' * 20}"
    hostile.always = answer(503, Retry_After=far)
    shop = endpoint(hostile)
    endpoint(good)
    events = [tell() for _ in range(6)]

    drain()

    assert set(good.ids) == {str(event) for event in events}
    assert way(shop, UUID(hostile.ids[0])).attempts == 1


@pytest.mark.parametrize("error", [DataError, RuntimeError])
def test_a_fault_of_ours_at_one_endpoint_stops_no_other(
    receivers: Callable[[], Receiver], error: type[Exception]
) -> None:
    strange, good = receivers(), receivers()
    shop = endpoint(strange)
    endpoint(good)
    event = tell()

    def fail_for_one(execute: Callable[..., Any], sql: str, values: Any, *rest: Any) -> Any:
        if 'INSERT INTO "outbox_attempt"' in sql and shop.pk in values:
            raise error("what nobody thought of")
        return execute(sql, values, *rest)

    with connection.execute_wrapper(fail_for_one):
        assert drain() == {"failed": 1, "published": 1}

    assert good.ids == [str(event)]
    assert way(shop, event).state == DispatchState.PENDING
    assert way(shop, event).next_attempt_at is not None


def test_endpoints_that_hang_leave_threads_to_others_however_many_they_are(
    receivers: Callable[[], Receiver],
) -> None:
    dead = [receivers() for _ in range(6)]
    for each in dead:
        each.always = does.hang
        breaker.failed(endpoint(each).pk)
    good = receivers()
    endpoint(good)
    for _ in range(4):
        tell()
    arrived: list[float] = []
    good.always = noting(lambda: arrived.append(time.monotonic()))
    started = time.monotonic()

    relay(threads=4, seconds_max=2.0).drain(seconds_max=0.5)

    assert len(arrived) == 4
    assert arrived[-1] - started < 1.5


def test_what_is_asked_for_at_one_endpoint_leaves_threads_to_others(
    receivers: Callable[[], Receiver],
) -> None:
    dead, good = receivers(), receivers()
    shop = endpoint(dead)
    endpoint(good)
    delivered = [tell() for _ in range(12)]
    drain()
    for event in delivered:
        with transaction.atomic():
            attempts.resend(way(shop, event), by="ana")
    dead.always = does.hang
    dead.most_in_flight = 0
    tell()
    started = time.monotonic()
    arrived: list[float] = []
    good.always = noting(lambda: arrived.append(time.monotonic()))

    relay(threads=4, seconds_max=2.0).drain(seconds_max=0.5)
    # One that was asked for, and the new event.
    assert dead.most_in_flight == 2
    assert len(arrived) == 1
    assert arrived[0] - started < 1.5

    dead.always = answer()
    while drain():
        pass
    assert not Attempt.objects.filter(at=None).exists()


def test_an_endpoint_has_so_many_in_flight_and_a_slow_one_only_one(receiver: Receiver) -> None:
    endpoint(receiver)
    for _ in range(12):
        tell()
    receiver.always = after(0.2, answer())
    assert drain() == {"published": 12}
    assert receiver.most_in_flight == PER_ENDPOINT

    sender = relay(slow_milliseconds=100)
    tell()
    assert dict(sender.drain(seconds_max=10)) == {"published": 1}
    receiver.most_in_flight = 0
    for _ in range(3):
        tell()
    assert dict(sender.drain(seconds_max=10)) == {"published": 3}
    assert receiver.most_in_flight == 1


def test_all_endpoints_are_served_by_turns(receivers: Callable[[], Receiver]) -> None:
    many = [receivers() for _ in range(6)]
    order: list[int] = []
    for number, each in enumerate(many):
        each.always = noting(partial(order.append, number))
        endpoint(each)
    for _ in range(20):
        tell()
    drain(threads=2, per_endpoint=2)
    assert len(order) == 120
    # Nobody is through before everybody has had a good part.
    for number in range(6):
        assert 10 <= order[:90].count(number) <= 20


def test_time_that_is_up_ends_the_run_and_what_is_in_flight_is_written_down(
    receiver: Receiver,
) -> None:
    shop = endpoint(receiver)
    for _ in range(40):
        tell()
    receiver.always = after(0.15, answer())
    started = time.monotonic()
    figures = relay().drain(seconds_max=0.3)
    assert time.monotonic() - started < 2
    assert 0 < figures["published"] < 40
    assert not Dispatch.objects.filter(destination=shop, state=DispatchState.CLAIMED).exists()
    assert len(receiver.received) == figures["published"]


def test_threads_leave_no_connection_to_the_database_behind(receiver: Receiver) -> None:
    endpoint(receiver)
    for _ in range(30):
        tell()
    before = connections()
    drain()
    assert connections() == before


def connections() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return int(cursor.fetchone()[0])
