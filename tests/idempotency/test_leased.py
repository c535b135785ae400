from datetime import timedelta

import pytest
from django.db import connection

from idempotency import by_hand, retention
from idempotency.claims import Mismatch, Replay, Running
from idempotency.keys import Intent
from idempotency.leased import (
    ATTEMPTS_MAX,
    Finding,
    Finished,
    GaveUp,
    HandOver,
    NotNow,
    Unknown,
)
from idempotency.lifecycle import Claim, Result
from idempotency.models import Record, RecordStatus
from idempotency.one_transaction import Executed, Refused
from idempotency.tasks import forget_old_keys
from orders.models import Merchant
from tests.factories import MerchantFactory
from tests.idempotency.intents import CREATED, an_intent
from tests.idempotency.provider import SUCCEEDED, Provider

pytestmark = pytest.mark.django_db(transaction=True)

DONE = Executed(RecordStatus.SUCCEEDED, CREATED)
BUSY = Result(503, b"busy")


def test_the_work_is_done_once_and_every_repeat_gets_its_answer() -> None:
    provider = Provider()

    assert provider.run() == DONE
    assert provider.run() == Replay(RecordStatus.SUCCEEDED, CREATED)
    assert provider.run(an_intent(meaning=b"B")) == Mismatch()
    assert provider.executed == ["k"]


def test_a_lost_reply_is_no_failure_recovery_asks_and_records_the_success() -> None:
    provider = Provider()
    with pytest.raises(TimeoutError):
        provider.run(work=provider.lose_the_reply)
    assert Record.objects.get().status == RecordStatus.PROCESSING

    assert provider.run() == DONE
    assert (provider.executed, provider.asked) == (["k"], 1)


def test_what_the_source_of_truth_does_not_know_runs_again_with_the_same_key() -> None:
    provider = Provider()

    def die_before(intent: Intent, claim: Claim) -> Finding:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        provider.run(work=die_before)

    assert provider.run() == DONE
    assert (provider.executed, provider.asked) == (["k"], 1)


def test_while_the_lease_runs_nobody_works_or_asks() -> None:
    provider = Provider()
    provider.finding = Unknown()
    minute = timedelta(minutes=1)

    assert provider.run(lease=minute) == Running(minute)
    again = provider.run(lease=minute)

    assert isinstance(again, Running)
    assert (provider.executed, provider.asked) == (["k"], 0)


def test_a_retryable_failure_is_tried_again_a_bounded_number_of_times() -> None:
    provider = Provider()
    provider.finding = GaveUp("busy", BUSY)

    outcomes = [provider.run() for _ in range(ATTEMPTS_MAX + 1)]

    assert outcomes[:-2] == [NotNow("busy")] * (ATTEMPTS_MAX - 1)
    assert outcomes[-2] == Executed(RecordStatus.FAILED_FINAL, BUSY)
    assert outcomes[-1] == Replay(RecordStatus.FAILED_FINAL, BUSY)
    assert len(provider.executed) == ATTEMPTS_MAX


def test_a_retryable_failure_is_not_a_failed_one_a_later_call_succeeds() -> None:
    provider = Provider()
    provider.finding = GaveUp("busy", BUSY)
    provider.run()
    provider.finding = SUCCEEDED

    assert provider.run() == DONE
    assert Record.objects.get().retry_count == 1


def test_what_no_rule_can_decide_waits_for_a_person_and_is_not_touched_meanwhile() -> None:
    provider = Provider()
    provider.finding = HandOver("the provider denies and confirms it")
    provider.run()

    again = provider.run()

    assert isinstance(again, Running)
    assert again.handed_over
    assert (provider.executed, provider.asked) == (["k"], 0)
    record = Record.objects.get()
    by_hand.decide(record.pk, SUCCEEDED, who="anna", why="seen at the provider")
    assert provider.run() == Replay(RecordStatus.SUCCEEDED, CREATED)
    with pytest.raises(by_hand.NotHandedOver):
        by_hand.decide(record.pk, SUCCEEDED, who="anna", why="seen at the provider")


def test_rows_commit_with_the_claim_and_with_the_answer_each_once() -> None:
    def after() -> None:
        MerchantFactory.create(code="after")

    provider = Provider()
    provider.finding = Finished(RecordStatus.SUCCEEDED, CREATED, after)

    def before(claim: Claim) -> None:
        MerchantFactory.create(code="before")

    provider.run(prepare=before)
    provider.run(prepare=before)

    assert set(Merchant.objects.values_list("code", flat=True)) == {"before", "after"}


def test_a_refusal_in_the_claims_transaction_is_final_and_leaves_no_rows() -> None:
    provider = Provider()
    refused = Result(409, b"no room")

    def refuse(claim: Claim) -> None:
        MerchantFactory.create()
        raise Refused(refused)

    first = provider.run(prepare=refuse)
    again = provider.run(prepare=refuse)

    assert first == Executed(RecordStatus.FAILED_FINAL, refused)
    assert again == Replay(RecordStatus.FAILED_FINAL, refused)
    assert not Merchant.objects.exists()
    assert provider.executed == []


def test_only_final_records_past_the_horizon_are_forgotten() -> None:
    provider = Provider()
    for key in ("old", "new"):
        provider.run(an_intent(key))
    provider.finding = Unknown()
    provider.run(an_intent("undecided"))
    provider.finding = GaveUp("busy", BUSY)
    provider.run(an_intent("given up"[:5]))
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE idempotency_record SET created_at = created_at - interval '1 year',"
            " finished_at = CASE WHEN idem_key = 'old' THEN finished_at - interval '31 days'"
            " ELSE finished_at END"
        )

    forgotten = retention.forget(horizon=timedelta(days=30))

    assert forgotten == 1
    left = Record.objects.values_list("idem_key", flat=True)
    assert set(left) == {"new", "undecided", "given"}


def test_a_horizon_within_which_requests_come_again_is_refused() -> None:
    with pytest.raises(retention.HorizonTooShort):
        retention.forget(horizon=timedelta(days=3))


def test_retention_goes_on_in_batches_and_stops_at_its_bound() -> None:
    provider = Provider()
    for number in range(5):
        provider.run(an_intent(str(number)))
    with connection.cursor() as cursor:
        cursor.execute("UPDATE idempotency_record SET finished_at = now() - interval '1 year'")

    assert retention.forget(horizon=timedelta(days=30), batch=2, batches_max=2) == 4
    assert retention.forget(horizon=timedelta(days=30), batch=2) == 1


def test_the_clock_has_old_keys_forgotten() -> None:
    Provider().run()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE idempotency_record SET finished_at = now() - interval '1 year'")

    forget_old_keys()

    assert not Record.objects.exists()
