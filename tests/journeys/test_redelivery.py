"""A task that takes longer than the broker's visibility timeout runs twice, and does all once."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from django.conf import settings as configured
from pytest_django import Settings

from config.celery import app
from outbox.models import Dispatch, DispatchState
from payments.models import RefundStatus
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.impatient_broker import starts, take_back
from tests.invariants import assert_books_balance
from tests.outbox.brokers import streamed, until
from tests.outbox.webhooks.receiver import Handler, Receiver, answer, running
from tests.outbox.webhooks.rows import endpoint, tell, tries, way
from tests.payments.refunds.asking import ask, paid_order, room_of
from tests.processes import ROOT, environment

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    """A merchant's server on this machine."""
    settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE = True
    with running(Receiver()) as server:
        yield server


@pytest.fixture
def impatient(transactional_db: None) -> Iterator[None]:
    """A worker with three slots at such a broker."""
    app_at = ["--app", "tests.impatient_worker"]
    command = [sys.executable, "-m", "celery", "--quiet", *app_at, "worker", "--concurrency", "3"]
    process = subprocess.Popen(
        [*command, "--without-gossip", "--without-mingle"],
        cwd=ROOT,
        env=environment(OUTBOX_WEBHOOK_ALLOW_PRIVATE="true"),
    )
    yield
    process.terminate()
    process.wait(40)


def started(task: str, url: str) -> str:
    """The id of a task that has begun."""
    with app.connection_for_write() as connection:
        task_id = str(app.send_task(task, connection=connection).id)
    until(lambda: starts(url, task_id) == 1)
    return task_id


def runs_twice(task_id: str, url: str) -> bool:
    take_back(url)
    return starts(url, task_id) == 2


def test_a_message_that_an_endpoint_is_slow_to_take_is_not_sent_by_a_second_run(
    impatient: None, receiver: Receiver, valkey_url: str
) -> None:
    shop = endpoint(receiver)
    taken = Event()

    def slowly(handler: Handler) -> None:
        taken.wait(14)
        answer()(handler)

    receiver.always = slowly
    event = tell()
    task_id = started("outbox.deliver_webhooks", valkey_url)
    until(lambda: len(receiver.received) == 1)

    until(lambda: runs_twice(task_id, valkey_url))
    assert way(shop, event).state == DispatchState.CLAIMED
    taken.set()

    until(lambda: way(shop, event).state == DispatchState.PUBLISHED)
    assert receiver.ids == [str(event)]
    assert [(made.status, made.error) for made in tries(shop)] == [(200, "")]


def test_a_relay_that_waits_for_events_publishes_each_once_beside_its_second_run(
    impatient: None, valkey_url: str
) -> None:
    task_id = started("outbox.relay", valkey_url)

    until(lambda: runs_twice(task_id, valkey_url))
    told = [str(tell("shop/R-1", seq=number)) for number in range(1, 21)]

    until(lambda: not Dispatch.objects.exclude(state=DispatchState.PUBLISHED).exists())
    entries = [entry["id"] for entry in streamed(valkey_url, configured.EVENT_STREAM)]
    assert [event for event in entries if event in told] == told
    assert set(Dispatch.objects.values_list("fence", flat=True)) == {1}


class Provider(ThreadingHTTPServer):
    """A provider that pays out when it is asked to, and is slow to say so."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Refunding)
        self.asked: list[str] = []
        self.done = Event()


class _Refunding(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        wish = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(wish["refund_no"])
        self.server.done.wait(9)
        refund = {"id": "re_1", "status": "succeeded"}
        refund |= {name: wish[name] for name in ("amount_minor", "currency")}
        body = json.dumps({"refund": refund}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silence."""


@contextmanager
def at_work(provider: Provider) -> Iterator[str]:
    """Its address, while it answers."""
    thread = Thread(target=provider.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{provider.server_address[1]}"
    provider.done.set()
    provider.shutdown()
    thread.join()
    provider.server_close()


def test_a_provider_that_is_slow_is_asked_for_one_refund_by_two_runs(
    impatient: None, valkey_url: str
) -> None:
    provider = Provider()
    with at_work(provider) as url:
        account = ProviderAccountFactory.create(
            provider="simulator", live=False, settings={"api_url": url}
        )
        AccountKeyFactory.create(account=account, purpose="api")
        paid_order(account)
        refund = ask(account, "R-1", 3_000)
        task_id = started("payments.carry_out_refunds", valkey_url)
        until(lambda: provider.asked == ["R-1"])

        until(lambda: runs_twice(task_id, valkey_url))
        provider.done.set()

        def settled() -> bool:
            refund.refresh_from_db()
            return refund.status == RefundStatus.SUCCEEDED

        until(settled)
    assert provider.asked == ["R-1"]
    assert room_of() == (3_000, 3_000, 0)
    assert_books_balance()
