"""`manage.py redrive`: dead events get another life, and only dead ones."""

from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
import structlog
from django.core.management import CommandError, call_command
from pytest_django import Settings

import outbox.redrive
from outbox.models import Dispatch, DispatchState
from tests.factories import CREATED_AT, DestinationFactory, DispatchFactory
from tests.outbox.doubles import Recorder
from tests.outbox.relaying import relay_once

pytestmark = pytest.mark.django_db(transaction=True)


def redrive(*arguments: str) -> str:
    output = StringIO()
    call_command("redrive", *arguments, stdout=output)
    return output.getvalue().strip()


def dead(**changes: Any) -> Dispatch:
    dispatch: Dispatch = DispatchFactory.create(
        **{"state": "DEAD", "dead_at": CREATED_AT, "attempts": 12} | changes
    )
    return dispatch


def test_a_dead_event_is_put_back_with_all_its_attempts_under_an_id_of_its_own() -> None:
    one, other = dead(last_error="no queue"), dead()

    with structlog.testing.capture_logs() as logs:
        lines = redrive(str(one.event_id)).splitlines()

    one.refresh_from_db()
    other.refresh_from_db()
    assert (one.state, one.attempts, one.next_attempt_at) == (DispatchState.PENDING, 0, None)
    assert (one.last_error, one.dead_at) == ("no queue", None)
    assert one.redrive_id is not None
    assert lines == [
        f"{one.event_id} to bus: attempt {one.redrive_id}",
        "1 events are back in line.",
    ]
    assert (other.state, other.redrive_id) == (DispatchState.DEAD, None)
    assert logs == [
        {
            "event": "event_redriven",
            "log_level": "info",
            "event_id": str(one.event_id),
            "destination": "bus",
            "redrive_id": str(one.redrive_id),
            "by": "command",
        }
    ]


def test_every_manual_attempt_has_another_id() -> None:
    one = dead()
    (first,) = outbox.redrive.redrive([one.event_id], by="anna").values()
    Dispatch.objects.update(state="DEAD", dead_at=CREATED_AT)

    (second,) = outbox.redrive.redrive([one.event_id], by="anna").values()

    assert first != second
    one.refresh_from_db()
    assert one.redrive_id == second


def test_a_published_event_keeps_the_id_of_its_last_manual_attempt() -> None:
    one = dead()
    ((_, attempt),) = outbox.redrive.redrive([one.event_id]).items()

    assert relay_once(Recorder()).published == 1

    one.refresh_from_db()
    assert (one.state, one.redrive_id) == (DispatchState.PUBLISHED, attempt)


def test_what_was_passed_while_it_was_dead_comes_after_and_holds_nobody_up(
    settings: Settings,
) -> None:
    settings.OUTBOX_FOLLOWERS_PASS = ["order.paid"]
    one = dead(aggregate_id="A")
    recorder = Recorder()
    DispatchFactory.create(aggregate_id="A", seq=2)
    assert relay_once(recorder).published == 1

    outbox.redrive.redrive([one.event_id])
    DispatchFactory.create(aggregate_id="A", seq=3)
    while relay_once(recorder).claimed:
        pass

    assert [message.seq for message in recorder.taken] == [2, 1, 3]


def test_what_waits_behind_a_dead_event_goes_only_after_it() -> None:
    one = dead(aggregate_id="A")
    two = dead(aggregate_id="A", seq=2)
    DispatchFactory.create(aggregate_id="A", seq=3)
    recorder = Recorder()

    outbox.redrive.redrive([two.event_id])
    assert relay_once(recorder).claimed == 0
    outbox.redrive.redrive([one.event_id])
    while relay_once(recorder).claimed:
        pass

    assert [message.seq for message in recorder.taken] == [1, 2, 3]


def test_all_dead_events_are_put_back_at_once() -> None:
    for _ in range(3):
        dead()
    DispatchFactory.create(attempts=1)

    assert redrive("--all-dead").splitlines()[-1] == "3 events are back in line."

    assert sorted(Dispatch.objects.values_list("state", "attempts")) == [
        *[("PENDING", 0)] * 3,
        ("PENDING", 1),
    ]


def test_one_destination_alone_is_redriven() -> None:
    here = dead()
    there = dead(event=here.event, destination=DestinationFactory.create(code="shop"))

    assert "to shop" in redrive(str(here.event_id), "--destination", "shop")

    here.refresh_from_db()
    there.refresh_from_db()
    assert (here.state, there.state) == (DispatchState.DEAD, DispatchState.PENDING)
    assert redrive("--all-dead", "--destination", "shop") == "0 events are back in line."


def test_an_event_that_is_not_dead_is_left_alone_and_named() -> None:
    waiting = DispatchFactory.create(attempts=3)
    unknown = uuid4()

    for event_id in (waiting.event_id, unknown):
        with pytest.raises(CommandError, match=f"Not dead, or not there at all: {event_id}"):
            redrive(str(event_id))

    waiting.refresh_from_db()
    assert waiting.attempts == 3


@pytest.mark.parametrize("arguments", [[], ["no-uuid"]])
def test_without_saying_which_nothing_is_done(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        redrive(*arguments)
