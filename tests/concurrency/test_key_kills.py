"""Kills at each boundary of what an idempotent call says to the database, recovery included."""

import json
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.conf import LazySettings

from idempotency.models import Record, RecordStatus
from orders.models import Merchant, Order
from tests.concurrency.boundaries import count_boundaries
from tests.concurrency.deeds import killed_at
from tests.concurrency.key_deeds import RESULT, Refunder, post_order
from tests.concurrency.nursery import Nursery, answer
from tests.concurrency.onlooker import Onlooker
from tests.concurrency.tally import tally
from tests.concurrency.test_kills import wait_until_gone
from tests.invariants import assert_books_balance
from tests.orders.client import ApiClient

pytestmark = pytest.mark.django_db(transaction=True)

DONE = f"Executed {RESULT.body.decode()}"
REPLAYED = f"Replay {RESULT.body.decode()}"


@pytest.fixture
def kill(nursery: Nursery, onlooker: Onlooker) -> Callable[[int, Callable[[], Any]], bool]:
    """Kill a piece of work at a boundary; whether it got there."""

    def kill_at(number: int, work: Callable[[], Any]) -> bool:
        with nursery.hire() as line:
            line.send(killed_at(number, work))
            line.send(0.0)
            try:
                answer(line)
            except (EOFError, ConnectionResetError):
                onlooker.do(wait_until_gone)
                tally["kills of idempotent calls"] += 1
                return True
        return False

    return kill_at


def test_a_call_that_is_killed_anywhere_leaves_all_or_nothing_and_its_repeat_gets_one_answer(
    kill: Callable[[int, Callable[[], Any]], bool], settings: LazySettings
) -> None:
    # Who is killed has a front; who repeats need not wait until it has forgotten him.
    settings.IDEMPOTENCY_FRONT_URL = ""
    api = ApiClient()
    place = partial(post_order, api.headers)
    boundaries = count_boundaries(partial(place, "rehearsal", "REHEARSAL"))
    assert boundaries.count("after COMMIT") == 1

    for number in range(1, len(boundaries) + 1):
        key, order_no = f"k{number}-{uuid.uuid4().hex}", f"A-{number}"
        assert kill(number, partial(place, key, order_no))

        kept = Record.objects.filter(idem_key=key).first()
        assert Order.objects.filter(order_no=order_no).exists() == (kept is not None)
        assert kept is None or kept.status == RecordStatus.SUCCEEDED
        again = place(key, order_no)

        assert again.status == 201
        assert again.replayed == (kept is not None)
        assert kept is None or again.body == bytes(kept.result_body or b"")
        assert json.loads(again.body)["order_no"] == order_no
        assert place(key, order_no).body == again.body
        assert Order.objects.filter(order_no=order_no).count() == 1
    assert_books_balance()


def test_long_work_that_is_killed_anywhere_is_done_once(
    kill: Callable[[int, Callable[[], Any]], bool], valkey_url: str
) -> None:
    boundaries = count_boundaries(_refunder(valkey_url).run)
    assert boundaries.count("after COMMIT") == 2

    for number in range(1, len(boundaries) + 1):
        refunder = _refunder(valkey_url)
        assert kill(number, refunder.run)

        assert refunder.run() in (DONE, REPLAYED)
        _assert_done_once(refunder)


@pytest.mark.parametrize("called", [False, True], ids=["before the call", "after the call"])
def test_a_recovery_that_is_killed_anywhere_is_recovered_itself(
    kill: Callable[[int, Callable[[], Any]], bool], valkey_url: str, called: bool
) -> None:
    boundaries = count_boundaries(_refunder(valkey_url).run)
    # The provider is called when the claim has been committed, and before anything else is said.
    at = boundaries.index("after COMMIT") + 1 + called
    left = _refunder(valkey_url)
    assert kill(at, left.run)
    recovery = count_boundaries(left.run)
    assert recovery.count("after COMMIT") == 3

    for number in range(1, len(recovery) + 1):
        refunder = _refunder(valkey_url)
        assert kill(at, refunder.run)
        assert refunder.executions() == called
        assert kill(number, refunder.run)

        assert refunder.run() in (DONE, REPLAYED)
        _assert_done_once(refunder)


def _refunder(valkey_url: str) -> Refunder:
    return Refunder(valkey_url, f"r{uuid.uuid4().hex}")


def _assert_done_once(refunder: Refunder) -> None:
    assert refunder.run() == REPLAYED
    assert refunder.executions() == 1
    assert Merchant.objects.filter(code=refunder.name).count() == 1
    record = Record.objects.get(scope__startswith=refunder.name)
    assert record.status == RecordStatus.SUCCEEDED
