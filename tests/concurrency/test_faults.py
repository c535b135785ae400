"""A database that fails at each boundary: the caller gets an answer that is true, or an error."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection

from tests.concurrency.boundaries import at_each_boundary
from tests.concurrency.onlooker import Onlooker, query
from tests.concurrency.scenes import (
    DELIVERIES,
    ENDS,
    Scene,
    assert_ends_as_rehearsed,
    rehearse,
    sweeping,
)
from tests.concurrency.tally import tally
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance

pytestmark = pytest.mark.django_db(transaction=True)

_LOCK = 20260301

#: Does something to the connection of the work, which stands at a boundary.
Fault = Callable[[Onlooker], None]


def terminated(onlooker: Onlooker) -> None:
    """An administrator, or a restart, ends the session."""
    backend = _driver().info.backend_pid
    assert onlooker.do(partial(query, "SELECT pg_terminate_backend(%s, 5000)", backend))


def cancelled(onlooker: Onlooker) -> None:
    """A statement is cancelled while it runs."""
    cancelling = onlooker.begin(partial(_cancel_when_asleep, _driver().info.backend_pid))
    try:
        _say("SELECT pg_sleep(30)")
    finally:
        cancelling.result(30)


def _cancel_when_asleep(backend: int) -> None:
    asleep = "SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %s"
    deadline = time.monotonic() + 30
    while not query(asleep, backend):
        assert time.monotonic() < deadline
        time.sleep(0.0005)
    query("SELECT pg_cancel_backend(%s)", backend)


def locked_out(onlooker: Onlooker) -> None:
    """Somebody holds a lock for longer than anybody waits."""
    onlooker.do(partial(query, "SELECT pg_advisory_lock(%s)::text", _LOCK))
    try:
        _say(f"SELECT pg_advisory_xact_lock({_LOCK})")
    finally:
        onlooker.do(partial(query, "SELECT pg_advisory_unlock(%s)", _LOCK))


def deadlocked(_onlooker: Onlooker) -> None:
    """The database ends the transaction to free another."""
    _say("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$")


def _driver() -> psycopg.Connection[Any]:
    driver: psycopg.Connection[Any] = connection.connection
    return driver


def _say(statement: str) -> None:
    """One statement more on the work's connection; its errors are those of Django."""
    with connection.wrap_database_errors:
        _driver().execute(statement.encode())


def interrupt(work: Callable[[], Any], number: int, fault: Fault, onlooker: Onlooker) -> Any:
    """The work's answer, or the OperationalError that it ended with."""

    def act(at: int, _name: str) -> None:
        if at == number:
            fault(onlooker)

    try:
        with at_each_boundary(act):
            return work()
    except OperationalError as error:
        return error


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Nobody else is here to wait for."""
    query("SELECT set_config('lock_timeout', '5ms', false)")
    yield
    connection.close()


@pytest.mark.parametrize("fault", [terminated, cancelled, locked_out], ids=lambda f: f.__name__)
@pytest.mark.parametrize("scene", ENDS, ids=lambda scene: scene.__name__)
def test_a_fault_at_any_boundary_is_an_error_that_leaves_nothing_half_done(
    onlooker: Onlooker, scene: Scene, fault: Fault
) -> None:
    rehearsal = rehearse(scene, onlooker)
    for number, name in enumerate(rehearsal.boundaries, start=1):
        account = ProviderAccountFactory.create()
        work = scene(account)
        query("SELECT set_config('lock_timeout', '5ms', false)")

        answer = interrupt(work, number, fault, onlooker)

        left = onlooker.facts(account.merchant)
        if scene is not sweeping:  # It is many works, and goes on after the failure of one.
            failed = isinstance(answer, OperationalError)
            assert failed or left == rehearsal.committed[-1], name
            assert left == rehearsal.committed[number - 1] or not failed, name
        if fault is terminated:
            connection.close()
        work()
        assert_ends_as_rehearsed(onlooker.facts(account.merchant), left, rehearsal)
        onlooker.do(assert_books_balance)  # His connection has it planned.
        tally["faults at each boundary"] += 1


@pytest.mark.parametrize("scene", DELIVERIES, ids=lambda scene: scene.__name__)
def test_a_delivery_that_is_ended_to_free_another_is_taken_again_from_the_top(
    onlooker: Onlooker, scene: Scene
) -> None:
    rehearsal = rehearse(scene, onlooker)
    for number, name in enumerate(rehearsal.boundaries, start=1):
        if "COMMIT" in name or "provideraccount" in name:
            continue  # Who is asked before the transaction begins, nobody waits for.
        account = ProviderAccountFactory.create()

        answer = interrupt(scene(account), number, deadlocked, onlooker)

        assert answer == rehearsal.answer, name
        assert onlooker.facts(account.merchant) == rehearsal.committed[-1], name
        tally["faults at each boundary"] += 1
