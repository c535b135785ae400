import json
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind
from payments.providers.port import Reason, Rejected, Verified
from tests import signing
from tests.providers.hmac_senders import SECRET, SQUARE, URL, read_one

PAYMENT: dict[str, Any] = {
    "id": "p1",
    "amount_money": {"amount": 1099, "currency": "USD"},
    "tip_money": {"amount": 200, "currency": "USD"},
    "total_money": {"amount": 1299, "currency": "USD"},
    "status": "COMPLETED",
    "order_id": "s1",
    "reference_id": "O-1",
}
REFUND: dict[str, Any] = {
    "id": "p1_r1",
    "amount_money": {"amount": 500, "currency": "USD"},
    "status": "COMPLETED",
    "payment_id": "p1",
    "order_id": "s2",
}
DISPUTE: dict[str, Any] = {
    "id": "d1",
    "amount_money": {"amount": 1099, "currency": "USD"},
    "state": "EVIDENCE_REQUIRED",
    "disputed_payment": {"payment_id": "p1"},
}


def event(event_type: str, name: str, thing: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "merchant_id": "ML1",
        "type": event_type,
        "event_id": "e1",
        "created_at": "2025-12-31T23:59:50Z",
        "data": {"type": name, "id": thing["id"], "object": {name: {**thing, **changes}}},
    }


def test_a_payment_is_read_completely_and_a_tip_is_not_what_was_asked_for() -> None:
    callback = read_one(SQUARE, event("payment.updated", "payment", PAYMENT))
    assert callback.occurred_at is not None
    assert callback == Callback(
        event_id="e1",
        event_type="payment.updated",
        kind=Kind.PAID,
        txn_no="p1",
        order_no="O-1",
        money=Money(1099, "USD"),
        account_no="ML1",
        occurred_at=callback.occurred_at,
        linked_nos=("s1",),
    )


def test_a_refund_is_linked_to_its_payment() -> None:
    callback = read_one(SQUARE, event("refund.updated", "refund", REFUND))
    assert (callback.txn_no, callback.money) == ("p1_r1", Money(500, "USD"))
    assert callback.linked_nos == ("p1", "s2")


@pytest.mark.parametrize(
    ("event_type", "name", "thing", "state", "kind"),
    [
        ("payment.created", "payment", PAYMENT, {"status": "COMPLETED"}, Kind.PAID),
        ("payment.created", "payment", PAYMENT, {"status": "APPROVED"}, Kind.AUTHORIZED),
        ("payment.updated", "payment", PAYMENT, {"status": "PENDING"}, Kind.PENDING),
        ("payment.updated", "payment", PAYMENT, {"status": "CANCELED"}, Kind.CLOSED),
        ("payment.updated", "payment", PAYMENT, {"status": "FAILED"}, Kind.FAILED),
        ("payment.updated", "payment", PAYMENT, {"status": "NEW"}, Kind.IGNORED),
        ("refund.created", "refund", REFUND, {"status": "PENDING"}, Kind.PENDING),
        ("refund.updated", "refund", REFUND, {"status": "COMPLETED"}, Kind.REFUNDED),
        ("refund.updated", "refund", REFUND, {"status": "REJECTED"}, Kind.REFUND_FAILED),
        ("refund.updated", "refund", REFUND, {"status": "FAILED"}, Kind.REFUND_FAILED),
        ("dispute.created", "dispute", DISPUTE, {}, Kind.DISPUTED),
        ("dispute.created", "dispute", DISPUTE, {"state": "INQUIRY_PROCESSING"}, Kind.PENDING),
        ("dispute.state.updated", "dispute", DISPUTE, {"state": "WON"}, Kind.DISPUTE_WON),
        ("dispute.state.updated", "dispute", DISPUTE, {"state": "LOST"}, Kind.DISPUTE_LOST),
        ("dispute.state.updated", "dispute", DISPUTE, {"state": "ACCEPTED"}, Kind.DISPUTE_LOST),
        ("dispute.state.updated", "dispute", DISPUTE, {"state": "INQUIRY_CLOSED"}, Kind.CLOSED),
        ("invoice.payment_made", "invoice", PAYMENT, {}, Kind.IGNORED),
    ],
)
def test_a_state_has_its_meaning(
    event_type: str, name: str, thing: dict[str, Any], state: dict[str, str], kind: Kind
) -> None:
    assert read_one(SQUARE, event(event_type, name, thing, **state)).kind is kind


@pytest.mark.parametrize(
    "registered",
    [
        "https://pay.example.test/callbacks/square/main/",
        "http://pay.example.test/callbacks/square/main",
        "https://pay.example.test:443/callbacks/square/main",
        "https://app:8000/callbacks/square/main",
        "https://pay.example.test/callbacks/square/main?a=1",
        "",
    ],
)
def test_a_signature_for_another_url_is_refused(registered: str) -> None:
    body = json.dumps(event("payment.updated", "payment", PAYMENT)).encode()
    signed = signing.signed_raw(
        body, SECRET, "x-square-hmacsha256-signature", encoding="base64", url=registered
    )
    verdict = SQUARE.authenticate(signing.as_request(body, signed, URL))
    assert verdict == Rejected(Reason.SIGNATURE_WRONG)


def test_forged_forwarding_headers_make_no_difference() -> None:
    request = SQUARE.genuine()
    forged = {"Host": "app:8000", "X-Forwarded-Host": "evil", "X-Forwarded-Proto": "http"}
    headers = {**dict(request.headers), **forged}
    verdict = SQUARE.authenticate(signing.as_request(request.body, headers, URL))
    assert verdict == Verified("k0")


def test_the_older_sha1_signature_is_refused() -> None:
    body = SQUARE.body
    signed = signing.signed_raw(
        body, SECRET, "x-square-signature", algorithm="sha1", encoding="base64", url=URL
    )
    verdict = SQUARE.authenticate(signing.as_request(body, signed, URL))
    assert verdict == Rejected(Reason.SIGNATURE_MISSING)
