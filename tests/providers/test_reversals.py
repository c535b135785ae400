"""Which payment a refund or a dispute takes back, and which refund of ours it may be."""

import json
from typing import Any, NamedTuple

import pytest

from payments.callback import Callback, Kind
from payments.providers import registry
from payments.providers.port import SignedRequest
from tests.signing import an_account, stripe_event


class Told(NamedTuple):
    kind: Kind
    txn_no: str
    reverses: str
    refund_no: str = ""
    cumulative: bool = False


RE: dict[str, Any] = {
    "id": "re_1",
    "object": "refund",
    "amount": 500,
    "currency": "usd",
    "status": "succeeded",
    "charge": "ch_1",
    "payment_intent": "pi_1",
    "metadata": {"refund_no": "R-1"},
}
CHARGE: dict[str, Any] = {
    "id": "ch_1",
    "object": "charge",
    "amount": 1099,
    "amount_refunded": 500,
    "currency": "usd",
    "payment_intent": "pi_1",
}
DISPUTE: dict[str, Any] = {
    "id": "du_1",
    "object": "dispute",
    "amount": 700,
    "currency": "usd",
    "charge": "ch_1",
    "payment_intent": "pi_1",
}


def _without(thing: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in thing.items() if name not in names}


STRIPE: list[tuple[str, dict[str, Any], Told]] = [
    ("refund.created", RE, Told(Kind.REFUNDED, "re_1", "pi_1", "R-1")),
    (
        "refund.updated",
        _without(RE, "payment_intent", "metadata"),
        Told(Kind.REFUNDED, "re_1", "ch_1"),
    ),
    ("refund.failed", RE, Told(Kind.REFUND_FAILED, "re_1", "pi_1", "R-1")),
    ("charge.refunded", CHARGE, Told(Kind.REFUNDED, "ch_1", "pi_1", cumulative=True)),
    (
        "charge.refunded",
        _without(CHARGE, "payment_intent"),
        Told(Kind.REFUNDED, "ch_1", "ch_1", cumulative=True),
    ),
    (
        "charge.refunded",
        CHARGE | {"refunds": {"data": [_without(RE, "payment_intent", "charge")]}},
        Told(Kind.REFUNDED, "re_1", "pi_1", "R-1"),
    ),
    ("charge.dispute.created", DISPUTE, Told(Kind.DISPUTED, "du_1", "pi_1")),
    (
        "charge.dispute.closed",
        DISPUTE | {"status": "won"},
        Told(Kind.DISPUTE_WON, "du_1", "pi_1"),
    ),
    (
        "charge.dispute.closed",
        _without(DISPUTE, "payment_intent") | {"status": "lost"},
        Told(Kind.DISPUTE_LOST, "du_1", "ch_1"),
    ),
    (
        "payment_intent.succeeded",
        {"id": "pi_1", "amount_received": 1099, "currency": "usd"},
        Told(Kind.PAID, "pi_1", ""),
    ),
]


def _read(provider: str, body: bytes) -> Told:
    adapter = registry.find(provider)
    assert adapter is not None
    (reading,) = adapter.read(SignedRequest(headers=(), body=body), an_account("whsec_x"))
    assert isinstance(reading, Callback), reading
    told = reading
    return Told(told.kind, told.txn_no, told.reverses, told.refund_no, told.cumulative)


@pytest.mark.parametrize(("event_type", "thing", "told"), STRIPE)
def test_stripe(event_type: str, thing: dict[str, Any], told: Told) -> None:
    assert _read("stripe", stripe_event(event_type, thing, event_id="evt_1")) == told


MAPPED: list[tuple[str, dict[str, Any], Told]] = [
    (
        "razorpay",
        {
            "event": "refund.processed",
            "payload": {"refund": {"entity": {"id": "rfnd_1", "payment_id": "pay_1"}}},
        },
        Told(Kind.REFUNDED, "rfnd_1", "pay_1"),
    ),
    (
        "square",
        {
            "type": "refund.updated",
            "data": {"object": {"refund": {"id": "r", "status": "COMPLETED", "payment_id": "p"}}},
        },
        Told(Kind.REFUNDED, "r", "p"),
    ),
    (
        "checkoutcom",
        {"type": "payment_refunded", "data": {"id": "pay_1", "action_id": "act_1"}},
        Told(Kind.REFUNDED, "act_1", "pay_1"),
    ),
    (
        "checkoutcom",
        {"type": "dispute_received", "data": {"id": "dsp_1", "payment_id": "pay_1"}},
        Told(Kind.DISPUTED, "dsp_1", "pay_1"),
    ),
    (
        "paypal",
        {
            "event_type": "PAYMENT.CAPTURE.REFUNDED",
            "resource": {
                "id": "REF1",
                "status": "COMPLETED",
                "custom_id": "R-1",
                "links": [{"rel": "up", "href": "https://api.paypal.com/v2/captures/CAP1"}],
            },
        },
        Told(Kind.REFUNDED, "REF1", "CAP1", "R-1"),
    ),
    (
        "xendit",
        {"event": "refund.succeeded", "data": {"id": "rfd-1", "payment_id": "py-1"}},
        Told(Kind.REFUNDED, "rfd-1", "py-1"),
    ),
    (
        "gocardless",
        {
            "events": [
                {
                    "resource_type": "refunds",
                    "action": "paid",
                    "links": {"refund": "RF1", "payment": "PM1"},
                }
            ]
        },
        Told(Kind.REFUNDED, "RF1", "PM1"),
    ),
    (
        "mollie_nextgen",
        {
            "type": "refund.refunded",
            "entityId": "re_1",
            "_embedded": {"entity": {"paymentId": "tr_1"}},
        },
        Told(Kind.REFUNDED, "re_1", "tr_1"),
    ),
]


@pytest.mark.parametrize(("provider", "document", "told"), MAPPED)
def test_field_maps(provider: str, document: dict[str, Any], told: Told) -> None:
    assert _read(provider, json.dumps(document).encode()) == told
