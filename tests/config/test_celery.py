"""What every background task relies on: a message is a hint that may come twice, late or never."""

import inspect

import pytest
from django.conf import settings

from config.celery import app
from outbox import tasks
from outbox.drains import TURN_SECONDS
from outbox.relay import LEASE, PUBLISH_SECONDS_MAX

app.loader.import_default_modules()
OURS = sorted(name for name in app.tasks if not name.startswith("celery."))


def test_a_task_is_acknowledged_when_it_is_done_and_comes_again_if_its_worker_dies() -> None:
    assert app.conf.task_acks_late
    assert app.conf.task_reject_on_worker_lost
    assert app.conf.worker_prefetch_multiplier == 1


def test_messages_are_json_only_and_their_results_are_nobodys_business() -> None:
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == app.conf.result_serializer == "json"
    assert app.conf.task_ignore_result


@pytest.mark.parametrize("name", OURS)
def test_a_task_takes_names_only_and_tolerates_those_it_does_not_know(name: str) -> None:
    parameters = inspect.signature(app.tasks[name].run).parameters.values()

    kinds = {each.kind for each in parameters}
    assert inspect.Parameter.VAR_KEYWORD in kinds
    assert kinds <= {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
    # What a task works on, it names by an id, and reads from the database.
    given = [each for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]
    assert all(each.annotation in {int, str} for each in given)


@pytest.mark.parametrize("tick", app.conf.beat_schedule.values(), ids=app.conf.beat_schedule)
def test_a_tick_is_of_a_task_of_ours_and_does_not_pile_up(tick: dict[str, object]) -> None:
    options = tick["options"]
    assert isinstance(options, dict)
    assert tick["task"] in OURS
    # Also the end of a task that kills its worker each time.
    assert 0 < options["expires"] <= 3600
    # What is due later says so in its row.
    assert not {"eta", "countdown"} & set(options)


def test_a_task_ends_before_its_message_is_given_to_another() -> None:
    assert settings.CELERY_TASK_TIME_LIMIT == 60
    longest = tasks.LINGER_SECONDS + TURN_SECONDS + PUBLISH_SECONDS_MAX
    assert longest < settings.CELERY_TASK_TIME_LIMIT
    assert app.conf.broker_transport_options["visibility_timeout"] > settings.CELERY_TASK_TIME_LIMIT


def test_a_crash_delays_what_was_claimed_by_less_than_a_minute() -> None:
    assert LEASE.total_seconds() < 60
    assert LEASE.total_seconds() > PUBLISH_SECONDS_MAX
