"""What the demo shows of keys, and the conflicts it makes, against the real web server."""

from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from pytest_django import Settings

from config.demo import one_key, people, shop
from config.simulator import check
from config.simulator.our_accounts import OurAccounts
from orders.models import ApiKey, Order
from payments import giving_roles
from payments.models import Conflict, ConflictStatus, Resolution
from payments.policies import current
from tests.invariants import broken_rules
from tests.orders.client import ApiClient
from tests.payments.conflicts import deciding
from tests.simulator.running import Clock, running


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
    assert "  reviewer  " in said.getvalue()
    assert "decides; above 50.00 EUR, 50.00 USD proposes" in said.getvalue()
    assert broken_rules() == {}
    assert not ApiKey.objects.filter(label="demo", revoked_at=None).exists()

    said = StringIO()
    call_command("demo", "--conflicts", "2", stdout=said)
    assert Conflict.objects.count() == 13
    assert "Log in" not in said.getvalue()


def test_where_a_simulator_runs_money_to_practise_on_can_be_sent_back(
    live_service: str, settings: Settings, tmp_path: Path
) -> None:
    settings.PUBLIC_URL = live_service
    accounts = OurAccounts(live_service, Clock())
    with running(tmp_path / "books.sqlite3", lambda: list(accounts())) as simulator:
        settings.SIMULATOR_URL = simulator.url
        shop.set_up(live_service, simulator.url)

        call_command("demo", "--conflicts", "10", stdout=StringIO())

        found = check.compare(simulator.store, final=True)
        slip = Conflict.objects.get(reason="ORDER_NOT_FOUND")
        meant = slip.received["order_no"].removesuffix("0")
        deciding.decide(
            slip, Resolution.MATCH, deciding.somebody("dora", "reviewer"), order_no=meant
        )
        matched = check.compare(simulator.store, final=True)
    asked = Conflict.objects.order_by("pk").select_related("transaction__account")
    held = [row.transaction.account.provider for row in asked if row.transaction]
    assert held == [*["simulator"] * 5, "custom", *["simulator"] * 2, "stripe", "custom"]
    assert found.differences == []
    assert matched.differences == []
    assert broken_rules() == {}


@pytest.mark.django_db(transaction=True)
def test_the_demo_shop_has_two_people_and_small_amounts_take_one_of_them() -> None:
    merchant = shop.set_up("http://127.0.0.1:9", "").merchant

    passwords = people.set_up(merchant, now=Clock()())

    assert list(passwords) == ["reviewer", "approver"]
    for name, password in passwords.items():
        user = authenticate(username=name, password=password)
        assert user is not None
        assert user.is_staff
        assert giving_roles.roles_of(user) == {name}
    assert current.rules_of(merchant.pk).four_eyes_above == people.ALONE_UP_TO
    assert people.set_up(merchant, now=Clock()()) == {}
    assert current.version_of(merchant.pk) == 1


@pytest.mark.django_db(transaction=True)
def test_without_the_admin_of_the_first_start_nobody_is_made() -> None:
    merchant = shop.set_up("http://127.0.0.1:9", "").merchant
    User.objects.update(username="somebody-else")

    assert people.set_up(merchant, now=Clock()()) == {}
    assert User.objects.count() == 1


@pytest.mark.parametrize("number", ["0", "-1", "201", "x"])
def test_a_number_of_conflicts_that_nobody_means_is_refused(number: str) -> None:
    with pytest.raises(CommandError, match="--conflicts"):
        call_command("demo", f"--conflicts={number}")
