import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, IntegrityError, connection, transaction

from idempotency import claims, lifecycle
from idempotency.claims import Claimed, Mismatch, Recover, Replay, Retryable, Running
from idempotency.keys import Intent, MalformedKey, MalformedScope, Scope, intent
from idempotency.lifecycle import Claim, Result, ResultTooLarge, StaleOwner
from idempotency.models import Record, RecordStatus
from tests.concurrency.racing import race
from tests.idempotency.intents import CREATED, an_intent, the_claim

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)
NO_TIME = timedelta(0)


def claim(wanted: Intent, lease: timedelta = MINUTE) -> claims.Answer:
    with transaction.atomic(durable=True):
        return claims.claim(wanted, lease=lease)


def claimed(wanted: Intent, lease: timedelta = MINUTE) -> Claim:
    answer = claim(wanted, lease)
    assert isinstance(answer, Claimed)
    return answer.claim


@pytest.mark.parametrize(
    "key", ["", " ", "a b", "a\n", "\n", "a" * 129, "a,b", '"a"', "\u00e9", "a\x00", "\uff41"]
)
def test_a_malformed_key_is_refused(key: str) -> None:
    with pytest.raises(MalformedKey):
        an_intent(key)


@pytest.mark.parametrize("key", ["a", "a" * 128, "AZaz09_.:-"])
def test_each_allowed_character_and_length_is_taken(key: str) -> None:
    assert isinstance(claim(an_intent(key)), Claimed)


@pytest.mark.parametrize(
    "parts", [("", "a"), ("1", ""), ("1", "A"), ("1/2", "a"), ("1", "a/b"), ("1", "a b")]
)
def test_a_malformed_scope_is_refused(parts: tuple[str, str]) -> None:
    with pytest.raises(MalformedScope):
        Scope(*parts)


def test_a_scope_reads_as_it_is_written() -> None:
    scope = Scope("12", "place_order", 3)

    assert str(scope) == "12/place_order/v3"
    assert Scope.parse("12/place_order/v3") == scope
    with pytest.raises(MalformedScope):
        Scope.parse("12/place_order")


def test_another_version_of_an_operation_begins_without_keys() -> None:
    claim(an_intent())
    second = intent(scope=Scope("1", "place_order", 2), key="k", digest=bytes(32))

    assert isinstance(claim(second), Claimed)


def test_the_first_claims_and_the_second_is_told_how_long_to_wait() -> None:
    mine = claimed(an_intent())

    answer = claim(an_intent())

    assert mine == the_claim()
    assert isinstance(answer, Running)
    assert answer.lease_left is not None
    assert NO_TIME < answer.lease_left <= MINUTE


def test_whoever_claims_again_with_his_own_token_has_it() -> None:
    wanted = an_intent()
    mine = claimed(wanted)

    assert claim(wanted) == Claimed(mine)


def test_another_meaning_is_refused_in_each_status() -> None:
    other = an_intent(meaning=b"B")
    mine = claimed(an_intent(), NO_TIME)
    assert claim(other) == Mismatch()
    lifecycle.give_up(mine, "later")
    assert claim(other) == Mismatch()
    again = claimed(an_intent())
    assert claim(other) == Mismatch()
    lifecycle.finish(again, RecordStatus.SUCCEEDED, CREATED)
    assert claim(other) == Mismatch()


def test_the_losers_transaction_stays_usable() -> None:
    claim(an_intent())

    with transaction.atomic(durable=True):
        claims.claim(an_intent())
        assert Record.objects.count() == 1


def test_an_expired_claim_is_not_claimed_but_recovered() -> None:
    mine = claimed(an_intent(), NO_TIME)

    assert claim(an_intent()) == Recover(mine)
    assert the_claim() == mine


def test_what_was_given_up_is_claimed_once_with_a_higher_fence() -> None:
    lifecycle.give_up(claimed(an_intent()), "later")
    assert isinstance(claims.look(an_intent()), Retryable)

    again = claimed(an_intent())

    assert (again.fence, again.retry_count) == (2, 1)
    assert isinstance(claim(an_intent()), Running)


def test_a_retryable_record_that_somebody_is_claiming_is_waited_for_by_nobody() -> None:
    lifecycle.give_up(claimed(an_intent()), "later")

    with held_open(an_intent()):
        assert claim(an_intent()) == Running()


def test_a_final_answer_is_replayed_to_the_byte() -> None:
    lifecycle.finish(claimed(an_intent()), RecordStatus.FAILED_FINAL, Result(409, b"\x00\xff"))

    assert claim(an_intent()) == Replay(RecordStatus.FAILED_FINAL, Result(409, b"\x00\xff"))


@pytest.mark.parametrize("final", [RecordStatus.SUCCEEDED, RecordStatus.FAILED_FINAL])
def test_a_final_status_is_final(final: RecordStatus) -> None:
    mine = claimed(an_intent())
    lifecycle.finish(mine, final, CREATED)

    for status in (RecordStatus.SUCCEEDED, RecordStatus.FAILED_FINAL):
        with pytest.raises(StaleOwner):
            lifecycle.finish(mine, status, Result(500))
    with pytest.raises(StaleOwner):
        lifecycle.give_up(mine, "")
    with pytest.raises(StaleOwner):
        lifecycle.hand_over(mine, "")
    assert lifecycle.take_over(mine, owner=an_intent().owner, length=MINUTE) is None
    assert claim(an_intent()) == Replay(final, CREATED)


def test_who_was_taken_over_can_change_nothing() -> None:
    stale = claimed(an_intent(), NO_TIME)
    owner = an_intent().owner
    new = lifecycle.take_over(stale, owner=owner, length=MINUTE)
    assert new is not None
    assert (new.owner, new.fence) == (owner, 2)

    with pytest.raises(StaleOwner):
        lifecycle.finish(stale, RecordStatus.SUCCEEDED, CREATED)
    with pytest.raises(StaleOwner):
        lifecycle.give_up(stale, "")
    assert lifecycle.take_over(stale, owner=an_intent().owner, length=MINUTE) is None
    assert the_claim() == new


def test_a_lease_that_runs_is_not_taken_over() -> None:
    mine = claimed(an_intent())

    assert lifecycle.take_over(mine, owner=an_intent().owner, length=MINUTE) is None


def test_one_of_many_takes_over() -> None:
    for number in range(20):
        stale = claimed(an_intent(f"k{number}"), NO_TIME)

        taken = race(
            *[
                lambda stale=stale: lifecycle.take_over(
                    stale, owner=an_intent().owner, length=MINUTE
                )
            ]
            * 10
        )

        assert len([won for won in taken if won is not None]) == 1


def test_an_answer_that_is_too_large_is_refused_before_it_is_written() -> None:
    mine = claimed(an_intent())

    with pytest.raises(ResultTooLarge):
        lifecycle.finish(mine, RecordStatus.SUCCEEDED, Result(200, bytes(64 * 1024 + 1)))
    lifecycle.finish(mine, RecordStatus.SUCCEEDED, Result(200, bytes(64 * 1024)))


@pytest.mark.parametrize(
    "values",
    [
        {"status": "DONE"},
        {"lease_until": None},
        {"status": "SUCCEEDED"},
        {"result_code": 200},
        {"resource_id": "A"},
        {"status": "FAILED_RETRYABLE"},
        {"fence": 0},
        {"request_hash": b"short"},
        {"idem_key": "a b"},
        {"scope": "everybody"},
    ],
)
def test_not_even_a_hand_on_the_database_writes_a_record_that_makes_no_sense(
    values: dict[str, object],
) -> None:
    claim(an_intent())

    with pytest.raises((IntegrityError, DataError)), transaction.atomic():
        Record.objects.update(**values)


@contextmanager
def held_open(wanted: Intent) -> Iterator[None]:
    """Somebody has claimed the intent in a transaction that is still open."""
    is_claimed, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic(durable=True):
                claims.claim(wanted)
                is_claimed.set()
                assert may_end.wait(30)
                transaction.set_rollback(True)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert is_claimed.wait(30)
    try:
        yield
    finally:
        may_end.set()
        holder.join()


def test_a_claim_that_has_not_committed_is_answered_at_once_and_queues_nobody() -> None:
    with held_open(an_intent()), transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '10ms'")

        assert claims.claim(an_intent()) == Running()
        assert claims.claim(an_intent(meaning=b"B")) == Mismatch()
        assert isinstance(claims.claim(an_intent("other")), Claimed)


def test_a_claim_that_has_not_committed_is_seen_by_those_who_only_ask() -> None:
    wanted = an_intent()
    with held_open(wanted):
        assert claims.look(an_intent()) is None
        assert claims.find(wanted.scope, wanted.key) == Running()

    assert claims.find(wanted.scope, wanted.key) is None


@pytest.mark.parametrize(
    ("meaning", "told"),
    [(b"A", Replay(RecordStatus.SUCCEEDED, CREATED)), (b"B", Mismatch())],
)
def test_a_holder_who_commits_while_he_is_looked_for_is_seen(
    meaning: bytes, told: claims.Answer
) -> None:
    claimed_, may_commit, committed = threading.Event(), threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(durable=True):
            answer = claims.claim(an_intent())
            assert isinstance(answer, Claimed)
            lifecycle.finish(answer.claim, RecordStatus.SUCCEEDED, CREATED)
            claimed_.set()
            assert may_commit.wait(30)
        committed.set()

    def let_go(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        """The holder commits after his record was not found, and before his locks are read."""
        if "pg_locks" in sql:
            may_commit.set()
            assert committed.wait(30)
        return execute(sql, *rest)

    def ask() -> claims.Answer:
        assert claimed_.wait(30)
        with connection.execute_wrapper(let_go):
            return claim(an_intent(meaning=meaning))

    assert race(hold, ask)[1] == told
