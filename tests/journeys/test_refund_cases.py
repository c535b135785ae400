"""What others got wrong about money that goes back, over HTTP, signed and stored."""

from typing import Any

import pytest

from outbox.models import Event
from payments.models import ProviderTransaction
from tests.factories import AccountKeyFactory
from tests.invariants import assert_books_balance
from tests.journeys.shop import Shop, at_once, conflicts, events
from tests.payments.over_http import number, stripe_paid
from tests.signing import stripe_event


def told(event_type: str, thing: dict[str, Any]) -> bytes:
    return stripe_event(event_type, thing, event_id=f"evt_{number()}", livemode=True)


def charge_refunded(amount_refunded: int) -> bytes:
    charge = {
        "id": "ch_1",
        "object": "charge",
        "payment_intent": "pi_1",
        "amount": 5000,
        "amount_refunded": amount_refunded,
        "currency": "usd",
    }
    return told("charge.refunded", charge)


def dispute(kind: str, status: str) -> bytes:
    thing = {
        "id": "du_1",
        "object": "dispute",
        "payment_intent": "pi_1",
        "amount": 7000,
        "currency": "usd",
        "status": status,
    }
    return told(f"charge.dispute.{kind}", thing)


def room(txn_no: str = "pi_1") -> tuple[int, int, int]:
    row = ProviderTransaction.objects.get(kind="PAYMENT", txn_no=txn_no)
    return row.refund_reserved_minor, row.refunded_minor, row.charged_back_minor


@pytest.fixture
def paid(shop: Shop) -> Shop:
    AccountKeyFactory.create(account=shop.stripe, purpose="api", secret="sk_live_8Qm2")
    return shop


def pay(shop: Shop, amount_minor: int) -> None:
    shop.place("O-1", amount_minor)
    shop.tell(stripe_paid("O-1", amount_minor, txn_no="pi_1"))


def test_the_running_total_of_a_charge_is_no_refund_of_its_own(shop: Shop) -> None:
    pay(shop, 5000)

    for amount in (1500, 1000, 1500, 1000, 5000, 5000):
        assert shop.tell(charge_refunded(amount)) in ("APPLIED", "DUPLICATE")

    assert shop.status("O-1") == "REFUNDED"
    assert room() == (5000, 5000, 0)
    assert events().count("order.refunded") == 2
    assert_books_balance()


def test_a_refund_that_is_faster_than_its_payment_follows_it(shop: Shop) -> None:
    shop.place("O-67", 1200)
    refund = {
        "id": "re_1",
        "object": "refund",
        "payment_intent": "pi_67",
        "amount": 500,
        "currency": "usd",
        "status": "succeeded",
    }
    assert shop.tell(told("refund.created", refund)) == "PARKED"
    assert shop.tell(stripe_paid("O-67", 1200, txn_no="pi_67")) == "APPLIED"
    processing = {"id": "pi_67", "amount": 1200, "currency": "usd"}
    assert shop.tell(told("payment_intent.processing", processing)) == "RECORDED STALE"

    assert (shop.status("O-67"), shop.read("O-67")["refunded_minor"]) == ("PAID", 500)
    of_order = Event.objects.filter(aggregate_type="order").order_by("seq")
    assert [event.type for event in of_order] == ["order.paid", "order.refunded"]
    assert_books_balance()


def test_a_dispute_that_is_won_leaves_what_was_there(paid: Shop) -> None:
    pay(paid, 10_000)
    refund = {
        "id": "re_1",
        "object": "refund",
        "payment_intent": "pi_1",
        "amount": 3000,
        "currency": "usd",
        "status": "succeeded",
    }
    paid.tell(told("refund.created", refund))

    assert paid.tell(dispute("created", "needs_response")) == "APPLIED"
    assert paid.tell(dispute("funds_withdrawn", "needs_response")) == "IGNORED"
    assert room() == (3000, 3000, 7000)
    refused = paid.api("POST", "/v1/orders/O-1/refunds", {"refund_no": "R-1"})
    assert refused.status_code == 422
    assert paid.tell(dispute("closed", "won")) == "APPLIED"
    assert paid.tell(dispute("funds_reinstated", "won")) == "IGNORED"

    assert (paid.status("O-1"), room()) == ("PAID", (3000, 3000, 0))
    accepted = paid.api("POST", "/v1/orders/O-1/refunds", {"refund_no": "R-1"})
    assert accepted.json()["amount"]["amount_minor"] == 7000
    assert events().count("payment.disputed") == 2
    assert conflicts() == ["EXTERNAL_REFUND"]
    assert_books_balance()


def test_refunds_that_race_over_http_never_exceed_what_was_captured(paid: Shop) -> None:
    pay(paid, 10_000)

    def ask(refund_no: str, amount_minor: int) -> int:
        content = {
            "refund_no": refund_no,
            "amount": {"amount_minor": amount_minor, "currency": "USD"},
        }
        return paid.api("POST", "/v1/orders/O-1/refunds", content).status_code

    raced = at_once(lambda: ask("R-1", 6000), lambda: ask("R-2", 6000))

    assert sorted(raced) == [201, 422]
    assert [ask("R-3", amount) for amount in (-500, 0, 4001, 4000)] == [400, 400, 422, 201]
    assert room() == (10_000, 0, 0)
    assert_books_balance()
