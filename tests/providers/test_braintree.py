"""Braintree: the form and its signature, the challenge, and what the notifications mean."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.braintree import Braintree
from payments.providers.braintree_signature import signature_of
from payments.providers.port import (
    Acknowledgement,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    UnknownKey,
    Verified,
)
from tests.providers.weak_senders import (
    BRAINTREE_TRANSACTION,
    NOW,
    PUBLIC_KEY,
    SECRET,
    as_form,
    braintree,
    sender,
)

BRAINTREE = sender("braintree")
SAMPLES = Path(__file__).parent.parent / "vectors" / "braintree.json"


def form(payload: bytes, signature: str | None = None) -> bytes:
    signed = f"{PUBLIC_KEY}|{signature_of(payload, SECRET).decode()}"
    return urlencode({"bt_signature": signature or signed, "bt_payload": payload}).encode()


def judged(body: bytes) -> object:
    return BRAINTREE.authenticate(as_form(body))


def read(xml: str) -> Reading:
    request = as_form(form(base64.encodebytes(xml.encode())))
    assert BRAINTREE.authenticate(request) == Verified(PUBLIC_KEY)
    (reading,) = BRAINTREE.provider.read(request, BRAINTREE.account)
    return reading


def told(kind: str, subject: str, **settings: Any) -> Callback:
    (reading,) = BRAINTREE.read((kind, subject), **settings)
    assert isinstance(reading, Callback), reading
    return reading


# The signature.


def test_one_of_several_pairs_is_enough_if_its_public_key_is_ours() -> None:
    payload = base64.encodebytes(b"<notification/>")
    ours = f"{PUBLIC_KEY}|{signature_of(payload, SECRET).decode()}"
    assert judged(form(payload, f"other|{'0' * 40}&{ours}")) == Verified(PUBLIC_KEY)
    assert judged(form(payload, f"other|{'0' * 40}")) == UnknownKey("other")
    assert judged(form(payload, f"{PUBLIC_KEY}|{'0' * 40}")) == Rejected(Reason.SIGNATURE_WRONG)


@pytest.mark.parametrize(
    "signature",
    ["x", "|", f"{PUBLIC_KEY}|", f"{PUBLIC_KEY}|{'A' * 40}", f"{PUBLIC_KEY}|{'0' * 41}", "a|b&"],
)
def test_a_signature_of_another_form_is_refused(signature: str) -> None:
    payload = base64.encodebytes(b"<notification/>")
    assert judged(form(payload, signature)) == Rejected(Reason.SIGNATURE_MALFORMED)


def test_a_last_line_break_that_a_proxy_has_cut_off_is_put_back() -> None:
    payload = base64.encodebytes(b"<notification/>")
    whole = f"{PUBLIC_KEY}|{signature_of(payload, SECRET).decode()}"
    assert judged(form(payload.rstrip(b"\n"), whole)) == Verified(PUBLIC_KEY)


def test_two_keys_are_told_apart_by_their_public_keys() -> None:
    request = BRAINTREE.genuine()
    old = Key("oldpublickey", "signature", b"tests-only-old-secret")
    assert BRAINTREE.with_keys(old, *BRAINTREE.account.keys).authenticate(request) == Verified(
        PUBLIC_KEY
    )
    assert BRAINTREE.with_keys(old).authenticate(request) == UnknownKey(PUBLIC_KEY)


@pytest.mark.parametrize("payload", ["<xml>", "QQ==\r\n", "QQ-_", "QQ== ", ""])
def test_a_payload_with_other_characters_is_refused(payload: str) -> None:
    assert judged(form(payload.encode())) == Rejected(Reason.BODY_MALFORMED)


# The challenge.


def test_a_challenge_is_answered_as_braintree_expects() -> None:
    sample = json.loads(SAMPLES.read_text())
    config, challenge = sample["config"], sample["challenge"]
    key = Key(config["public_key"], "signature", config["private_key"].encode())
    account = replace(BRAINTREE.account, keys=(key,))
    answer = Braintree().probe({"bt_challenge": challenge["challenge"]}, account)
    assert answer == Acknowledgement(200, challenge["response"].encode(), "text/plain")


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"bt_challenge": ""},
        {"bt_challenge": "a" * 19},
        {"bt_challenge": "a" * 33},
        {"bt_challenge": "A" * 20},
        {"bt_challenge": "g" * 20},
        {"bt_challenge": "a" * 20 + "\n"},
        {"challenge": "a" * 20},
    ],
)
def test_nothing_else_is_signed(query: dict[str, str]) -> None:
    assert Braintree().probe(query, BRAINTREE.account) is None


def test_without_a_key_no_challenge_is_answered() -> None:
    account = replace(BRAINTREE.account, keys=())
    assert Braintree().probe({"bt_challenge": "a" * 20}, account) is None


def test_an_answered_challenge_is_no_signature_of_a_payload() -> None:
    answer = Braintree().probe({"bt_challenge": "a" * 20}, BRAINTREE.account)
    assert answer is not None
    assert judged(form(b"a" * 20, answer.body.decode())) == Rejected(Reason.BODY_MALFORMED)


# The document.


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "text",
        "<other/>",
        "<notification>",
        "<notification/>",
        "<notification/><notification/>",
        "<notification><kind>transaction_settled</kind></notification>",
        "<notification><kind>a</kind><kind>b</kind></notification>",
        "<notification><kind><b>transaction_settled</b></kind></notification>",
        "<!DOCTYPE notification><notification><kind>check</kind></notification>",
        '<!DOCTYPE n [<!ENTITY e "check">]><notification><kind>&e;</kind></notification>',
        '<!DOCTYPE n [<!ENTITY e SYSTEM "file:///etc/passwd">]><notification>&e;</notification>',
        '<!DOCTYPE n SYSTEM "http://127.0.0.1:9/x.dtd"><notification/>',
        "<notification><kind>&undefined;</kind></notification>",
        f"<notification><kind>{'k' * 101}</kind></notification>",
    ],
)
def test_a_document_that_is_no_notification_is_kept_for_a_person(xml: str) -> None:
    reading = read(xml or " ")
    assert isinstance(reading, Unreadable), reading
    assert len(reading.event_id) == 64


def test_a_document_as_deep_as_a_request_allows_is_no_harm() -> None:
    assert isinstance(read("<a>" * 110_000 + "</a>" * 110_000), Unreadable)


def test_a_payload_that_is_not_base64_is_kept_for_a_person() -> None:
    (reading,) = Braintree().read(as_form(form(b"QQ=Q")), BRAINTREE.account)
    assert isinstance(reading, Unreadable)


def test_the_same_payload_is_the_same_event_however_the_form_is_escaped() -> None:
    request = BRAINTREE.genuine()
    fields = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
    other = as_form(urlencode({**fields, "extra": "1"}, safe="/\n").encode())
    assert other.body != request.body
    assert [r.event_id for r in Braintree().read(other, BRAINTREE.account)] == [
        r.event_id for r in Braintree().read(request, BRAINTREE.account)
    ]


# Meaning.


def test_a_settled_transaction_is_paid() -> None:
    callback = told("transaction_settled", BRAINTREE_TRANSACTION)
    assert (callback.kind, callback.txn_no, callback.order_no) == (Kind.PAID, "txn1", "O-1")
    assert str(callback.money) == "10.99 USD"
    assert callback.account_no is None
    assert callback.occurred_at is not None
    assert callback.occurred_at.isoformat() == "2025-12-31T23:59:50+00:00"


@pytest.mark.parametrize(
    ("kind", "meaning"),
    [
        ("transaction_settled", Kind.REFUNDED),
        ("transaction_settlement_declined", Kind.REFUND_FAILED),
    ],
)
def test_a_credit_that_settles_is_a_refund_and_never_a_payment(kind: str, meaning: Kind) -> None:
    credit = BRAINTREE_TRANSACTION.replace(
        "<id>txn1</id>",
        "<id>ref1</id><type>credit</type><refunded-transaction-id>txn1</refunded-transaction-id>",
    )
    callback = told(kind, credit)
    assert (callback.kind, callback.txn_no, callback.linked_nos) == (meaning, "ref1", ("txn1",))
    assert told(kind, credit.replace(">credit<", ">sale<")).kind in {Kind.PAID, Kind.FAILED}


def test_a_merchant_account_binds_where_the_account_names_its_own() -> None:
    ours = told("transaction_settled", BRAINTREE_TRANSACTION, merchant_accounts=["shop_usd"])
    foreign = told("transaction_settled", BRAINTREE_TRANSACTION, merchant_accounts=["shop_eur"])
    assert (ours.account_no, foreign.account_no) == ("synth", "shop_usd")


SUBSCRIPTION = (
    "<subscription><id>sub1</id><transactions type='array'>"
    "<transaction><id>txn2</id><amount>49.99</amount></transaction>"
    "<transaction><id>txn1</id><amount>39.99</amount></transaction>"
    "</transactions></subscription>"
)


def test_a_subscriptions_charge_is_its_newest_transaction() -> None:
    callback = told("subscription_charged_successfully", SUBSCRIPTION, currency="EUR")
    assert (callback.kind, callback.txn_no) == (Kind.PAID, "txn2")
    assert str(callback.money) == "49.99 EUR"
    failed = told("subscription_charged_unsuccessfully", SUBSCRIPTION)
    assert (failed.kind, failed.txn_no) == (Kind.FAILED, "txn2")


def test_an_amount_without_a_currency_is_asked_from_the_api() -> None:
    assert told("subscription_charged_successfully", SUBSCRIPTION).needs_api


@pytest.mark.parametrize(
    ("kind", "meaning"),
    [
        ("dispute_opened", Kind.DISPUTED),
        ("dispute_under_review", Kind.DISPUTED),
        ("dispute_disputed", Kind.DISPUTED),
        ("dispute_won", Kind.DISPUTE_WON),
        ("dispute_lost", Kind.DISPUTE_LOST),
        ("dispute_accepted", Kind.DISPUTE_LOST),
        ("dispute_auto_accepted", Kind.DISPUTE_LOST),
        ("dispute_expired", Kind.DISPUTE_LOST),
    ],
)
def test_a_dispute_links_its_transaction(kind: str, meaning: Kind) -> None:
    subject = (
        "<dispute><id>dis1</id><amount>5.00</amount><currency-iso-code>USD</currency-iso-code>"
        f"{BRAINTREE_TRANSACTION}</dispute>"
    )
    callback = told(kind, subject)
    assert (callback.kind, callback.txn_no, callback.linked_nos) == (meaning, "dis1", ("txn1",))
    assert (callback.order_no, str(callback.money)) == ("O-1", "5.00 USD")


def test_a_failed_refund_links_what_it_was_to_refund() -> None:
    subject = (
        "<transaction><id>ref1</id><amount>5</amount>"
        "<refunded-transaction-id>txn1</refunded-transaction-id></transaction>"
    )
    callback = told("refund_failed", subject)
    assert (callback.kind, callback.txn_no) == (Kind.REFUND_FAILED, "ref1")
    assert callback.linked_nos == ("txn1",)


@pytest.mark.parametrize("kind", ["check", "disbursement", "transaction_disbursed", "new_one"])
def test_what_moves_nothing_is_ignored(kind: str) -> None:
    assert told(kind, "").kind is Kind.IGNORED


@pytest.mark.parametrize(
    "amount", ["", "<amount/>", "<amount>ten</amount>", "<amount>1,0</amount>"]
)
def test_a_payment_without_an_amount_is_kept_for_a_person(amount: str) -> None:
    subject = (
        f"<transaction><id>t</id>{amount}<currency-iso-code>USD</currency-iso-code></transaction>"
    )
    (reading,) = BRAINTREE.read(("transaction_settled", subject))
    assert isinstance(reading, Unreadable)


# Settings.


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"currency": "Euro"}, "currency: unknown currency"),
        ({"merchant_accounts": "x"}, "merchant_accounts must be a list"),
        ({"public_key": "x"}, "public_key is not a known setting"),
    ],
)
def test_settings_that_could_not_work_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(Misconfigured, match=says):
        Braintree().check_settings(replace(BRAINTREE.account, settings=settings))


@pytest.mark.parametrize(
    ("key_id", "material"), [("a key", SECRET), ("", SECRET), ("k0", b"short"), ("k0", b"")]
)
def test_a_key_that_is_not_a_pair_of_public_and_private_is_refused(
    key_id: str, material: bytes
) -> None:
    account = replace(BRAINTREE.account, keys=(Key(key_id, "signature", material),))
    with pytest.raises(Misconfigured, match=f"key {key_id!r}"):
        Braintree().check_settings(account)


def test_the_samples_sender_signs_as_these_tests_say() -> None:
    assert Braintree().authenticate(
        braintree(("check", "")), BRAINTREE.account, now=NOW
    ) == Verified(PUBLIC_KEY)
