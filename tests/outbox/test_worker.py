"""The relay as it really runs: a worker that beat wakes, and a process of its own."""

import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from config.celery import app
from outbox.events import emit
from outbox.models import ConsumedEvent, Dispatch, DispatchState
from outbox.tasks import LINGER_SECONDS
from tests.outbox.brokers import streamed, until
from tests.processes import ROOT, Worker, environment

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = 7


def tell(number: int) -> str:
    with transaction.atomic():
        event_id = emit(
            aggregate_type="order",
            aggregate_id="shop/O-1",
            seq=number,
            type="order.paid",
            payload={"seq": number},
            at=datetime.now(UTC),  # noqa: TID251 - the latency of a real clock is measured
        )
    return str(event_id)


def all_published() -> bool:
    return not Dispatch.objects.exclude(state=DispatchState.PUBLISHED).exists()


@pytest.fixture
def two_beats(tmp_path: Path) -> Iterator[None]:
    """Two clocks, as when a new one is started before the old one has gone."""
    command = [sys.executable, "-m", "celery", "--app", "config", "beat", "--pidfile="]
    processes = [
        subprocess.Popen(
            [*command, "--schedule", str(tmp_path / name)], cwd=ROOT, env=environment()
        )
        for name in ("one", "other")
    ]
    yield
    for process in processes:
        process.terminate()
    for process in processes:
        process.wait(20)


def test_an_event_goes_out_once_and_within_a_second_though_there_are_two_clocks(
    celery_worker_process: Worker, two_beats: None, valkey_url: str
) -> None:
    ids = [tell(0)]
    until(all_published)
    for number in range(1, EVENTS):
        ids.append(tell(number))
        until(all_published)

    seconds = [
        (dispatch.published_at - dispatch.created_at).total_seconds()
        for dispatch in Dispatch.objects.exclude(seq=0)
        if dispatch.published_at is not None
    ]
    assert len(seconds) == EVENTS - 1
    assert statistics.median(seconds) < 1
    entries = streamed(valkey_url, settings.EVENT_STREAM)
    assert [entry["id"] for entry in entries if entry["id"] in ids] == ids


def test_a_task_from_a_newer_publisher_is_understood(celery_worker_process: Worker) -> None:
    tell(1)

    with app.connection_for_write() as connection:
        app.send_task("outbox.relay", kwargs={"not_invented_yet": 1}, connection=connection)

    until(all_published)


def test_a_worker_that_waits_for_events_stops_when_told(celery_worker_process: Worker) -> None:
    with app.connection_for_write() as connection:
        app.send_task("outbox.relay", connection=connection)
    tell(1)
    until(all_published)

    began = time.monotonic()
    celery_worker_process.process.send_signal(signal.SIGTERM)

    assert celery_worker_process.process.wait(timeout=20) == 0
    assert time.monotonic() - began < LINGER_SECONDS / 2


@pytest.fixture
def one_slot(transactional_db: None, valkey_url: str) -> Iterator[None]:
    """A worker that does one task at a time."""
    command = [sys.executable, "-m", "celery", "--quiet", "--app", "config", "worker"]
    options = ["--concurrency", "1", "--without-gossip", "--without-mingle"]
    process = subprocess.Popen([*command, *options], cwd=ROOT, env=environment())
    yield
    process.terminate()
    process.wait(30)


def test_a_worker_with_one_slot_is_not_kept_waiting_for_events(one_slot: None) -> None:
    ConsumedEvent.objects.create(consumer_group="g", event_id="old")
    ConsumedEvent.objects.update(consumed_at=Now() - timedelta(days=400))
    tell(1)
    with app.connection_for_write() as connection:
        app.send_task("outbox.relay", connection=connection)
        until(all_published)
        began = time.monotonic()
        app.send_task("outbox.forget_marks", connection=connection)

    until(lambda: not ConsumedEvent.objects.exists())
    assert time.monotonic() - began < LINGER_SECONDS / 2


def test_a_relay_that_is_to_run_once_says_what_it_did_and_ends() -> None:
    for number in range(1, 4):
        tell(number)
    command = [sys.executable, "manage.py", "relay", "--once", "--destination"]
    env = environment(EVENT_STREAM_URL=settings.EVENT_STREAM_URL)

    def run(code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, code], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )

    unknown = run("nowhere")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert "There is no destination nowhere" in unknown.stderr
    done = run("bus")
    assert done.stdout.splitlines()[-1] == "3 published, 0 refused (0 dead)."
    assert done.returncode == 0
    assert all_published()


def test_the_relay_also_runs_without_a_worker_and_stops_when_told() -> None:
    command = [sys.executable, "manage.py", "relay"]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(
            BROKER_URL="redis://127.0.0.1:9", EVENT_STREAM_URL=settings.EVENT_STREAM_URL
        ),
    )
    tell(1)

    until(all_published)
    process.send_signal(signal.SIGTERM)

    assert process.wait(timeout=20) == 0
