import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Unreadable
from payments.providers.port import Reason, Rejected, SignedRequest, Verified
from tests import signing
from tests.providers.hmac_senders import COINBASE_BUSINESS, NOW, SECRET, read, read_one

CHECKOUT: dict[str, Any] = {
    "id": "69163c762331ed43dc64a6ef",
    "amount": "100.00",
    "currency": "USDC",
    "eventType": "checkout.payment.success",
    "metadata": {"orderId": "O-1"},
    "settlement": {"totalAmount": "100.00", "feeAmount": "1.25", "netAmount": "98.75"},
    "status": "COMPLETED",
    "updatedAt": "2025-11-13T20:16:55.097Z",
}
REFUND: dict[str, Any] = {
    "id": "r1",
    "amount": "40.00",
    "currency": "USDC",
    "status": "COMPLETED",
    "completedAt": "2025-11-14T10:05:00.000Z",
}


def signed_v1(body: bytes, headers: dict[str, str], seconds_ago: int = 0) -> dict[str, str]:
    timestamp = int((NOW - timedelta(seconds=seconds_ago)).timestamp())
    names, values = " ".join(headers), ".".join(headers.values())
    text = f"{timestamp}.{names}.{values}.".encode() + body
    mac = hmac.digest(SECRET.encode(), text, hashlib.sha256).hex()
    return {**headers, "X-Hook0-Signature": f"t={timestamp},h={names},v1={mac}"}


COVERED = {"content-type": "application/json", "x-hook0-id": "id-1"}
BODY = json.dumps(CHECKOUT).encode()


def verdict_on(request: SignedRequest) -> object:
    return COINBASE_BUSINESS.authenticate(request)


def test_a_checkout_is_paid_in_full_though_coinbase_keeps_a_fee() -> None:
    callback = read_one(COINBASE_BUSINESS, CHECKOUT)
    assert (callback.kind, callback.order_no) == (Kind.PAID, "O-1")
    assert (callback.txn_no, callback.money) == (CHECKOUT["id"], Money(10000, "USD"))


def test_a_checkouts_id_is_no_events_id() -> None:
    paid = read_one(COINBASE_BUSINESS, CHECKOUT)
    failed = read_one(COINBASE_BUSINESS, {**CHECKOUT, "eventType": "checkout.payment.failed"})
    assert len({paid.event_id, failed.event_id, CHECKOUT["id"]}) == 3


def test_a_stablecoin_is_a_dollar_only_if_the_account_says_so() -> None:
    (reading,) = read(COINBASE_BUSINESS, CHECKOUT, usdc_is_usd=False)
    assert isinstance(reading, Unreadable)
    assert "USDC" in reading.why
    fiat = read_one(COINBASE_BUSINESS, {**CHECKOUT, "currency": "EUR"}, usdc_is_usd=False)
    assert fiat.money == Money(10000, "EUR")


def test_a_payment_links_event_may_be_nested() -> None:
    told = {
        "id": "evt_1",
        "eventType": "payment_link.payment.success",
        "data": {"id": "pl_1", "amount": "1.00", "currency": "USDC", "metadata": {"order_no": "O"}},
    }
    callback = read_one(COINBASE_BUSINESS, told)
    assert (callback.txn_no, callback.order_no) == ("pl_1", "O")
    assert callback.money == Money(100, "USD")


@pytest.mark.parametrize(
    ("event_type", "kind"),
    [
        ("checkout.payment.failed", Kind.FAILED),
        ("checkout.payment.expired", Kind.CLOSED),
        ("payment_link.payment.failed", Kind.FAILED),
        ("payment_link.payment.expired", Kind.CLOSED),
        ("onramp.transaction.success", Kind.IGNORED),
    ],
)
def test_an_event_has_its_meaning(event_type: str, kind: Kind) -> None:
    assert read_one(COINBASE_BUSINESS, {**CHECKOUT, "eventType": event_type}).kind is kind


def test_each_listed_refund_is_told_by_its_own_number() -> None:
    refunds = [REFUND, {**REFUND, "id": "r2", "amount": "60.00"}, {**REFUND, "status": "FAILED"}]
    told = {**CHECKOUT, "eventType": "checkout.refund.success", "refunds": refunds}
    readings = read(COINBASE_BUSINESS, told)
    assert len({reading.event_id for reading in readings}) == 3
    assert [(c.kind, c.txn_no, c.money) for c in readings if isinstance(c, Callback)] == [
        (Kind.REFUNDED, "r1", Money(4000, "USD")),
        (Kind.REFUNDED, "r2", Money(6000, "USD")),
        (Kind.REFUND_FAILED, "r1", Money(4000, "USD")),
    ]
    assert {c.linked_nos for c in readings if isinstance(c, Callback)} == {(CHECKOUT["id"],)}


@pytest.mark.parametrize("refunds", [None, [], [7], "none", [{**REFUND, "id": None}]])
def test_a_refund_that_is_not_listed_is_kept_for_a_person(refunds: Any) -> None:
    told = {**CHECKOUT, "eventType": "checkout.refund.success", "refunds": refunds}
    (reading,) = read(COINBASE_BUSINESS, told)
    assert isinstance(reading, Unreadable)


def test_a_signature_may_cover_headers_too() -> None:
    request = signing.as_request(BODY, signed_v1(BODY, COVERED))
    assert verdict_on(request) == Verified("k0")


@pytest.mark.parametrize(
    ("name", "value"), [("x-hook0-id", "id-2"), ("content-type", "text/plain"), ("x-hook0-id", "")]
)
def test_a_covered_header_that_was_changed_is_refused(name: str, value: str) -> None:
    request = signing.as_request(BODY, {**signed_v1(BODY, COVERED), name: value})
    assert verdict_on(request) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_covered_header_that_is_repeated_is_refused() -> None:
    request = signing.as_request(BODY, signed_v1(BODY, COVERED))
    twice = SignedRequest((*request.headers, ("x-hook0-id", "id-1")), BODY)
    assert verdict_on(twice) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_signature_that_covers_headers_grows_old_too() -> None:
    fresh = signing.as_request(BODY, signed_v1(BODY, COVERED, seconds_ago=300))
    assert verdict_on(fresh) == Verified("k0")
    stale = signing.as_request(BODY, signed_v1(BODY, COVERED, seconds_ago=301))
    assert verdict_on(stale) == Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE)


def test_moving_the_bodys_beginning_into_a_header_leaves_no_event() -> None:
    """The dots of the signed text do not tell where a value ends: the body's form does."""
    body = json.dumps({**CHECKOUT, "note": '.{"eventType":"checkout.payment.success"}'}).encode()
    request = signing.as_request(body, signed_v1(body, COVERED))
    for at in (position for position, byte in enumerate(body) if byte == ord(".")):
        moved = {**dict(request.headers), "x-hook0-id": "id-1." + body[:at].decode()}
        shifted = signing.as_request(body[at + 1 :], moved)
        assert verdict_on(shifted) == Verified("k0")
        (reading,) = COINBASE_BUSINESS.provider.read(shifted, COINBASE_BUSINESS.account)
        assert isinstance(reading, Unreadable)


@pytest.mark.parametrize("names", ["", " ", "x-hook0-id x-hook0-id", "\udcff", "a" * 3000])
def test_a_strange_list_of_headers_is_refused(names: str) -> None:
    headers = {"X-Hook0-Signature": f"t=1767225600,h={names},v1={'0' * 64}"}
    assert isinstance(verdict_on(signing.as_request(BODY, headers)), Rejected)
