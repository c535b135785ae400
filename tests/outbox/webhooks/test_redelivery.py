"""A task that takes longer than the broker's visibility timeout runs twice, and does all once."""

import subprocess
import sys
from collections.abc import Iterator
from threading import Event

import pytest
from django.conf import settings

from config.celery import app
from outbox.models import Dispatch, DispatchState
from tests.outbox.brokers import streamed, until
from tests.outbox.impatient_broker import starts, take_back
from tests.outbox.webhooks.receiver import Handler, Receiver, answer
from tests.outbox.webhooks.rows import endpoint, tell, tries, way
from tests.processes import ROOT, environment

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def impatient(transactional_db: None) -> Iterator[None]:
    """A worker with three slots at such a broker."""
    app_at = ["--app", "tests.outbox.impatient_broker"]
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
    entries = [entry["id"] for entry in streamed(valkey_url, settings.EVENT_STREAM)]
    assert [event for event in entries if event in told] == told
    assert set(Dispatch.objects.values_list("fence", flat=True)) == {1}
