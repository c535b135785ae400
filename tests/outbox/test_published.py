"""`manage.py events`: what is shown, and that following misses nothing."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from io import StringIO
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models.functions import Now

from outbox.models import Dispatch, DispatchState
from outbox.published import LOOK_BACK, Follower, latest
from tests.concurrency.racing import race
from tests.factories import DestinationFactory, DispatchFactory
from tests.outbox.brokers import until
from tests.outbox.doubles import Recorder
from tests.outbox.relaying import relay_once
from tests.processes import ROOT, environment

pytestmark = pytest.mark.django_db(transaction=True)


def published(**changes: object) -> Dispatch:
    event: Dispatch = DispatchFactory.create(**changes)
    Dispatch.objects.filter(pk=event.pk).update(state=DispatchState.PUBLISHED, published_at=Now())
    return event


def shown(*arguments: str) -> list[str]:
    output = StringIO()
    call_command("events", *arguments, stdout=output)
    return output.getvalue().splitlines()


def test_published_events_are_shown_in_the_order_they_went_out() -> None:
    waiting = DispatchFactory.create()
    second, first = DispatchFactory.create_batch(2)
    for event in (first, second):
        Dispatch.objects.filter(pk=event.pk).update(state="PUBLISHED", published_at=Now())

    lines = shown()

    assert [line.split()[-1] for line in lines] == [str(first.event_id), str(second.event_id)]
    assert lines[0].split()[1:] == [
        *("PUBLISHED", "order.paid", f"order/{first.aggregate_id}", "#1", str(first.event_id)),
    ]
    assert str(waiting.event_id) not in "".join(lines)
    assert [event.pk for event in latest(DispatchState.PUBLISHED, 1)] == [second.pk]


def test_other_states_are_shown_on_request_with_what_went_wrong() -> None:
    published()
    dead = DispatchFactory.create(
        state="DEAD", dead_at=Now(), attempts=12, last_error="no\nqueue \x1b[31m"
    )

    (line,) = shown("--state", "dead")

    assert line.endswith(f"{dead.event_id}  attempts=12  'no\\nqueue \\x1b[31m'")
    assert len(shown("--state", "all")) == 2
    assert shown("--limit", "0") == []


def test_json_holds_the_whole_event() -> None:
    event = published(payload={"order_no": "O-1"})
    event.refresh_from_db()
    assert event.published_at is not None

    (line,) = shown("--json")

    assert json.loads(line) == {
        "at": event.published_at.isoformat(),
        "destination": "bus",
        "state": "PUBLISHED",
        "type": "order.paid",
        "aggregate": f"order/{event.aggregate_id}",
        "seq": 1,
        "id": str(event.event_id),
        "attempts": 0,
        "last_error": "",
        "payload": {"order_no": "O-1"},
    }


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["--follow", "--state", "dead"], "--follow shows published events"),
        (["--limit", "-1"], "must be a whole number from 0 to 10000"),
        (["--limit", "10001"], "must be a whole number from 0 to 10000"),
        (["--state", "sent"], "invalid choice"),
    ],
)
def test_what_cannot_be_shown_is_explained(arguments: list[str], hint: str) -> None:
    with pytest.raises(CommandError, match=hint):
        shown(*arguments)


def test_a_follower_tells_each_event_once_and_none_from_before() -> None:
    published()
    follower = Follower()
    assert follower.new() == []

    events = [published(), published()]

    assert follower.new() == events
    assert follower.new() == []


def test_a_follower_finds_an_event_that_was_stamped_earlier_and_committed_later() -> None:
    slow, quick = DispatchFactory.create_batch(2)
    follower = Follower()
    with transaction.atomic():
        Dispatch.objects.filter(pk=slow.pk).update(state="PUBLISHED", published_at=Now())
        race(lambda: relay_once(Recorder()))
        assert race(follower.new) == [[quick]]

    assert follower.new() == [slow]


def test_a_follower_that_was_not_asked_for_long_has_missed_nothing() -> None:
    follower = Follower()
    event = published()
    Dispatch.objects.update(published_at=Now() - LOOK_BACK + timedelta(seconds=1))
    late = published()

    assert follower.new() == [event, late]


def test_following_shows_events_as_they_go_out_and_ctrl_c_ends_it_quietly(tmp_path: Path) -> None:
    before = published()
    command = [sys.executable, "manage.py", "events", "--follow", "--json"]
    with (tmp_path / "out").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment(), stdout=output, stderr=subprocess.STDOUT
        )

        def ids() -> list[UUID]:
            lines = (tmp_path / "out").read_text().splitlines()
            return [UUID(json.loads(line)["id"]) for line in lines]

        try:
            until(lambda: ids() == [before.event_id])
            after = published()
            until(lambda: ids() == [before.event_id, after.event_id])
            os.kill(process.pid, signal.SIGINT)

            assert process.wait(timeout=20) == 0
            assert ids() == [before.event_id, after.event_id]
        finally:
            process.kill()
            process.wait()


def test_what_went_to_another_destination_is_shown_apart() -> None:
    other = DestinationFactory.create(code="shop")
    there, here = published(destination=other), published()

    assert [line.split()[-1] for line in shown("--destination", "shop")] == [str(there.event_id)]
    assert [line.split()[-1] for line in shown()] == [str(here.event_id)]
    with pytest.raises(CommandError, match="There is no destination nowhere"):
        shown("--destination", "nowhere")
