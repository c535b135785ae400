"""A key that is being worked on and comes in a storm: everybody is answered at once, by few words.

Nobody waits for whoever is at work, holds a transaction, or keeps the server from other requests.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.db import connection, transaction
from psycopg.pq import TransactionStatus

from idempotency import claims, patience
from idempotency.digest import meaning_of
from idempotency.keys import Intent, Scope, intent
from orders.models import Order
from tests.concurrency.crew import Threads
from tests.concurrency.key_deeds import Answer, post_order_once
from tests.concurrency.onlooker import Onlooker, query
from tests.orders.client import ApiClient

pytestmark = pytest.mark.django_db(transaction=True)

CALLERS = 200
AT_ONCE = 20
ORDER = b'{"order_no": "A", "amount": {"amount_minor": 1099, "currency": "USD"}}'

#: Who waits for whoever is at work. How long a statement or a transaction of the others takes says
#: nothing: on a machine with much to do, a process may get no turn for seconds.
_HELD_UP_SQL = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND %s = ANY(pg_blocking_pids(pid))
"""
_NOT_BACK_SQL = """
    SELECT count(*) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> %s AND pid <> pg_backend_pid()
       AND (state <> 'idle' OR EXISTS (SELECT FROM pg_locks AS held
                                        WHERE held.pid = pg_stat_activity.pid))
"""


@contextmanager
def in_a_transaction(named: Intent) -> Iterator[None]:
    """Its transaction is open for as long as this lasts."""
    with transaction.atomic():
        query("SELECT set_config('idle_in_transaction_session_timeout', '0', true)")
        assert isinstance(claims.claim(named), claims.Claimed)
        yield
        transaction.set_rollback(True)


@contextmanager
def under_a_lease(named: Intent) -> Iterator[None]:
    """Its claim is committed: work that outlives a transaction."""
    claims.claim(named, lease=timedelta(minutes=5))
    yield


@pytest.fixture(params=[in_a_transaction, under_a_lease])
def busy(request: pytest.FixtureRequest) -> Iterator[ApiClient]:
    """A merchant whose order A is being placed, under the key k."""
    api = ApiClient()
    digest = meaning_of(
        method="POST",
        path="/v1/orders",
        arguments={},
        body={"order_no": "A", "amount": {"amount_minor": 1099, "currency": "USD"}},
        optional=frozenset(),
        irrelevant=frozenset(),
    )
    named = intent(scope=Scope(str(api.merchant.pk), "place_order"), key="k", digest=digest)
    with request.param(named):
        yield api


def test_two_hundred_over_http_are_answered_at_once_and_wait_for_nobody(
    live_service: str, busy: ApiClient, onlooker: Onlooker
) -> None:
    calling = partial(post, live_service, busy.headers | {"Idempotency-Key": "k"})
    pid, over = query("SELECT pg_backend_pid()"), threading.Event()
    watching = onlooker.begin(partial(watch, pid, over))

    with ThreadPoolExecutor(AT_ONCE) as callers:
        answers = list(callers.map(lambda _: calling(), range(CALLERS)))
    over.set()
    looks, held_up = watching.result(30)

    # Who waits for a lock to its end, or whose transaction stays open, is not answered like this.
    assert Counter(answers) == {202: CALLERS}
    assert looks > 3
    assert held_up == 0
    assert onlooker.do(lambda: comes_to_nothing(_NOT_BACK_SQL, pid)), "a connection is not back"
    assert not Order.objects.exists()


def post(url: str, headers: dict[str, str]) -> int:
    """The answer's status."""
    client = HTTPConnection(urlsplit(url).netloc, timeout=30)
    client.request("POST", "/v1/orders", ORDER, headers | {"Content-Type": "application/json"})
    response = client.getresponse()
    response.read()
    client.close()
    return response.status


def watch(busy: int, over: threading.Event) -> tuple[int, int]:
    """How often was looked, and how many were held up then."""
    looks = held_up = 0
    while not over.wait(0.005):
        with connection.cursor() as cursor:
            cursor.execute(_HELD_UP_SQL, [busy])
            held_up += cursor.fetchone()[0]
        looks += 1
    return looks, held_up


def comes_to_nothing(sql: str, *parameters: Any) -> bool:
    """Whether the number becomes zero soon."""
    deadline = time.monotonic() + 10
    while query(sql, *parameters):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def test_a_caller_of_a_hot_key_costs_a_few_statements(
    settings: LazySettings, busy: ApiClient, threads: Threads, request: pytest.FixtureRequest
) -> None:
    settings.IDEMPOTENCY_FRONT_URL = ""  # It would spare the database even these.
    post_once = partial(post_order_once, busy.headers, "k", "A")

    begun = time.monotonic()
    counted: list[tuple[Answer, tuple[int, int]]] = []
    for _ in range(CALLERS // AT_ONCE):
        counted += threads.race(*[partial(counting, post_once)] * AT_ONCE)
    took = time.monotonic() - begun

    assert Counter(answer.status for answer, _ in counted) == {202: CALLERS}
    statements = Counter(number for _, number in counted)
    if "under_a_lease" in request.node.name:
        # Who asks, his calls, and the key's record.
        assert statements == {(3, 3): CALLERS}
        return
    # Those, his new keys, and the claim: INSERT, record, holder. Who waits claims again, each time
    # in a transaction of its own: in between he holds none.
    tries = 1 + len(patience.PAUSES_SECONDS)
    waited = (4 + 3 * tries, 4 + tries)
    assert set(statements) <= {(7, 5), waited}
    turns = 1 + took // sum(patience.PAUSES_SECONDS)
    assert statements[waited] <= patience.WAITING_MAX * turns


def counting(call: Callable[[], Any]) -> tuple[Any, tuple[int, int]]:
    """What it returns, how many statements it took, and how many of them began a transaction."""
    said: list[bool] = []

    def count(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        driver: Any = connection.connection
        said.append(driver.info.transaction_status == TransactionStatus.IDLE)
        return execute(sql, *rest)

    connection.ensure_connection()
    with connection.execute_wrapper(count):
        answer = call()
    return answer, (len(said), sum(said))
