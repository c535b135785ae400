"""`manage.py redrive`: dead events get another life, and only dead ones."""

from io import StringIO
from uuid import uuid4

import pytest
import structlog
from django.core.management import CommandError, call_command

from outbox.models import Event, EventState
from tests.factories import EventFactory

pytestmark = pytest.mark.django_db


def redrive(*arguments: str) -> str:
    output = StringIO()
    call_command("redrive", *arguments, stdout=output)
    return output.getvalue().strip()


def test_a_dead_event_is_put_back_with_all_its_attempts() -> None:
    dead, other = EventFactory.create_batch(2, state="DEAD", attempts=12, last_error="no queue")

    with structlog.testing.capture_logs() as logs:
        assert redrive(str(dead.pk)) == "1 events are back in line."

    dead.refresh_from_db()
    other.refresh_from_db()
    assert (dead.state, dead.attempts, dead.next_attempt_at) == (EventState.PENDING, 0, None)
    assert dead.last_error == "no queue"
    assert other.state == EventState.DEAD
    assert logs == [{"event": "event_redriven", "log_level": "info", "event_id": str(dead.pk)}]


def test_all_dead_events_are_put_back_at_once() -> None:
    EventFactory.create_batch(3, state="DEAD", attempts=12)
    EventFactory.create(attempts=1)

    assert redrive("--all-dead") == "3 events are back in line."

    assert sorted(Event.objects.values_list("state", "attempts")) == [
        *[("PENDING", 0)] * 3,
        ("PENDING", 1),
    ]


def test_an_event_that_is_not_dead_is_left_alone_and_named() -> None:
    waiting = EventFactory.create(attempts=3)
    unknown = uuid4()

    for event_id in (waiting.pk, unknown):
        with pytest.raises(CommandError, match=f"Not dead, or not there at all: {event_id}"):
            redrive(str(event_id))

    waiting.refresh_from_db()
    assert waiting.attempts == 3


@pytest.mark.parametrize("arguments", [[], ["no-uuid"]])
def test_without_saying_which_nothing_is_done(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        redrive(*arguments)
