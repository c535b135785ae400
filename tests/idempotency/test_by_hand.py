"""`manage.py idempotency`: what a person sees of a key that waits for him, and what he decides."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from idempotency import by_hand
from idempotency.claims import Replay, Running
from idempotency.leased import HandOver
from idempotency.lifecycle import Result
from idempotency.models import REASON_LENGTH_MAX, Record, RecordStatus
from idempotency.one_transaction import Executed
from tests.idempotency.intents import CREATED
from tests.idempotency.provider import SUCCEEDED, Provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provider() -> Provider:
    provider = Provider()
    provider.finding = HandOver("the provider denies and confirms it")
    provider.run()
    return provider


def manage(*arguments: Any) -> str:
    """What the command writes."""
    out = StringIO()
    call_command("idempotency", *map(str, arguments), stdout=out)
    return out.getvalue()


def decide(record_id: int, status: str = "SUCCEEDED", **options: Any) -> str:
    given = {"code": 201, "body": '{"paid_out": true}', "who": "anna", "reason": "asked the bank"}
    words = [f"--{name}={value}" for name, value in (given | options).items()]
    return manage("decide", record_id, status, *words)


def test_what_waits_is_shown_with_its_reason(provider: Provider) -> None:
    record = Record.objects.get()

    for shown in (manage("show"), manage("show", record.pk)):
        assert str(record.pk) in shown
        assert "the provider denies and confirms it" in shown
        assert "waits since" in shown

    decide(record.pk)
    assert manage("show") == "No key waits for a person.\n"
    assert "waits for nobody  decided by anna: asked the bank" in manage("show", record.pk)
    with pytest.raises(CommandError, match="There is no record 0"):
        manage("show", 0)


def test_a_decision_is_every_repeats_answer_and_says_whose_it_was(provider: Provider) -> None:
    record = Record.objects.get()

    assert "SUCCEEDED" in decide(record.pk)

    answer = Result(201, b'{"paid_out": true}')
    assert provider.run() == Replay(RecordStatus.SUCCEEDED, answer)
    record.refresh_from_db()
    assert (record.status, record.handed_over_at) == ("SUCCEEDED", None)
    assert record.reason == "decided by anna: asked the bank"
    assert provider.executed == ["k"]
    with pytest.raises(CommandError, match="does not wait for a person"):
        decide(record.pk, "FAILED_FINAL", code=409)


@pytest.mark.parametrize(
    ("status", "wrong", "why"),
    [
        ("SUCCEEDED", {"code": 409}, "not answered with 409"),
        ("FAILED_FINAL", {"code": 201}, "not answered with 201"),
        ("SUCCEEDED", {"body": "paid"}, "not JSON"),
        ("SUCCEEDED", {"reason": "x" * REASON_LENGTH_MAX}, f"at most {REASON_LENGTH_MAX}"),
        ("SUCCEEDED", {"body": '"' + "x" * 70_000 + '"'}, "bytes"),
    ],
)
def test_a_decision_that_cannot_be_an_answer_decides_nothing(
    provider: Provider, status: str, wrong: dict[str, Any], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        decide(Record.objects.get().pk, status, **wrong)

    again = provider.run()
    assert isinstance(again, Running)
    assert again.handed_over


def test_a_person_may_have_the_source_of_truth_asked_again(provider: Provider) -> None:
    record = Record.objects.get()

    manage("ask_again", record.pk)

    assert provider.run() == Executed(RecordStatus.SUCCEEDED, CREATED)
    with pytest.raises(CommandError, match="does not wait for a person"):
        manage("ask_again", record.pk)
    with pytest.raises(by_hand.NotHandedOver):
        by_hand.decide(record.pk, SUCCEEDED, who="anna", why="late")
