"""Many destinations at once: what is wrong with one is no other's business."""

import itertools
import math
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
import structlog
from django.db.models.functions import Now

from outbox import models
from outbox.destinations.port import Destination, Message, Unavailable
from outbox.drains import POLL_SECONDS, SOUND_MAX, SUSPECT_MAX, Drains
from outbox.models import Dispatch, DispatchState
from outbox.relay import BATCH, ROUNDS_TO_NEWEST
from tests.factories import CREATED_AT, DestinationFactory, DispatchFactory
from tests.outbox.brokers import streamed
from tests.outbox.doubles import Recorder
from tests.outbox.relaying import drain

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run() -> Iterator[Callable[..., Drains]]:
    """Run drains until something is true, and end them with the test."""
    begun: list[Drains] = []

    def go(
        opened: Callable[[models.Destination], Destination] | None = None,
        *,
        until: Callable[[], bool] | None = None,
        only: str = "",
        seconds_max: float = 30,
    ) -> Drains:
        drains = Drains() if opened is None else Drains(opened)
        begun.append(drains)
        drains.run(
            seconds_max=seconds_max,
            lingers=until is not None,
            stopped=until or (lambda: False),
            only=only,
        )
        return drains

    yield go
    for drains in begun:
        drains.close()


@pytest.fixture
def stream(monkeypatch: pytest.MonkeyPatch, valkey_url: str, name: str) -> models.Destination:
    """A destination that works: a stream of this name."""
    monkeypatch.setenv("TEST_STREAM_URL", valkey_url)
    destination: models.Destination = DestinationFactory.create(
        code=name, config={"url_env": "TEST_STREAM_URL", "stream": name}
    )
    return destination


def published(destination: models.Destination) -> int:
    return destination.dispatches.filter(state=DispatchState.PUBLISHED).count()


@pytest.fixture
def silent_url() -> Iterator[str]:
    """A server that takes every connection and every word, and never answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    taken = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                taken.append(listener.accept()[0])

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield f"amqp://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)
    for each in taken:
        each.close()


def test_a_server_that_never_answers_delays_no_other_destination(
    run: Callable[..., Drains],
    silent_url: str,
    stream: models.Destination,
    valkey_url: str,
    name: str,
) -> None:
    silent = DestinationFactory.create(
        kind="rabbitmq", config={"url": silent_url, "exchange": "events"}
    )
    DispatchFactory.create_batch(5, destination=silent)
    DispatchFactory.create_batch(3 * BATCH, destination=stream)
    expected = set(stream.dispatches.values_list("event", flat=True))

    drains = run(until=lambda: published(stream) == 3 * BATCH)

    # All of that while the first call to the silent one was still waiting for its answer.
    assert drains.busy()
    assert drains.figures.failure == ""
    assert {entry["id"] for entry in streamed(valkey_url, name)} == set(map(str, expected))
    assert set(silent.dispatches.values_list("state", "attempts")) == {("PENDING", 0)}


@dataclass
class Broken(Recorder):
    """Cannot be reached; from the second try on that takes as long as the test."""

    over: threading.Event = field(default_factory=threading.Event)
    tries: int = 0

    def ready(self) -> None:
        self.tries += 1
        if self.tries > 1:
            self.over.wait(60)
        raise Unavailable("no answer")


def test_more_broken_destinations_than_threads_do_not_hold_up_one_that_works(
    run: Callable[..., Drains], monkeypatch: pytest.MonkeyPatch
) -> None:
    # All are due again at the next look.
    monkeypatch.setattr("outbox.drains.FAILED_SECONDS_FIRST", POLL_SECONDS / 10)
    for destination in DestinationFactory.create_batch(SOUND_MAX + 4):
        DispatchFactory.create(destination=destination)
    good = DestinationFactory.create(code="good")
    over = threading.Event()
    broken: list[Broken] = []
    recorder = Recorder()
    looks = itertools.count(1)

    def opened(row: models.Destination) -> Destination:
        if row.code == "good":
            return recorder
        broken.append(Broken(over=over))
        return broken[-1]

    def all_have_failed() -> bool:
        return len(broken) == SOUND_MAX + 4 and all(each.tries for each in broken)

    # And are given every thread that they may have.
    drains = run(opened, until=lambda: all_have_failed() and next(looks) > 5)
    DispatchFactory.create(destination=good)
    drains.run(seconds_max=10, lingers=True, stopped=lambda: bool(recorder.taken))
    occupied = sum(each.tries > 1 for each in broken)
    over.set()

    assert len(recorder.taken) == 1
    assert occupied == SUSPECT_MAX


def test_a_destination_that_comes_back_is_tried_again(run: Callable[..., Drains]) -> None:
    dispatch = DispatchFactory.create()
    failures = 2

    class Returning(Recorder):
        def ready(self) -> None:
            nonlocal failures
            if failures:
                failures -= 1
                raise Unavailable("no answer")

    destination = Returning()
    run(lambda _row: destination, until=lambda: bool(destination.taken))

    assert [message.id for message in destination.taken] == [dispatch.event_id]


def test_a_destination_that_is_misconfigured_says_so_and_the_others_work(
    run: Callable[..., Drains], stream: models.Destination
) -> None:
    wrong = DestinationFactory.create(code="wrong", config={"url_env": "NOT_SET", "stream": "s"})
    for destination in (wrong, stream):
        DispatchFactory.create(destination=destination)

    with structlog.testing.capture_logs() as logs:
        run()

    assert (published(wrong), published(stream)) == (0, 1)
    said = [log for log in logs if log["event"] == "destination_misconfigured"]
    assert said[0]["destination"] == "wrong"
    assert "NOT_SET" in said[0]["reason"]


def test_kinds_that_have_a_relay_of_their_own_are_left_to_it(run: Callable[..., Drains]) -> None:
    dispatch = DispatchFactory.create(destination=DestinationFactory.create(kind="webhook"))

    with structlog.testing.capture_logs() as logs:
        run()

    dispatch.refresh_from_db()
    assert (dispatch.state, dispatch.fence, logs) == (DispatchState.PENDING, 0, [])


def test_one_destination_alone_can_be_drained(run: Callable[..., Drains]) -> None:
    one, other = DestinationFactory.create_batch(2)
    for destination in (one, other):
        DispatchFactory.create(destination=destination)

    run(lambda _row: Recorder(), only=one.code)

    assert (published(one), published(other)) == (1, 0)


def test_a_run_that_does_not_linger_ends_when_nothing_is_left(
    run: Callable[..., Drains],
) -> None:
    for seq in range(1, 4):
        DispatchFactory.create(aggregate_id="A", seq=seq)
    DispatchFactory.create(next_attempt_at=Now() + CREATED_AT.resolution * 3_600_000_000)

    drains = run(lambda _row: Recorder(), seconds_max=math.inf)

    assert drains.figures.published == 3


def test_a_config_that_changes_is_connected_to_anew(run: Callable[..., Drains]) -> None:
    destination = DestinationFactory.create()
    opened: list[object] = []

    def open_it(row: models.Destination) -> Destination:
        opened.append(row.config)
        return Recorder()

    DispatchFactory.create(destination=destination)
    drains = run(open_it)
    models.Destination.objects.filter(pk=destination.pk).update(config={"stream": "new"})
    DispatchFactory.create_batch(2, destination=destination)
    drains.run(seconds_max=30, lingers=False)

    assert opened == [destination.config, {"stream": "new"}]


def test_new_events_do_not_wait_for_a_backlog() -> None:
    DispatchFactory.create_batch(20, created_at=CREATED_AT)
    newest = DispatchFactory.create(created_at=CREATED_AT + CREATED_AT.resolution)
    destination = Recorder()

    drain(destination, seconds_max=30, batch=2)

    # The backlog goes on in its order, and every so many batches are of the newest.
    places = [message.id for message in destination.taken]
    assert places.index(newest.event_id) < 2 * ROUNDS_TO_NEWEST
    assert len(places) == len(set(places)) == 21


def test_a_backlog_drains_while_new_events_go_on_arriving() -> None:
    old = DispatchFactory.create_batch(40, created_at=CREATED_AT)
    arrived: list[Dispatch] = []
    waited: list[int] = []

    def judge(message: Message) -> None:
        if len(arrived) < 20:
            later = CREATED_AT + CREATED_AT.resolution * (len(arrived) + 1)
            arrived.append(DispatchFactory.create(created_at=later))
        if any(message.id == one.event_id for one in arrived):
            waited.append(len(destination.taken))

    destination = Recorder(judge)
    figures = drain(destination, seconds_max=60, batch=4)

    assert figures.published == 60
    assert {one.event_id for one in [*old, *arrived]} == {one.id for one in destination.taken}
    # The first new ones went out long before the backlog was gone.
    assert waited[0] < 20
