import json
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind
from payments.providers.port import Reason, Rejected, Verified
from tests import signing
from tests.providers.hmac_senders import MOLLIE_NEXTGEN, SECRET, read_one

PAYMENT: dict[str, Any] = {
    "id": "tr_1",
    "mode": "live",
    "status": "paid",
    "amount": {"currency": "EUR", "value": "10.00"},
    "metadata": {"order_id": "O-1"},
    "description": "L-1",
    "profileId": "pfl_1",
    "paidAt": "2025-12-31T23:59:40+00:00",
}


def event(event_type: str, entity: dict[str, Any] | None = None) -> dict[str, Any]:
    simple = {
        "resource": "event",
        "id": "event_1",
        "type": event_type,
        "entityId": "tr_1",
        "createdAt": "2025-12-31T23:59:50+00:00",
    }
    return simple if entity is None else {**simple, "_embedded": {"entity": entity}}


def test_a_snapshot_is_read_completely() -> None:
    callback = read_one(MOLLIE_NEXTGEN, event("payment.paid", PAYMENT))
    assert callback.occurred_at is not None
    assert callback.occurred_at.second == 40
    assert callback == Callback(
        event_id="event_1",
        event_type="payment.paid",
        kind=Kind.PAID,
        txn_no="tr_1",
        order_no="O-1",
        money=Money(1000, "EUR"),
        account_no="pfl_1",
        live=True,
        occurred_at=callback.occurred_at,
    )


def test_of_a_simple_event_only_the_api_knows_the_amount() -> None:
    callback = read_one(MOLLIE_NEXTGEN, event("payment.paid"))
    assert (callback.kind, callback.txn_no) == (Kind.PAID, "tr_1")
    assert (callback.money, callback.needs_api) == (None, True)


def test_a_link_that_can_be_paid_again_proves_no_single_payment() -> None:
    link = {**PAYMENT, "id": "pl_1", "metadata": None}
    once = read_one(
        MOLLIE_NEXTGEN, event("payment-link.paid", link), order="/_embedded/entity/description"
    )
    assert (once.kind, once.order_no) == (Kind.PAID, "L-1")
    again = read_one(MOLLIE_NEXTGEN, event("payment-link.paid", {**link, "reusable": True}))
    assert again.kind is Kind.PENDING


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("payment.authorized", Kind.AUTHORIZED),
        ("payment.pending", Kind.PENDING),
        ("payment.failed", Kind.FAILED),
        ("payment.canceled", Kind.CLOSED),
        ("payment.expired", Kind.CLOSED),
        ("refund.refunded", Kind.REFUNDED),
        ("refund.failed", Kind.REFUND_FAILED),
        ("refund.canceled", Kind.REFUND_FAILED),
        ("chargeback.received", Kind.DISPUTED),
        ("chargeback.reversed", Kind.DISPUTE_WON),
        ("sales-invoice.paid", Kind.IGNORED),
        ("balance-transaction.created", Kind.IGNORED),
    ],
)
def test_an_event_has_its_meaning(event_type: str, kind: Kind) -> None:
    assert read_one(MOLLIE_NEXTGEN, event(event_type, PAYMENT)).kind is kind


def test_a_refund_is_linked_to_its_payment() -> None:
    refund = {"id": "re_1", "paymentId": "tr_9", "amount": {"currency": "EUR", "value": "1.00"}}
    callback = read_one(MOLLIE_NEXTGEN, event("refund.refunded", refund))
    assert (callback.linked_nos, callback.money) == (("tr_9",), Money(100, "EUR"))


def test_a_classic_webhook_proves_nothing_and_is_refused() -> None:
    request = signing.as_request(b"id=tr_1", {"Content-Type": "application/x-www-form-urlencoded"})
    assert MOLLIE_NEXTGEN.authenticate(request) == Rejected(Reason.SIGNATURE_MISSING)


def test_one_of_several_signatures_is_enough_with_or_without_its_prefix() -> None:
    body = json.dumps(event("payment.paid", PAYMENT)).encode()
    (bare,) = (
        value
        for name, value in signing.signed_raw(body, SECRET, "X-Mollie-Signature").items()
        if name == "X-Mollie-Signature"
    )
    for given in (bare, f"sha256={bare}"):
        request = signing.as_request(body, {"X-Mollie-Signature": "sha256=" + "0" * 64})
        both = (*request.headers, ("x-mollie-signature", given))
        verdict = MOLLIE_NEXTGEN.authenticate(type(request)(both, body))
        assert verdict == Verified("k0")
