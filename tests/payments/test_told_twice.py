"""One payment that is told under two numbers is a question of its own, not a second payment."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from config.console import two_sides
from payments.models import Conflict, ProviderAccount, ProviderTransaction
from payments.sweep import sweep
from tests import signing
from tests.factories import STRIPE_SECRET, OrderFactory, ProviderAccountFactory

pytestmark = pytest.mark.django_db(transaction=True)

LINK_SECRET = "tests-only-mollie-4Jx9Qw2Lm7Rk"


@pytest.fixture
def mollie() -> ProviderAccount:
    account: ProviderAccount = ProviderAccountFactory.create(
        provider="mollie_nextgen",
        account_no="pfl_1",
        settings={"order": "/_embedded/entity/description"},
        secret=LINK_SECRET,
    )
    OrderFactory.create(merchant=account.merchant, order_no="A-1", amount_minor=1099)
    return account


@pytest.fixture
def stripe() -> ProviderAccount:
    account: ProviderAccount = ProviderAccountFactory.create(account_no="acct_1")
    OrderFactory.create(merchant=account.merchant, order_no="A-1", amount_minor=1099)
    return account


def present() -> datetime:
    """Signatures are judged by a real clock."""
    return datetime.fromtimestamp(time.time(), UTC)


def call(account: ProviderAccount, event: dict[str, Any]) -> None:
    """Signed as the provider does, through the endpoint."""
    body = json.dumps(event).encode()
    if account.provider == "stripe":
        headers = signing.signed_stripe(body, STRIPE_SECRET, present())
    else:
        headers = signing.signed_raw(body, LINK_SECRET, "X-Mollie-Signature", prefix="sha256=")
    kind = headers.pop("Content-Type")
    path = f"/callbacks/{account.endpoint}"
    answer = Client().post(path, body, content_type=kind, headers=headers)
    assert answer.status_code == 200


def mollie_event(kind: str, number: str, **entity: Any) -> dict[str, Any]:
    usual = {
        "id": number,
        "mode": "live",
        "amount": {"currency": "USD", "value": "10.99"},
        "description": "A-1",
        "profileId": "pfl_1",
        "paidAt": "2026-03-01T12:00:00+00:00",
    }
    return {
        "resource": "event",
        "id": f"event_{number}",
        "type": kind,
        "entityId": number,
        "createdAt": "2026-03-01T12:00:01+00:00",
        "_embedded": {"entity": usual | entity},
    }


LINK = mollie_event("payment-link.paid", "pl_1")
PAYMENT = mollie_event("payment.paid", "tr_1")


def stripe_event(kind: str, number: str, **thing: Any) -> dict[str, Any]:
    now = int(present().timestamp())
    return {
        "id": f"evt_{number}",
        "object": "event",
        "type": kind,
        "livemode": True,
        "created": now,
        "data": {"object": {"id": number, "currency": "usd", **thing}},
    }


def session(**more: Any) -> dict[str, Any]:
    """A checkout of a subscription: the invoice carries the money, and no payment is named."""
    return stripe_event(
        "checkout.session.completed",
        "cs_1",
        mode="subscription",
        payment_status="paid",
        payment_intent=None,
        invoice="in_1",
        subscription="sub_1",
        amount_total=1099,
        client_reference_id="A-1",
        **more,
    )


def intent(number: str = "pi_1", paid: int = 1099, **more: Any) -> dict[str, Any]:
    return stripe_event("payment_intent.succeeded", number, amount_received=paid, **more)


def reasons() -> list[str]:
    return list(Conflict.objects.order_by("pk").values_list("reason", flat=True))


@pytest.mark.parametrize("events", [(LINK, PAYMENT), (PAYMENT, LINK)], ids=["link", "payment"])
def test_a_payment_link_beside_its_payment_is_asked_about_as_what_it_may_be(
    mollie: ProviderAccount, events: tuple[dict[str, Any], ...]
) -> None:
    for event in (*events, *events):
        call(mollie, event)

    assert reasons() == ["PERHAPS_TOLD_TWICE"]
    asked = Conflict.objects.get()
    first, second = (event["entityId"] for event in events)
    assert (asked.expected["paid_txn_no"], asked.received["txn_no"]) == (first, second)
    assert "is this the same money" in two_sides.question(asked)


def test_two_payments_or_two_links_are_a_second_payment(mollie: ProviderAccount) -> None:
    call(mollie, PAYMENT)
    call(mollie, mollie_event("payment.paid", "tr_2"))

    assert reasons() == ["DUPLICATE_PAYMENT"]


def test_another_amount_is_what_it_always_was(mollie: ProviderAccount) -> None:
    call(mollie, PAYMENT)
    amount = {"currency": "USD", "value": "1.00"}
    call(mollie, mollie_event("payment-link.paid", "pl_1", amount=amount))

    assert reasons() == ["AMOUNT_MISMATCH"]


def test_a_link_of_another_account_is_a_second_payment(mollie: ProviderAccount) -> None:
    other: ProviderAccount = ProviderAccountFactory.create(
        merchant=mollie.merchant,
        provider="mollie_nextgen",
        account_no="pfl_2",
        settings=mollie.settings,
        secret=LINK_SECRET,
    )
    call(mollie, PAYMENT)
    call(other, mollie_event("payment-link.paid", "pl_1", profileId="pfl_2"))

    assert reasons() == ["DUPLICATE_PAYMENT"]


@pytest.mark.parametrize("first", ["session", "intent"])
def test_a_subscriptions_checkout_beside_its_payment_is_one_question(
    stripe: ProviderAccount, first: str
) -> None:
    events = [session(), intent(metadata={"order_id": "A-1"})]
    for event in events if first == "session" else reversed(events):
        call(stripe, event)

    assert reasons() == ["PERHAPS_TOLD_TWICE"]


def test_the_payment_of_a_subscriptions_invoice_names_no_order_and_is_asked_about_with_it(
    stripe: ProviderAccount,
) -> None:
    call(stripe, intent(invoice="in_1"))
    call(stripe, session())
    call(stripe, intent("pi_9", paid=5, invoice="in_9"))

    sweep(now=present() + timedelta(hours=1), grace=timedelta(minutes=10))

    asked = {one.received["txn_no"]: one for one in Conflict.objects.all()}
    assert {number: one.reason for number, one in asked.items()} == {
        "pi_1": "PERHAPS_TOLD_TWICE",
        "pi_9": "ORDER_NOT_FOUND",
    }
    told = asked["pi_1"].expected
    assert (told["order_no"], told["paid_txn_no"]) == ("A-1", "cs_1")
    assert sweep(now=present() + timedelta(hours=2), grace=timedelta(0)).conflicts == 0


def test_a_payments_own_checkout_is_one_transaction(stripe: ProviderAccount) -> None:
    call(stripe, intent(metadata={"order_id": "A-1"}))
    paid = session()
    paid["data"]["object"] |= {"mode": "payment", "payment_intent": "pi_1", "invoice": None}
    call(stripe, paid)

    assert reasons() == []
    assert ProviderTransaction.objects.get().txn_no == "pi_1"
