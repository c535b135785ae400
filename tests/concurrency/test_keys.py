"""One key, many at once, in threads and in processes: one execution, one answer."""

import os
import signal
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db import connection

from idempotency.models import Record, RecordStatus
from orders.models import Merchant, Order
from orders.numbers import lock_key
from outbox.models import Event
from tests.concurrency.crew import Crew
from tests.concurrency.key_deeds import (
    RESULT,
    Refunder,
    SleepyRefunder,
    post_order,
    post_order_once,
    post_order_over_http,
    with_clock_off_by,
)
from tests.concurrency.nursery import Nursery, answer
from tests.concurrency.onlooker import Onlooker
from tests.concurrency.tally import tally
from tests.orders.client import ApiClient

pytestmark = pytest.mark.django_db(transaction=True)

DONE = f"Executed {RESULT.body.decode()}"
REPLAYED = f"Replay {RESULT.body.decode()}"
ROUNDS = 5
#: By threads, and as often again by processes.
HTTP_ROUNDS = 100
#: A merchant has 6000 calls in a minute.
ROUNDS_OF_A_MERCHANT = 50


def test_twenty_with_one_key_make_one_order_and_get_one_answer(crew: Crew) -> None:
    headers = ApiClient().headers
    for number in range(ROUNDS):
        call = partial(post_order, headers, f"k{number}", f"A-{number}")

        answers = crew.race(*[call] * crew.size)

        assert {(one.status, one.body) for one in answers} == {(201, answers[0].body)}
        assert f'"order_no":"A-{number}"'.encode() in answers[0].body
        assert Counter(one.replayed for one in answers) == {False: 1, True: crew.size - 1}
        assert Order.objects.count() == number + 1
    assert set(Record.objects.values_list("status", flat=True)) == {RecordStatus.SUCCEEDED}
    assert not Event.objects.exists()


def test_over_http_twenty_with_one_key_make_one_order_and_get_one_answer(
    crew: Crew, live_service: str
) -> None:
    # The server has processes of its own, and its callers are twenty others, or twenty threads.
    api = ApiClient()
    for number in range(HTTP_ROUNDS):
        if number % ROUNDS_OF_A_MERCHANT == 0:
            api = ApiClient()
        key = uuid.uuid4().hex  # The front outlives the rows.
        call = partial(post_order_over_http, live_service, api.headers, key, f"A-{number}")

        answers = crew.race(*[call] * crew.size)

        assert {(one.status, one.body) for one in answers} == {(201, answers[0].body)}
        assert f'"order_no":"A-{number}"'.encode() in answers[0].body
        assert Counter(one.replayed for one in answers) == {False: 1, True: crew.size - 1}
        assert Order.objects.count() == number + 1
    tally["calls over HTTP that raced for a key"] += HTTP_ROUNDS * crew.size


def test_each_call_of_a_storm_is_answered_at_once_and_no_answer_is_wrong(crew: Crew) -> None:
    headers = ApiClient().headers
    for number in range(ROUNDS):
        call = partial(post_order_once, headers, f"k{number}", f"A-{number}")

        answers = crew.race(*[call] * crew.size)

        assert {one.status for one in answers} <= {201, 202}
        assert len({one.body for one in answers if one.status == 201}) == 1
        assert [one.replayed for one in answers if one.status == 201].count(False) == 1
        assert Order.objects.count() == number + 1


def test_of_many_meanings_at_once_one_wins_and_the_others_are_refused(crew: Crew) -> None:
    headers = ApiClient().headers
    for number in range(ROUNDS):
        calls = [
            partial(post_order, headers, f"k{number}", f"A-{number}", amount_minor)
            for amount_minor in (1, 2)
            for _ in range(crew.size // 2)
        ]

        answers = crew.race(*calls)

        order = Order.objects.get(order_no=f"A-{number}")
        halves = [answers[: crew.size // 2], answers[crew.size // 2 :]]
        winners, losers = halves if order.amount_minor == 1 else halves[::-1]
        assert {one.status for one in winners} == {201}
        assert len({one.body for one in winners}) == 1
        assert {one.status for one in losers} == {409}
        assert {b"idempotency-key-reused" in one.body for one in losers} == {True}


@pytest.mark.parametrize("fronted", [False, True], ids=["without a front", "with a front"])
def test_while_the_first_is_held_up_the_others_are_answered_at_once_and_hold_nothing(
    settings: LazySettings, valkey_url: str, onlooker: Onlooker, fronted: bool
) -> None:
    settings.IDEMPOTENCY_FRONT_URL = valkey_url if fronted else ""
    api = ApiClient()
    post = partial(post_order_once, api.headers, "k", "A")
    with held(api.merchant.pk, "A"):
        first = onlooker.begin(post)
        _wait_until(lambda: _waiting() == 1)
        begun = time.monotonic()

        repeats = [post() for _ in range(2)]
        another = [post(amount_minor=2) for _ in range(2)]
        asked = api.get("/v1/idempotency/k?operation=place_order")

        assert time.monotonic() - begun < 1.9  # The first would be sent away after 2 seconds.
        assert {one.status for one in repeats} == {202}
        assert {one.status for one in another} == {409}
        assert asked.status_code == 202
        assert _waiting() == 1
    answered = first.result(30)

    again = post()
    assert (answered.status, answered.replayed) == (201, False)
    assert (again.body, again.replayed) == (answered.body, True)
    assert post(amount_minor=2).status == 409
    assert Order.objects.count() == 1


@contextmanager
def held(merchant_id: int, order_no: str) -> Iterator[None]:
    """Whoever places the order waits as long as this lasts."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [lock_key(merchant_id, order_no)])
        yield
        cursor.execute("SELECT pg_advisory_unlock(%s)", [lock_key(merchant_id, order_no)])


def _waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def _wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_one_key_of_many_merchants_is_as_many_keys(crew: Crew) -> None:
    clients = [ApiClient() for _ in range(crew.size)]

    answers = crew.race(*[partial(post_order, one.headers, "k", "A") for one in clients])

    assert {(one.status, one.replayed) for one in answers} == {(201, False)}
    assert Order.objects.filter(order_no="A").count() == crew.size


def test_long_work_is_carried_out_by_one_of_many(crew: Crew, valkey_url: str) -> None:
    for _ in range(ROUNDS):
        refunder = Refunder(valkey_url, f"r{uuid.uuid4().hex}", timedelta(minutes=1))

        outcomes = crew.race(*[refunder.run] * crew.size)

        assert outcomes.count(DONE) == 1
        assert set(outcomes) <= {DONE, REPLAYED, "Running"}
        assert refunder.executions() == 1


@pytest.mark.parametrize("days", [0, -400, -1 / 24, 1 / 24, 400])
def test_a_lease_does_not_care_what_time_the_application_thinks_it_is(
    nursery: Nursery, valkey_url: str, days: float
) -> None:
    refunder = Refunder(valkey_url, f"r{uuid.uuid4().hex}", timedelta(minutes=1))
    wrong = partial(with_clock_off_by, days * 86400)
    with nursery.hire() as line:
        line.send(partial(wrong, refunder.run))
        line.send(0.0)
        assert answer(line) == DONE
    Record.objects.update(
        status=RecordStatus.PROCESSING,
        finished_at=None,
        result_code=None,
        result_body=None,
        resource_id="",
        lease_until="2999-01-01T00:00:00Z",
    )

    with nursery.hire() as line:
        line.send(partial(wrong, refunder.run))
        line.send(0.0)
        assert answer(line) == "Running"

    _expire()
    Merchant.objects.all().delete()
    with nursery.hire() as line:
        line.send(partial(wrong, refunder.run))
        line.send(0.0)
        assert answer(line) == DONE
    assert refunder.executions() == 1


def test_an_owner_who_sleeps_past_his_lease_changes_nothing_when_he_wakes(
    nursery: Nursery, valkey_url: str
) -> None:
    for _ in range(5):
        name = f"r{uuid.uuid4().hex}"
        sleepy = SleepyRefunder(valkey_url, name, timedelta(milliseconds=1))
        awake = Refunder(valkey_url, name, timedelta(minutes=1))
        with nursery.hire() as line:
            line.send(sleepy.run)
            line.send(0.0)
            sleeper = _wait_for_sleep(sleepy)

            taken_over = awake.run()
            before = Record.objects.filter(scope__startswith=name).values().get()
            os.kill(sleeper, signal.SIGCONT)
            woken = answer(line)

        assert (taken_over, woken) == (DONE, REPLAYED)
        assert Record.objects.filter(scope__startswith=name).values().get() == before
        assert before["fence"] == 2
        assert Merchant.objects.filter(code=name).count() == 1
        assert awake.executions() == 1
        tally["processes put to sleep past their lease"] += 1


def test_a_sleeper_whose_record_is_still_open_does_not_touch_the_new_owners(
    nursery: Nursery, valkey_url: str
) -> None:
    name = f"r{uuid.uuid4().hex}"
    sleepy = SleepyRefunder(valkey_url, name, timedelta(milliseconds=1))
    long = SleepyRefunder(valkey_url, name, timedelta(minutes=1))
    with nursery.hire() as line, nursery.hire() as other:
        line.send(sleepy.run)
        line.send(0.0)
        sleeper = _wait_for_sleep(sleepy)
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE idempotency_record SET fence = fence + 1, owner_token = gen_random_uuid(),"
                " lease_until = clock_timestamp() + interval '1 minute', version = version + 1"
            )

        os.kill(sleeper, signal.SIGCONT)
        assert answer(line) == "Running"
        other.send(long.run)
        other.send(0.0)
        assert answer(other) == "Running"

    assert Record.objects.get().status == RecordStatus.PROCESSING
    assert not Merchant.objects.filter(code=name).exists()
    tally["processes put to sleep past their lease"] += 1


def _expire() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE idempotency_record SET lease_until = clock_timestamp()")


def _wait_for_sleep(refunder: SleepyRefunder) -> int:
    """The process that is asleep, once the kernel says that it is."""
    deadline = time.monotonic() + 30
    while True:
        assert time.monotonic() < deadline
        sleeper = refunder.sleeper()
        if sleeper is not None:
            stat = Path(f"/proc/{sleeper}/stat").read_text()
            if stat.rpartition(")")[2].split()[0] == "T":
                return sleeper
        time.sleep(0.002)
