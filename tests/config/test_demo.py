"""What the demo shows of keys, and the conflicts it makes, against the real web server."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from config.demo import one_key, shop
from orders.models import ApiKey, Order
from payments.models import Conflict, ConflictStatus
from tests.invariants import broken_rules
from tests.orders.client import ApiClient


def test_twenty_requests_with_one_key_from_four_processes_are_one_execution(
    live_service: str,
) -> None:
    answers = one_key.send(
        one_key.Order(
            url=f"{live_service}/v1/orders",
            headers=ApiClient().headers | {"Idempotency-Key": "k"},
            content={"order_no": "A-1", "amount": {"amount_minor": 1099, "currency": "USD"}},
        )
    )

    assert one_key.statuses(answers) == {201: one_key.PROCESSES * one_key.EACH}
    assert one_key.summary(answers) == "businessExecutions=1 distinctResults=1"
    assert Order.objects.count() == 1


def test_the_summary_counts_what_was_done_twice_and_what_differs() -> None:
    answers = [
        one_key.Answer(201, b"a", replayed=False),
        one_key.Answer(201, b"b", replayed=False),
        one_key.Answer(409, b"b", replayed=True),
    ]

    assert one_key.summary(answers) == "businessExecutions=2 distinctResults=3"


def test_ten_conflicts_to_practise_on_are_ten_questions_of_many_kinds(
    live_service: str, settings: Settings
) -> None:
    settings.PUBLIC_URL = live_service
    shop.set_up(live_service, "")
    said = StringIO()

    call_command("demo", "--conflicts", "11", stdout=said)

    asked = Conflict.objects.order_by("pk")
    assert [conflict.reason for conflict in asked] == [
        "AMOUNT_MISMATCH",
        "AMOUNT_MISMATCH",
        "CURRENCY_MISMATCH",
        "LATE_PAYMENT",
        "DUPLICATE_PAYMENT",
        "TRANSACTION_ALTERED",
        "EXTERNAL_REFUND",
        "ORDER_NOT_FOUND",
        "PERHAPS_TOLD_TWICE",
        "REVERSAL_EXCEEDS_PAYMENT",
        "PAYMENT_NOT_FOUND",
    ]
    assert {conflict.status for conflict in asked} == {ConflictStatus.OPEN}
    for conflict in asked:
        page = f"{live_service}/admin/payments/conflict/{conflict.pk}/change/"
        assert f"{conflict.reason:<25} {page}\n" in said.getvalue()
    assert broken_rules() == {}
    assert not ApiKey.objects.filter(label="demo", revoked_at=None).exists()

    call_command("demo", "--conflicts", "2", stdout=StringIO())
    assert Conflict.objects.count() == 13


@pytest.mark.parametrize("number", ["0", "-1", "201", "x"])
def test_a_number_of_conflicts_that_nobody_means_is_refused(number: str) -> None:
    with pytest.raises(CommandError, match="--conflicts"):
        call_command("demo", f"--conflicts={number}")
