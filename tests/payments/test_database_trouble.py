"""Whatever the database cannot confirm is answered 503, never 2xx, and heals without a restart."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from tests import wire
from tests.payments.over_http import call, stripe_paid
from tests.private_service import ROLE, PrivateService

PAID_ONCE = ["APPLIED", "PAID", "order.paid"]
NOTHING_HAPPENED = ["WAIT_PAY"]
#: How long a provider may wait to hear that it must ask again.
PATIENCE_SECONDS = 3.0


@pytest.fixture
def service(private_service: PrivateService) -> PrivateService:
    web = private_service.web
    assert web.process.poll() is None, web.output()[-4000:]
    assert wire.send(web.url, paid(private_service, "WARM-UP")).status == 200
    return private_service


def paid(service: PrivateService, order_no: str) -> bytes:
    return call(service.account, stripe_paid(order_no))


def deliver(service: PrivateService, raw: bytes) -> wire.Answer:
    return wire.send(service.web.url, raw)


def assert_put_off(service: PrivateService, raw: bytes) -> None:
    started = time.monotonic()
    answer = deliver(service, raw)
    took = time.monotonic() - started

    assert (answer.status, answer.headers.get("retry-after")) == (503, "5")
    assert answer.body == b"try again later"
    assert took < PATIENCE_SECONDS


def every_thread(service: PrivateService) -> list[int]:
    """The answers to so many callbacks at once that each thread of the web server has some."""
    raws = [paid(service, f"MANY-{turn}") for turn in range(32)]
    with ThreadPoolExecutor(16) as callers:
        return [answer.status for answer in callers.map(lambda raw: deliver(service, raw), raws)]


@contextmanager
def _stopped(service: PrivateService) -> Iterator[None]:
    service.database.stop()
    yield
    service.database.start()


@contextmanager
def _killed(service: PrivateService) -> Iterator[None]:
    service.database.kill()
    yield
    service.database.start()


@contextmanager
def _cut_off(service: PrivateService) -> Iterator[None]:
    service.proxy.cut()
    yield
    service.proxy.heal()


@contextmanager
def _full_of_connections(service: PrivateService) -> Iterator[None]:
    limit = f"ALTER ROLE {ROLE} CONNECTION LIMIT"
    with service.altered(f"{limit} 0", f"{limit} -1"):
        yield


@contextmanager
def _read_only(service: PrivateService) -> Iterator[None]:
    with service.altered(
        f"ALTER ROLE {ROLE} SET default_transaction_read_only = on",
        f"ALTER ROLE {ROLE} RESET default_transaction_read_only",
    ):
        yield


@contextmanager
def _on_write(service: PrivateService, statement: str) -> Iterator[None]:
    service.administer(
        "CREATE FUNCTION hinder() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN {statement}; RETURN NEW; END $$"
    )
    service.administer(
        "CREATE TRIGGER hinder BEFORE INSERT ON payments_delivery"
        " FOR EACH ROW EXECUTE FUNCTION hinder()"
    )
    yield
    service.administer("DROP FUNCTION hinder() CASCADE")


@contextmanager
def _full_disk(service: PrivateService) -> Iterator[None]:
    with _on_write(service, "RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'"):
        yield


@contextmanager
def _slow(service: PrivateService) -> Iterator[None]:
    with _on_write(service, "PERFORM pg_sleep(30)"):
        yield


@contextmanager
def _locked(service: PrivateService) -> Iterator[None]:
    with psycopg.connect(service.database.url) as other:
        other.execute("LOCK TABLE payments_delivery IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


@contextmanager
def _order_locked(service: PrivateService) -> Iterator[None]:
    with psycopg.connect(service.database.url) as other:
        other.execute("SELECT FROM orders_order FOR UPDATE")
        yield
        other.rollback()


TROUBLE = {
    "stopped": _stopped,
    "killed": _killed,
    "cut off": _cut_off,
    "full of connections": _full_of_connections,
    "read-only": _read_only,
    "out of disk": _full_disk,
    "too slow": _slow,
    "locked": _locked,
    "locked in one row": _order_locked,
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_database_in_trouble_puts_callbacks_off_and_loses_none(
    service: PrivateService, trouble: str
) -> None:
    order_no = service.order()
    raw = paid(service, order_no)
    lines_before = len(service.web.output().splitlines())
    with TROUBLE[trouble](service):
        assert_put_off(service, raw)
        assert_put_off(service, raw)
    assert service.outcomes(order_no) == NOTHING_HAPPENED

    # The very first repeat: nothing has to be restarted, and no dead connection costs a callback.
    assert deliver(service, raw).status == 200
    assert service.outcomes(order_no) == PAID_ONCE
    logged = [json.loads(line) for line in service.web.output().splitlines()[lines_before:]]
    failures = [line for line in logged if line["event"] == "callback not stored"]
    assert len(failures) == 2
    assert not any("exception" in line for line in failures)


def test_a_restart_of_the_database_costs_no_callback_on_any_thread(service: PrivateService) -> None:
    assert every_thread(service) == [200] * 32
    service.database.stop()
    service.database.start()

    assert every_thread(service) == [200] * 32


def test_a_lost_answer_to_commit_is_unknown_and_the_repeat_finds_out(
    service: PrivateService,
) -> None:
    order_no = service.order()
    raw = paid(service, order_no)
    lost_before = service.proxy.commits_unanswered
    service.proxy.lose_answer_to_next_commit()

    assert_put_off(service, raw)

    assert service.proxy.commits_unanswered == lost_before + 1
    assert service.outcomes(order_no) == PAID_ONCE
    assert deliver(service, raw).status == 200
    assert service.outcomes(order_no) == ["APPLIED", "DUPLICATE", "PAID", "order.paid"]


def test_a_commit_that_no_standby_has_confirmed_is_not_acknowledged(
    service: PrivateService,
) -> None:
    order_no = service.order()
    raw = paid(service, order_no)
    answers: list[wire.Answer] = []
    with service.altered(
        "ALTER SYSTEM SET synchronous_standby_names = 'ghost'",
        "ALTER SYSTEM RESET synchronous_standby_names",
    ):
        service.administer("SELECT pg_reload_conf()")
        for repeat in range(2):
            caller = threading.Thread(target=lambda: answers.append(deliver(service, raw)))
            caller.start()
            _cancel_the_wait(service)
            caller.join(10)
            assert [answer.status for answer in answers] == [503] * (repeat + 1)
    service.administer("SELECT pg_reload_conf()")

    assert deliver(service, raw).status == 200
    # The first commit is only here, the second too; neither was called done.
    assert service.outcomes(order_no) == ["APPLIED", *["DUPLICATE"] * 2, "PAID", "order.paid"]


def _cancel_the_wait(service: PrivateService) -> None:
    deadline = time.monotonic() + 10
    waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND usename = %s"
    while not service.administer(waiting, ROLE):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    for (process,) in service.administer(waiting, ROLE):
        service.administer("SELECT pg_cancel_backend(%s)", process)
