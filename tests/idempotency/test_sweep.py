"""Records whose owners died are recovered by the clock, and none of them keeps another waiting."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from config.celery import app
from idempotency.keys import Intent
from idempotency.leased import Finding, RetryWithSameKey
from idempotency.lifecycle import Claim
from idempotency.models import Record
from idempotency.sweep import OWNERS_MAX, PROCEDURES, Procedure, sweep
from idempotency.tasks import recover_expired
from tests.idempotency.intents import an_intent
from tests.idempotency.provider import NO_TIME, Provider

pytestmark = pytest.mark.django_db(transaction=True)

MINUTE = timedelta(minutes=1)


@pytest.fixture
def provider() -> Provider:
    return Provider()


def lose(provider: Provider, *keys: str, operation: str = "place_order") -> None:
    """Work was done under these keys, its replies were lost, and the leases have ended."""
    for key in keys:
        with pytest.raises(TimeoutError):
            provider.run(an_intent(key, operation=operation), work=provider.lose_the_reply)


def statuses() -> dict[str, str]:
    return dict(Record.objects.values_list("idem_key", "status"))


def test_the_sweep_recovers_what_nobody_asks_for_again(provider: Provider) -> None:
    lose(provider, "a", "b")
    lose(provider, "c", operation="other")
    procedure = Procedure(provider.work, provider.recover, MINUTE)

    assert sweep({"place_order": procedure}) == 2
    assert sweep({"place_order": procedure}) == 0

    assert sorted(provider.executed) == ["a", "b", "c"]
    assert statuses() == {"a": "SUCCEEDED", "b": "SUCCEEDED", "c": "PROCESSING"}


def test_one_run_takes_over_a_bounded_number(provider: Provider) -> None:
    lose(provider, "a", "b", "c")
    procedure = Procedure(provider.work, provider.recover, MINUTE)

    assert sweep({"place_order": procedure}, limit=2) == 2
    assert sweep({"place_order": procedure}, limit=2) == 1


def test_a_record_whose_recovery_breaks_keeps_no_other_waiting_and_ends_with_a_person(
    provider: Provider,
) -> None:
    lose(provider, "a", "poisoned", "b")

    def recover(intent: Intent, claim: Claim) -> Finding | RetryWithSameKey:
        if intent.key == "poisoned":
            raise ZeroDivisionError
        return provider.recover(intent, claim)

    with capture_logs() as logs:
        assert sweep({"place_order": Procedure(provider.work, recover, MINUTE)}) == 3

    assert statuses() == {"a": "SUCCEEDED", "poisoned": "PROCESSING", "b": "SUCCEEDED"}
    broke = [line for line in logs if line["event"] == "idempotency_recovery_broke"]
    record = Record.objects.get(idem_key="poisoned")
    assert [(line["record_id"], line["error"]) for line in broke] == [
        (record.pk, "ZeroDivisionError")
    ]
    assert record.handed_over_at is None

    Record.objects.filter(pk=record.pk).update(lease_until=record.created_at)
    taken = sweep({"place_order": Procedure(provider.work, recover, NO_TIME)})

    handed_over = Record.objects.get(pk=record.pk, handed_over_at__isnull=False)
    assert (taken, handed_over.fence) == (OWNERS_MAX - 2, OWNERS_MAX)
    assert "ZeroDivisionError" in handed_over.reason
    assert sweep({"place_order": Procedure(provider.work, recover, NO_TIME)}) == 0


def test_the_clock_recovers_what_is_registered_and_complains_of_the_rest(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose(provider, "a")
    lose(provider, "b", operation="forgotten")
    procedure = Procedure(provider.work, provider.recover, MINUTE)
    monkeypatch.setitem(PROCEDURES, "place_order", procedure)

    with capture_logs() as logs:
        recover_expired(shard="a newer sender's")

    assert statuses() == {"a": "SUCCEEDED", "b": "PROCESSING"}
    told = {line["event"]: line for line in logs}
    assert told["idempotency_keys_recovered"]["recovered"] == 1
    assert told["idempotency_keys_that_nobody_recovers"]["number"] == 1
    ticks = {entry["task"] for entry in app.conf.beat_schedule.values()}
    assert "idempotency.recover_expired" in ticks


def test_where_nothing_has_expired_the_clock_says_nothing() -> None:
    with capture_logs() as logs:
        recover_expired()

    assert logs == []
