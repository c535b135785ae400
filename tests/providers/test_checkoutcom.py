from typing import Any

import pytest

from orders.money import Money
from payments.callback import Kind
from payments.providers.port import Rejected
from tests import signing
from tests.providers.hmac_senders import CHECKOUTCOM, read_one

PAYMENT: dict[str, Any] = {
    "id": "pay_1",
    "action_id": "act_1",
    "reference": "O-1",
    "amount": 1099,
    "currency": "EUR",
}
DISPUTE: dict[str, Any] = {
    "id": "dsp_1",
    "payment_id": "pay_1",
    "payment_reference": "O-1",
    "amount": 1099,
    "currency": "EUR",
}


def event(event_type: str, data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "id": "evt_1",
        "type": event_type,
        "created_on": "2025-12-31T23:59:50.1234567Z",
        "data": {**data, **changes},
    }


def test_approved_and_captured_are_one_payment() -> None:
    approved = read_one(CHECKOUTCOM, event("payment_approved", PAYMENT, action_id="act_0"))
    captured = read_one(CHECKOUTCOM, event("payment_captured", PAYMENT))
    assert (approved.kind, captured.kind) == (Kind.AUTHORIZED, Kind.PAID)
    assert approved.txn_no == captured.txn_no == "pay_1"
    assert captured.occurred_at is not None


def test_parts_of_a_payment_are_refunded_by_numbers_of_their_own() -> None:
    told = [
        read_one(CHECKOUTCOM, event("payment_refunded", PAYMENT, action_id=action, amount=100))
        for action in ("act_2", "act_3")
    ]
    assert [callback.txn_no for callback in told] == ["act_2", "act_3"]
    assert {callback.linked_nos for callback in told} == {("pay_1",)}


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (1099, "EUR", "10.99 EUR"),
        (1099, "JPY", "1099 JPY"),
        (1099, "BHD", "1.099 BHD"),
        (109900, "CLP", "1099 CLP"),
        (1099, "ISK", "1099 ISK"),
        (1099, "UGX", "1099 UGX"),
        (10, "CLF", "10.0000 CLF"),
        (1099, "XOF", "1099 XOF"),
    ],
)
def test_minor_units_are_those_of_checkoutcom(amount: int, currency: str, text: str) -> None:
    callback = read_one(
        CHECKOUTCOM, event("payment_captured", PAYMENT, amount=amount, currency=currency)
    )
    assert str(callback.money) == text


def test_pesos_that_are_no_whole_number_are_not_rounded() -> None:
    told = event("payment_captured", PAYMENT, amount=109950, currency="CLP")
    callback = read_one(CHECKOUTCOM, told)
    assert (callback.money, callback.stated_amount) == (None, "109950 CLP")


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("payment_pending", Kind.PENDING),
        ("payment_capture_pending", Kind.PENDING),
        ("payment_declined", Kind.FAILED),
        ("payment_capture_declined", Kind.FAILED),
        ("payment_returned", Kind.FAILED),
        ("payment_voided", Kind.CLOSED),
        ("payment_canceled", Kind.CLOSED),
        ("payment_expired", Kind.CLOSED),
        ("payment_refund_pending", Kind.PENDING),
        ("payment_refunded", Kind.REFUNDED),
        ("payment_refund_declined", Kind.REFUND_FAILED),
        ("card_verified", Kind.IGNORED),
    ],
)
def test_an_event_has_its_meaning(event_type: str, kind: Kind) -> None:
    assert read_one(CHECKOUTCOM, event(event_type, PAYMENT)).kind is kind


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("dispute_received", Kind.DISPUTED),
        ("dispute_evidence_required", Kind.DISPUTED),
        ("dispute_won", Kind.DISPUTE_WON),
        ("dispute_canceled", Kind.DISPUTE_WON),
        ("dispute_resolved", Kind.DISPUTE_WON),
        ("dispute_arbitration_won", Kind.DISPUTE_WON),
        ("dispute_lost", Kind.DISPUTE_LOST),
        ("dispute_expired", Kind.DISPUTE_LOST),
        ("dispute_accepted", Kind.DISPUTE_LOST),
        ("dispute_arbitration_lost", Kind.DISPUTE_LOST),
        ("dispute_evidence_submitted", Kind.IGNORED),
    ],
)
def test_a_dispute_event_has_its_meaning(event_type: str, kind: Kind) -> None:
    callback = read_one(CHECKOUTCOM, event(event_type, DISPUTE))
    assert callback.kind is kind
    if kind is not Kind.IGNORED:
        assert (callback.txn_no, callback.linked_nos) == ("dsp_1", ("pay_1",))
        assert (callback.order_no, callback.money) == ("O-1", Money(1099, "EUR"))


def test_the_signature_of_identity_verification_is_refused() -> None:
    headers = {"Cko-Signature": "1767225600:key_1:MEUCIQDx"}
    verdict = CHECKOUTCOM.authenticate(signing.as_request(CHECKOUTCOM.body, headers))
    assert isinstance(verdict, Rejected)
