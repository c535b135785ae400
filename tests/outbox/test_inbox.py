"""The mark of an event and its effect, in one transaction."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from pytest_django import Settings

from config.celery import app
from orders.models import Merchant
from outbox import inbox_retention, tasks
from outbox.inbox import Heard, NotKept, NoTransaction, UnfitName, consume, first_time
from outbox.models import CONSUMED_ID_LENGTH_MAX, ConsumedEvent
from tests.factories import MerchantFactory

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Told:
    """An event of anybody's."""

    id: str = "evt_1"


def effect(event: Told) -> None:
    MerchantFactory.create(code=event.id, name="once")


def effects() -> int:
    return Merchant.objects.count()


def test_a_repeat_is_told_as_a_duplicate_and_has_no_effect() -> None:
    assert consume(Told(), group="g", handler=effect) is Heard.HANDLED
    assert consume(Told(), group="g", handler=effect) is Heard.DUPLICATE

    assert effects() == 1
    [mark] = ConsumedEvent.objects.all()
    assert (mark.consumer_group, mark.event_id) == ("g", "evt_1")


def test_another_group_and_another_version_of_a_handler_hear_for_themselves() -> None:
    heard: list[str] = []
    for group in ("totals@1", "mail", "totals@2", "totals@1"):

        def handler(_: Told, group: str = group) -> None:
            heard.append(group)

        consume(Told(), group=group, handler=handler)

    assert heard == ["totals@1", "mail", "totals@2"]


def test_a_handler_that_fails_leaves_neither_effect_nor_mark() -> None:
    def fails(event: Told) -> None:
        effect(event)
        raise LookupError

    with pytest.raises(LookupError):
        consume(Told(), group="g", handler=fails)

    assert (effects(), ConsumedEvent.objects.count()) == (0, 0)
    assert consume(Told(), group="g", handler=effect) is Heard.HANDLED


def swallows_an_error(event: Told) -> None:
    effect(event)
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


def swallows_an_error_of_djangos(event: Told) -> None:
    effect(event)
    with suppress(IntegrityError):
        MerchantFactory.create(code=event.id, name="twice")


def rolls_back(event: Told) -> None:
    effect(event)
    transaction.set_rollback(True)


@pytest.mark.parametrize("handler", [swallows_an_error, swallows_an_error_of_djangos, rolls_back])
def test_an_effect_that_the_database_does_not_keep_is_never_told_as_handled(
    handler: Callable[[Told], None],
) -> None:
    with pytest.raises(NotKept):
        consume(Told(), group="g", handler=handler)

    assert effects() == 0
    assert consume(Told(), group="g", handler=effect) is Heard.HANDLED


@pytest.mark.parametrize("words", ["COMMIT", "  commit and chain", "ROLLBACK", "end", "Abort"])
def test_a_handler_that_ends_the_transaction_by_itself_is_stopped_before_it_does(
    words: str,
) -> None:
    def ends_it(event: Told) -> None:
        effect(event)
        with connection.cursor() as cursor:
            cursor.execute(words)

    with pytest.raises(NotKept, match="by itself"):
        consume(Told(), group="g", handler=ends_it)

    assert (effects(), ConsumedEvent.objects.count()) == (0, 0)


def test_a_handler_may_use_savepoints() -> None:
    def undoes_a_part(event: Told) -> None:
        effect(event)
        with suppress(IntegrityError), transaction.atomic():
            effect(event)

    assert consume(Told(), group="g", handler=undoes_a_part) is Heard.HANDLED
    assert effects() == 1


def test_of_many_at_once_one_handles_and_all_others_are_duplicates_after_its_commit() -> None:
    at_once = threading.Barrier(8)

    def one(_: int) -> tuple[Heard, int]:
        at_once.wait()
        try:
            heard = consume(Told(), group="g", handler=effect)
            return heard, effects()
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        heard = list(threads.map(one, range(8)))

    assert Counter(heard) == {(Heard.HANDLED, 1): 1, (Heard.DUPLICATE, 1): 7}


def test_who_waits_for_a_winner_that_fails_handles_the_event_itself() -> None:
    began, may_fail = threading.Event(), threading.Event()

    def fails(_: Told) -> None:
        began.set()
        may_fail.wait(10)
        raise LookupError

    def loser() -> Heard:
        try:
            return consume(Told(), group="g", handler=effect)
        finally:
            connection.close()

    def winner() -> None:
        try:
            with pytest.raises(LookupError):
                consume(Told(), group="g", handler=fails)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(winner)
        assert began.wait(10)
        second = threads.submit(loser)
        wait_for_a_lock()
        may_fail.set()
        first.result()
        assert second.result() is Heard.HANDLED

    assert effects() == 1


def wait_for_a_lock() -> None:
    with connection.cursor() as cursor:
        while True:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return


def test_who_waits_too_long_is_told_to_come_again_and_never_that_it_is_a_duplicate() -> None:
    def loser() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '50ms'")
            consume(Told(), group="g", handler=effect)
        finally:
            connection.close()

    with transaction.atomic():
        first_time("evt_1", group="g")
        with ThreadPoolExecutor(1) as threads, pytest.raises(OperationalError, match="lock"):
            threads.submit(loser).result()

    assert effects() == 0


def test_it_refuses_a_transaction_of_the_callers_which_could_still_roll_back() -> None:
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        consume(Told(), group="g", handler=effect)

    assert effects() == 0


def test_a_caller_with_a_transaction_of_its_own_marks_in_it() -> None:
    with pytest.raises(NoTransaction):
        first_time("evt_1", group="g")
    with transaction.atomic():
        assert first_time("evt_1", group="g")
        assert not first_time("evt_1", group="g")
        transaction.set_rollback(True)

    assert ConsumedEvent.objects.count() == 0


@pytest.mark.parametrize(
    ("event_id", "group"),
    [
        ("", "g"),
        ("x" * (CONSUMED_ID_LENGTH_MAX + 1), "g"),
        ("a\0b", "g"),
        ("a", ""),
        ("a", "g" * 61),
    ],
)
def test_what_cannot_be_kept_is_refused_and_not_cut(event_id: str, group: str) -> None:
    with pytest.raises(UnfitName):
        consume(Told(event_id), group=group, handler=effect)

    assert effects() == 0


def test_ids_that_differ_by_case_or_accent_are_different_events() -> None:
    heard = [
        consume(Told(event_id), group="g", handler=lambda _: None)
        for event_id in ("evt_a", "evt_A", "evt_\u00e1", "evt_a\u0301", "evt_a ")
    ]

    assert heard == [Heard.HANDLED] * 5


def test_the_two_statements_that_others_are_told_do_what_is_said_of_them() -> None:
    page = (settings.BASE_DIR / "docs" / "consuming-events.md").read_text()
    table, _, statements = page.partition("```sql\n")[2].partition("```")[0].partition("BEGIN;")
    mark = statements.partition(";")[0].replace("$1", "%s").replace("$2", "%s")
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(table)
        inserted = []
        for event_id in ("evt_1", "evt_1", "evt_2"):
            cursor.execute(mark, ["g", event_id])
            inserted.append(cursor.rowcount)
        transaction.set_rollback(True)

    assert inserted == [1, 0, 1]


def aged(days: int, number: int) -> None:
    with connection.cursor() as cursor:
        values: list[Any] = [str(days), timedelta(days=days), number]
        cursor.execute(
            "INSERT INTO outbox_consumedevent (consumer_group, event_id, consumed_at)"
            " SELECT 'g', %s || '-' || n, clock_timestamp() - %s"
            " FROM generate_series(1, %s) AS n",
            values,
        )


def test_marks_past_the_horizon_go_in_batches_and_others_stay() -> None:
    aged(91, 25)
    aged(89, 3)

    assert inbox_retention.forget(horizon=timedelta(days=90), batch=10) == 25
    assert ConsumedEvent.objects.count() == 3
    assert inbox_retention.forget(horizon=timedelta(days=90), batch=10) == 0


def test_a_run_is_bounded() -> None:
    aged(100, 25)

    assert inbox_retention.forget(horizon=timedelta(days=90), batch=10, batches_max=2) == 20


def test_a_horizon_that_replays_could_outlive_is_refused() -> None:
    aged(13, 1)

    with pytest.raises(inbox_retention.HorizonTooShort):
        inbox_retention.forget(horizon=timedelta(days=13))
    assert ConsumedEvent.objects.count() == 1


def test_the_clock_forgets_old_marks(settings: Settings) -> None:
    aged(91, 1)
    aged(15, 1)
    settings.INBOX_KEPT = timedelta(days=90)
    assert "outbox.forget_marks" in {each["task"] for each in app.conf.beat_schedule.values()}

    tasks.forget_marks(not_invented_yet=1)

    assert ConsumedEvent.objects.count() == 1
