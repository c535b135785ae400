"""Midtrans: what its digest covers, how it can be cut, and what its statuses mean."""

import json
from dataclasses import replace
from typing import Any

import pytest

from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.midtrans import Midtrans
from payments.providers.port import (
    Assurance,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    Verified,
)
from tests.providers.weak_senders import NOW, SECRET, as_json, midtrans, sender

MIDTRANS = sender("midtrans")
VERIFIED = Verified("k0", Assurance.PARTIAL)
TRANSACTION = "57d5293c-e65f-4a29-95e4-5959c3fa335b"


def altered(signed: dict[str, Any], **changes: Any) -> object:
    """The verdict on a genuine notification in which something was changed afterwards."""
    document = json.loads(midtrans(signed).body) | changes
    return MIDTRANS.authenticate(as_json(json.dumps(document).encode()))


def read(**fields: Any) -> Reading:
    (reading,) = MIDTRANS.read(fields)
    return reading


def told(**fields: Any) -> Callback:
    reading = read(**fields)
    assert isinstance(reading, Callback), reading
    return reading


# What is signed.


@pytest.mark.parametrize(
    "change",
    [{"order_id": "O-2"}, {"gross_amount": "1.00"}, {"gross_amount": "10.9"}, {"status_code": "2"}],
)
def test_what_is_signed_cannot_be_changed(change: dict[str, str]) -> None:
    assert isinstance(altered({}, **change), Rejected)


def test_fields_that_are_cut_elsewhere_are_refused_by_their_forms() -> None:
    signed = {"order_id": "O-1", "status_code": "200", "gross_amount": "24145.00"}
    malformed = Rejected(Reason.BODY_MALFORMED)
    assert altered(signed) == VERIFIED
    for order_id, status_code, gross_amount in (
        ("O-12", "002", "4145.00"),
        ("O-", "120", "024145.00"),
        ("O-1200", "241", "45.00"),
        ("O-1200241", "45", ".00"),
        ("O-120024145.00", "", ""),
    ):
        verdict = altered(
            signed, order_id=order_id, status_code=status_code, gross_amount=gross_amount
        )
        assert verdict == malformed, order_id


def test_a_pending_payment_cannot_be_made_a_settled_one() -> None:
    pending = {"transaction_status": "pending", "status_code": "201"}
    assert altered(pending) == VERIFIED
    for status in ("settlement", "refund", "chargeback"):
        assert altered(pending, transaction_status=status) == Rejected(Reason.BODY_MALFORMED)


def test_a_capture_under_review_stays_so_whatever_the_unsigned_fraud_status_says() -> None:
    under_review = {"transaction_status": "capture", "status_code": "201"}
    for fraud_status in ("challenge", "accept", None):
        assert told(**under_review, fraud_status=fraud_status).kind is Kind.PENDING


def test_a_replay_with_another_transaction_number_is_the_same_transaction() -> None:
    first, again = told(), told(transaction_id="another")
    assert (first.event_id, first.txn_no) == (again.event_id, again.txn_no)
    assert (first.txn_no, first.linked_nos) == ("O-1", (TRANSACTION,))


@pytest.mark.parametrize("currency", ["SGD", "USD", "idr", ""])
def test_an_unsigned_currency_is_not_believed(currency: str) -> None:
    assert isinstance(read(currency=currency), Unreadable)


def test_each_configured_key_is_tried() -> None:
    other = Key("k1", "signature", b"tests-only-another-key")
    request = MIDTRANS.genuine()
    assert MIDTRANS.with_keys(other, *MIDTRANS.account.keys).authenticate(request) == VERIFIED
    assert MIDTRANS.with_keys(other).authenticate(request) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_notification_without_a_signature_is_refused() -> None:
    assert altered({}, signature_key=None) == Rejected(Reason.SIGNATURE_MISSING)
    assert altered({}, signature_key=7) == Rejected(Reason.BODY_MALFORMED)


# Meaning.


@pytest.mark.parametrize(
    ("status", "code", "fraud_status", "kind"),
    [
        ("settlement", "200", "accept", Kind.PAID),
        ("settlement", "200", None, Kind.PAID),
        ("capture", "200", "accept", Kind.PAID),
        ("capture", "200", "challenge", Kind.PENDING),
        ("capture", "201", "challenge", Kind.PENDING),
        ("authorize", "200", "accept", Kind.AUTHORIZED),
        ("pending", "201", "accept", Kind.PENDING),
        ("deny", "202", "deny", Kind.FAILED),
        ("failure", "202", None, Kind.FAILED),
        ("cancel", "200", "accept", Kind.CLOSED),
        ("expire", "202", "accept", Kind.CLOSED),
        ("expire", "407", "accept", Kind.CLOSED),
        ("refund", "200", "accept", Kind.REFUNDED),
        ("partial_refund", "200", "accept", Kind.REFUNDED),
        ("chargeback", "200", "accept", Kind.DISPUTED),
        ("partial_chargeback", "200", "accept", Kind.DISPUTED),
        ("new_one", "200", None, Kind.IGNORED),
        (None, "200", None, Kind.IGNORED),
    ],
)
def test_each_status_has_its_meaning(
    status: str | None, code: str, fraud_status: str | None, kind: Kind
) -> None:
    callback = told(transaction_status=status, status_code=code, fraud_status=fraud_status)
    assert callback.kind is kind


def test_a_refund_states_the_total_refunded_so_far() -> None:
    part = told(transaction_status="partial_refund", gross_amount="100.00", refund_amount="30.00")
    whole = told(transaction_status="refund", gross_amount="100.00")
    assert (str(part.money), str(whole.money)) == ("30.00 IDR", "100.00 IDR")


@pytest.mark.parametrize(
    ("amount", "money"), [("24145.00", "24145.00 IDR"), ("24145", "24145.00 IDR")]
)
def test_amounts_are_rupiah(amount: str, money: str) -> None:
    assert str(told(gross_amount=amount).money) == money


@pytest.mark.parametrize("amount", ["024145.00", "24145.0", "-1.00", "1e3", "24,145.00", ""])
def test_an_amount_of_another_form_is_refused(amount: str) -> None:
    assert altered({}, gross_amount=amount) == Rejected(Reason.BODY_MALFORMED)


def test_an_order_number_that_no_order_can_have_is_kept_for_a_person() -> None:
    assert isinstance(read(order_id="O~1"), Unreadable)


# Settings.


def test_settings_are_refused_because_there_are_none() -> None:
    with pytest.raises(Misconfigured, match="merchant is not a known setting"):
        Midtrans().check_settings(replace(MIDTRANS.account, settings={"merchant": "G1"}))


@pytest.mark.parametrize("material", [b"", b"short", SECRET + b"\n", b"a" * 32])
def test_a_key_that_could_be_guessed_is_refused(material: bytes) -> None:
    account = replace(MIDTRANS.account, keys=(Key("k0", "signature", material),))
    with pytest.raises(Misconfigured, match="'k0'"):
        Midtrans().check_settings(account)
    if not material:
        verdict = Midtrans().authenticate(MIDTRANS.genuine(), account, now=NOW)
        assert verdict == Rejected(Reason.NO_KEY)
