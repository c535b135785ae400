"""Xendit, Flutterwave v3 and classic Mollie: hints, which say only what to ask the API for."""

from dataclasses import replace
from typing import Any

import pytest

from payments.callback import Callback, Kind
from payments.providers.mollie_classic import MollieClassic
from payments.providers.port import Assurance, Key, Misconfigured, Reason, Rejected, Verified
from tests.providers.weak_senders import (
    FLUTTERWAVE_EVENT,
    HINTS,
    SECRET,
    XENDIT_INVOICE,
    Sender,
    as_form,
    sender,
)

XENDIT, FLUTTERWAVE = sender("xendit"), sender("flutterwave_v3")
MOLLIE = sender("mollie_classic")


@pytest.fixture(params=["xendit", "flutterwave_v3"])
def with_token(request: pytest.FixtureRequest) -> Sender:
    return sender(request.param)


def told(hint: Sender, document: Any, **settings: Any) -> Callback:
    (reading,) = hint.read(document, **settings)
    assert isinstance(reading, Callback), reading
    return reading


@pytest.mark.parametrize("name", HINTS)
def test_nothing_vouches_for_a_hint(name: str) -> None:
    hint = sender(name)
    assert hint.provider.confirmation_by_default
    verdict = hint.authenticate(hint.genuine())
    assert isinstance(verdict, Verified)
    assert verdict.assurance is Assurance.NONE


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("", Reason.SIGNATURE_MISSING),
        ("{} ", Reason.SIGNATURE_MALFORMED),
        ("{}x", Reason.SIGNATURE_WRONG),
        ("x{}", Reason.SIGNATURE_WRONG),
        ("TESTS-ONLY-RZ7PLW2NKQ9X", Reason.SIGNATURE_WRONG),
        ("ü" * 20, Reason.SIGNATURE_MALFORMED),
        ("x" * 257, Reason.SIGNATURE_MALFORMED),
    ],
)
def test_another_token_is_refused(with_token: Sender, template: str, reason: Reason) -> None:
    request = with_token.genuine()
    headers = tuple(
        (name, value if name == "content-type" else template.format(value))
        for name, value in request.headers
    )
    assert with_token.authenticate(replace(request, headers=headers)) == Rejected(reason)


def test_the_old_token_is_accepted_beside_the_new_one(with_token: Sender) -> None:
    new = Key("new", "signature", b"tests-only-new-token")
    both = with_token.with_keys(new, *with_token.account.keys)
    assert both.authenticate(with_token.genuine()) == Verified("k0", Assurance.NONE)


@pytest.mark.parametrize(
    "material", [b"", b"short", SECRET + b" ", b"a token with spaces", b"\xff"]
)
def test_a_token_that_could_not_be_sent_or_could_be_guessed_is_refused(
    with_token: Sender, material: bytes
) -> None:
    account = with_token.with_keys(Key("k0", "signature", material)).account
    with pytest.raises(Misconfigured, match="'k0'"):
        with_token.provider.check_settings(account)


# Xendit.


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("PAID", Kind.PAID),
        ("SETTLED", Kind.PAID),
        ("PENDING", Kind.PENDING),
        ("EXPIRED", Kind.CLOSED),
        ("NEW_ONE", Kind.IGNORED),
    ],
)
def test_an_invoice_is_told_by_its_status(status: str, kind: Kind) -> None:
    callback = told(XENDIT, {**XENDIT_INVOICE, "status": status})
    assert (callback.kind, callback.event_type) == (kind, "invoice")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("payment.capture", Kind.PAID),
        ("payment.succeeded", Kind.PAID),
        ("payment.authorization", Kind.AUTHORIZED),
        ("payment.failure", Kind.FAILED),
    ],
)
def test_a_payment_of_xendits_newer_api(event: str, kind: Kind) -> None:
    data = {
        "payment_id": "py-1",
        "reference_id": "O-1",
        "request_amount": 10.99,
        "currency": "PHP",
        "status": "SUCCEEDED",
    }
    callback = told(XENDIT, {"event": event, "data": data})
    assert (callback.kind, callback.txn_no, callback.order_no) == (kind, "py-1", "O-1")
    assert str(callback.money) == "10.99 PHP"


def test_a_refund_of_xendits_links_its_payment() -> None:
    data = {"id": "rfd-1", "payment_id": "py-1", "amount": 5, "currency": "PHP"}
    callback = told(XENDIT, {"event": "refund.succeeded", "data": data})
    assert (callback.kind, callback.txn_no) == (Kind.REFUNDED, "rfd-1")
    assert (callback.linked_nos, str(callback.money)) == (("py-1",), "5.00 PHP")


# Flutterwave.


@pytest.mark.parametrize(
    ("status", "kind"),
    [("successful", Kind.PAID), ("failed", Kind.FAILED), ("pending", Kind.PENDING)],
)
def test_a_charge_is_told_by_its_status(status: str, kind: Kind) -> None:
    event = {**FLUTTERWAVE_EVENT, "data": {**FLUTTERWAVE_EVENT["data"], "status": status}}
    callback = told(FLUTTERWAVE, event)
    assert (callback.kind, callback.txn_no, callback.order_no) == (kind, "285959875", "O-1")
    assert str(callback.money) == "10.99 NGN"


# Mollie.


@pytest.mark.parametrize("body", [b"id=tr_5B8cwPMGnU6qLbRvo7qEZo", b"x=1&id=tr_1&testByMollie=1"])
def test_a_payments_id_is_a_payment_to_ask_for(body: bytes) -> None:
    callback = told(MOLLIE, body)
    assert callback.kind is Kind.PAID
    assert callback.needs_api
    assert f"id={callback.txn_no}".encode() in body


@pytest.mark.parametrize("body", [b"id=re_1", b"id=chb_1", b"id=ord_1", b"id=sub_1", b"id=pl_1"])
def test_another_id_is_ignored(body: bytes) -> None:
    assert told(MOLLIE, body).kind is Kind.IGNORED


@pytest.mark.parametrize(
    "body",
    [
        b"foo=bar",
        b"id=",
        b"id=tr_",
        b"id=xx_1",
        b"id=tr_1/../x",
        b"id=tr_1%0A",
        b"id=tr_1%00",
        b"id=tr_1&id=tr_2",
        b'{"id":"tr_1"}',
        b"id=TR_1",
        b"id=tr_" + b"a" * 65,
    ],
)
def test_what_is_no_id_is_refused(body: bytes) -> None:
    assert MOLLIE.authenticate(as_form(body)) == Rejected(Reason.BODY_MALFORMED)


def test_classic_mollie_has_no_settings() -> None:
    with pytest.raises(Misconfigured, match="token is not a known setting"):
        MollieClassic().check_settings(replace(MOLLIE.account, settings={"token": "x"}))
