"""Redis may save work and never decides: whatever becomes of it, every answer stays right."""

import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import redis
from django.conf import LazySettings

from idempotency import one_transaction
from idempotency.claims import Mismatch, Replay, Running
from idempotency.front import Front, configured
from idempotency.keys import Intent
from idempotency.leased import Outcome
from idempotency.lifecycle import Result
from idempotency.models import RecordStatus
from idempotency.one_transaction import Executed
from orders.models import Merchant, Order
from tests.concurrency.racing import race
from tests.factories import MerchantFactory
from tests.idempotency.intents import CREATED, an_intent
from tests.orders.client import ApiClient
from tests.server_control import ServerControl

pytestmark = pytest.mark.django_db(transaction=True)

EXECUTED = Executed(RecordStatus.SUCCEEDED, CREATED)
REPLAYED = Replay(RecordStatus.SUCCEEDED, CREATED)
CALLERS = 10


def unique(name: str) -> str:
    """A key of this test alone: the servers outlive the rows."""
    return f"{name}-{uuid.uuid4().hex}"


def create() -> Result:
    MerchantFactory.create()
    return CREATED


def run(front: Front, intent: Intent, work: Callable[[], Result] = create) -> Outcome:
    return front.answer(intent, partial(one_transaction.run, intent, work))


def nobody_asks() -> Outcome:
    raise AssertionError("the database was asked")


def flushed(url: str) -> None:
    redis.Redis.from_url(url).flushdb()


def race_in_a_storm(front: Front, key: str, then: Callable[[], None]) -> None:
    """Many with one key and one with another meaning, and something happens to the front."""
    before = Merchant.objects.count()
    running = threading.Event()

    def slow() -> Result:
        running.set()
        then()
        time.sleep(0.02)
        return create()

    def ask() -> Outcome:
        while isinstance(outcome := run(front, an_intent(key), slow), Running):
            time.sleep(0.01)
        return outcome

    def ask_otherwise() -> Outcome:
        assert running.wait(30)
        return run(front, an_intent(key, b"B"))

    outcomes = race(*[ask] * CALLERS, ask_otherwise)

    *same, other = outcomes
    assert same.count(EXECUTED) == 1
    assert same.count(REPLAYED) == CALLERS - 1
    assert other == Mismatch()
    assert Merchant.objects.count() == before + 1


def test_a_final_answer_is_replayed_without_the_database(valkey_url: str) -> None:
    front, key = Front(valkey_url), unique("final")
    run(front, an_intent(key))

    assert front.answer(an_intent(key), nobody_asks) == REPLAYED
    assert front.answer(an_intent(key, b"B"), nobody_asks) == Mismatch()
    assert front.final(an_intent(unique("final"))) is None
    assert front.final(an_intent(key, tenant="2")) is None


def test_while_a_request_runs_its_repeat_does_not_go_to_the_database(valkey_url: str) -> None:
    front, key = Front(valkey_url), unique("running")
    assert front.enter(an_intent(key))

    assert front.answer(an_intent(key), nobody_asks) == Running()


def test_another_meaning_of_a_running_request_is_for_the_database_to_refuse(
    valkey_url: str,
) -> None:
    front, key = Front(valkey_url), unique("left-behind")
    front.enter(an_intent(key))

    assert run(front, an_intent(key, b"B")) == EXECUTED


def test_only_who_entered_may_leave(valkey_url: str) -> None:
    front, key = Front(valkey_url), unique("held")
    mine = an_intent(key)
    front.enter(mine)

    front.leave(an_intent(key))
    assert not front.enter(an_intent(key))
    front.leave(mine)
    assert front.enter(an_intent(key))


def test_what_a_dead_process_held_is_free_after_its_time(valkey_url: str) -> None:
    front, key = Front(valkey_url, run_ttl=timedelta(milliseconds=50)), unique("dead")
    front.enter(an_intent(key))

    deadline = time.monotonic() + 10
    while isinstance(outcome := run(front, an_intent(key)), Running):
        assert time.monotonic() < deadline

    assert outcome == EXECUTED


def test_without_a_front_every_answer_is_right() -> None:
    race_in_a_storm(Front(""), "absent", lambda: None)


def test_with_a_front_every_answer_is_right(valkey_url: str) -> None:
    race_in_a_storm(Front(valkey_url), unique("present"), lambda: None)


def test_a_front_that_nobody_answers_at_costs_one_timeout_and_no_answer() -> None:
    race_in_a_storm(Front("redis://127.0.0.1:9/0"), "nobody", lambda: None)


def test_a_front_that_is_flushed_mid_way_changes_no_answer(private_valkey: ServerControl) -> None:
    front = Front(private_valkey.url)
    for number in range(5):
        race_in_a_storm(front, f"flushed-{number}", lambda: flushed_meanwhile(private_valkey.url))
        flushed(private_valkey.url)
        assert run(front, an_intent(f"flushed-{number}")) == REPLAYED


def flushed_meanwhile(url: str) -> None:
    """As somebody else would, beside the transaction."""
    race(partial(flushed, url))


def test_a_front_that_is_killed_mid_way_changes_no_answer(private_valkey: ServerControl) -> None:
    front = Front(private_valkey.url)
    race_in_a_storm(front, "killed", private_valkey.kill)
    assert run(front, an_intent("killed")) == REPLAYED

    private_valkey.start()
    race_in_a_storm(front, "back-again", lambda: None)
    assert run(front, an_intent("killed")) == REPLAYED


@pytest.mark.parametrize("ttl", [timedelta(milliseconds=1), timedelta(milliseconds=10)])
def test_a_time_that_is_too_short_changes_no_answer(valkey_url: str, ttl: timedelta) -> None:
    front = Front(valkey_url, run_ttl=ttl, final_ttl=ttl)

    race_in_a_storm(front, unique("short"), lambda: time.sleep(0.05))


@pytest.mark.parametrize(
    "written", [b"", b"nonsense", b"{}", b"[]", b'{"digest": "xx"}', b"\xff", b'{"digest": 1}']
)
def test_what_it_did_not_write_itself_is_not_believed(valkey_url: str, written: bytes) -> None:
    front, key = Front(valkey_url), unique("spoilt")
    run(front, an_intent(key))
    client: Any = redis.Redis.from_url(valkey_url)
    for name in client.scan_iter("paidonce:idempotency:*:final"):
        client.set(name, written)

    assert run(front, an_intent(key)) == REPLAYED


def test_the_api_answers_the_same_with_a_front_and_without(
    settings: LazySettings, private_valkey: ServerControl
) -> None:
    content = {"order_no": "A-1", "amount": {"amount_minor": 1099, "currency": "USD"}}
    settings.IDEMPOTENCY_FRONT_URL = private_valkey.url
    api = ApiClient()
    first = api.post("/v1/orders", content, key="k")
    from_the_front = api.post("/v1/orders", content, key="k")
    assert configured().final(an_intent()) is None
    private_valkey.kill()
    from_the_database = api.post("/v1/orders", content, key="k")
    settings.IDEMPOTENCY_FRONT_URL = ""
    without = api.post("/v1/orders", content, key="k")

    assert {one.content for one in (first, from_the_front, from_the_database, without)} == {
        first.content
    }
    assert from_the_front.headers["Idempotent-Replayed"] == "true"
    assert Order.objects.count() == 1
