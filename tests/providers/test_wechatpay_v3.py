"""WeChat Pay APIv3: which key, how fresh, what is inside, and what it means."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.port import (
    Key,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    UnknownKey,
    Verified,
)
from payments.providers.wechatpay_v3 import WechatPayV3
from payments.providers.wechatpay_v3_sign import sealed
from tests.providers import rsa_senders
from tests.providers.rsa_senders import (
    APIV3_KEY,
    NOW,
    PUBLIC_KEY_ID,
    certificate,
    notification,
    private_key,
    wechatpay_v3_signed,
)

WECHAT = WechatPayV3()
SENDER = rsa_senders.sender("wechatpay_v3")
EVENT_ID = "EV-2018022511223320873"
TRANSACTION = {
    "mchid": "1900000001",
    "appid": "wx2421b1c4370ec43b",
    "out_trade_no": "O-1",
    "transaction_id": "4200000000202601010000000001",
    "trade_state": "SUCCESS",
    "success_time": "2026-01-01T00:10:00+08:00",
    "amount": {"total": 1099, "payer_total": 999, "currency": "CNY", "payer_currency": "CNY"},
}
REFUND = {
    "mchid": "1900000001",
    "out_trade_no": "O-1",
    "transaction_id": "4200000000202601010000000001",
    "out_refund_no": "RF-1",
    "refund_id": "50200207182018070300011301001",
    "refund_status": "SUCCESS",
    "success_time": "2026-01-01T08:00:00+08:00",
    "amount": {"total": 1099, "refund": 500, "payer_total": 999, "payer_refund": 450},
}


def reading_of(resource: dict[str, Any], event_type: str = "TRANSACTION.SUCCESS") -> Reading:
    request = wechatpay_v3_signed(notification(resource, event_type=event_type))
    assert SENDER.authenticate(request) == Verified(PUBLIC_KEY_ID, opened_by="d0")
    (reading,) = WECHAT.read(request, SENDER.account)
    return reading


def told(resource: dict[str, Any], event_type: str = "TRANSACTION.SUCCESS") -> Callback:
    reading = reading_of(resource, event_type)
    assert isinstance(reading, Callback), reading
    return reading


# Meaning


def test_a_payment_is_told_whole_and_is_the_orders_price() -> None:
    assert told(TRANSACTION) == Callback(
        event_id=EVENT_ID,
        event_type="TRANSACTION.SUCCESS",
        kind=Kind.PAID,
        txn_no="4200000000202601010000000001",
        order_no="O-1",
        money=Money(1099, "CNY"),
        account_no="1900000001",
        occurred_at=datetime(2025, 12, 31, 16, 10, tzinfo=UTC),
    )


def test_a_refund_is_told_whole_and_belongs_to_its_payment() -> None:
    assert told(REFUND, "REFUND.SUCCESS") == Callback(
        event_id=EVENT_ID,
        event_type="REFUND.SUCCESS",
        kind=Kind.REFUNDED,
        txn_no="50200207182018070300011301001",
        order_no="O-1",
        money=Money(500, "CNY"),
        account_no="1900000001",
        occurred_at=NOW,
        linked_nos=("4200000000202601010000000001", "RF-1"),
        reverses="4200000000202601010000000001",
        refund_no="RF-1",
    )


@pytest.mark.parametrize("status", ["ABNORMAL", "CLOSED"])
def test_a_refund_that_did_not_happen_has_failed(status: str) -> None:
    failed = told({**REFUND, "refund_status": status}, f"REFUND.{status}")
    assert (failed.kind, failed.money) == (Kind.REFUND_FAILED, Money(500, "CNY"))


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("ACCEPT", Kind.PENDING),
        ("NOTPAY", Kind.PENDING),
        ("USERPAYING", Kind.PENDING),
        ("CLOSED", Kind.CLOSED),
        ("REVOKED", Kind.CLOSED),
        ("PAYERROR", Kind.FAILED),
    ],
)
def test_a_transaction_is_paid_only_when_its_state_says_so(state: str, kind: Kind) -> None:
    assert told({**TRANSACTION, "trade_state": state}).kind is kind


@pytest.mark.parametrize(
    ("event_type", "resource", "why"),
    [
        ("TRANSACTION.FAIL", TRANSACTION, "a failed transaction whose trade_state is SUCCESS"),
        ("REFUND.CLOSED", REFUND, "a refund that failed and whose refund_status is SUCCESS"),
        ("TRANSACTION.SUCCESS", {**TRANSACTION, "trade_state": "REFUND"}, "trade_state is none of"),
        ("REFUND.SUCCESS", {**REFUND, "refund_status": None}, "refund_status is missing"),
        ("TRANSACTION.SUCCESS", {**TRANSACTION, "amount": {}}, "amount.total is missing"),
        ("TRANSACTION.SUCCESS", {**TRANSACTION, "amount": {"total": 10.99}}, "whole number"),
        ("TRANSACTION.SUCCESS", {**TRANSACTION, "mchid": None}, "mchid is missing"),
        ("TRANSACTION.SUCCESS", {**TRANSACTION, "transaction_id": ""}, "transaction_id is missing"),
    ],
)
def test_a_contradiction_or_a_gap_is_unreadable(
    event_type: str, resource: dict[str, Any], why: str
) -> None:
    reading = reading_of(resource, event_type)
    assert isinstance(reading, Unreadable)
    assert why in reading.why
    assert reading.event_id == EVENT_ID


def test_other_types_are_ignored() -> None:
    for event_type in ("PAYSCORE.USER_OPEN_SERVICE", "COMPLAINT.CREATE", "TRANSACTION.DREAM"):
        assert told({"x": 1}, event_type).kind is Kind.IGNORED


def test_a_partners_account_is_both_merchants() -> None:
    partner = {**TRANSACTION, "sp_mchid": "1900000100", "sub_mchid": "1900000109"}
    del partner["mchid"]
    assert told(partner).account_no == "1900000100/1900000109"


def test_another_app_is_told_as_another_account() -> None:
    assert told({**TRANSACTION, "appid": "wxother"}).account_no == "1900000001:wxother"
    assert told({**TRANSACTION, "mchid": "1"}).account_no == "1"


# Keys


CERTIFICATE = Key(
    "c0", "certificate", certificate("Tenpay.com", private_key("platform"), serial=0x0A1B2C3D)
)
BOTH = SENDER.with_keys(*SENDER.account.keys, CERTIFICATE)


@pytest.mark.parametrize(
    ("serial", "key", "key_id"),
    [
        (PUBLIC_KEY_ID, "wechatpay", PUBLIC_KEY_ID),
        (PUBLIC_KEY_ID.lower(), "wechatpay", PUBLIC_KEY_ID),
        ("0A1B2C3D", "platform", "c0"),
        ("a1b2c3d", "platform", "c0"),
        ("00000A1b2C3d", "platform", "c0"),
    ],
)
def test_a_public_key_and_a_certificate_verify_side_by_side(
    serial: str, key: str, key_id: str
) -> None:
    WECHAT.check_settings(BOTH.account)
    request = wechatpay_v3_signed(notification(TRANSACTION), serial=serial, key=key)
    assert BOTH.authenticate(request) == Verified(key_id, opened_by="d0")


@pytest.mark.parametrize("serial", ["0A1B2C3E", "PUB_KEY_ID_9999", "c0", "d0", "7" * 40, "G"])
def test_another_serial_is_an_unknown_key_and_names_it(serial: str) -> None:
    for key in ("wechatpay", "platform"):
        request = wechatpay_v3_signed(notification(TRANSACTION), serial=serial, key=key)
        assert BOTH.authenticate(request) == UnknownKey(serial.upper())


def test_no_other_key_than_the_named_one_is_tried() -> None:
    for serial, key in ((PUBLIC_KEY_ID, "platform"), ("0A1B2C3D", "wechatpay")):
        request = wechatpay_v3_signed(notification(TRANSACTION), serial=serial, key=key)
        assert BOTH.authenticate(request) == Rejected(Reason.SIGNATURE_WRONG)


@pytest.mark.parametrize(
    "serial", ["", " ", "A" * 65, "1_000 ", "\uff11\uff12", "0x0A1B2C3D\n", "-1", "+A"]
)
def test_a_serial_of_another_form_is_refused(serial: str) -> None:
    request = wechatpay_v3_signed(notification(TRANSACTION), serial=serial)
    assert BOTH.authenticate(request) == Rejected(Reason.SIGNATURE_MALFORMED)


def test_an_expired_or_retired_key_is_an_unknown_one() -> None:
    past = (datetime(2024, 1, 1, tzinfo=UTC), NOW - timedelta(days=1))
    expired = certificate("Tenpay.com", private_key("platform"), serial=0x5F, valid=past)
    sender = SENDER.with_keys(
        replace(SENDER.account.keys[0], not_after=NOW - timedelta(days=1)),
        Key("c1", "certificate", expired),
    )
    by_certificate = wechatpay_v3_signed(notification(TRANSACTION), serial="5F", key="platform")
    assert sender.authenticate(by_certificate) == UnknownKey("5F")
    assert sender.authenticate(sender.genuine()) == UnknownKey(PUBLIC_KEY_ID)


# Freshness, form and method


@pytest.mark.parametrize(
    ("seconds", "verdict"),
    [
        (0, Verified(PUBLIC_KEY_ID, opened_by="d0")),
        (300, Verified(PUBLIC_KEY_ID, opened_by="d0")),
        (-300, Verified(PUBLIC_KEY_ID, opened_by="d0")),
        (301, Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE)),
        (-301, Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE)),
    ],
)
def test_a_signature_is_good_for_five_minutes_either_way(
    seconds: int, verdict: Verified | Rejected
) -> None:
    request = SENDER.genuine()
    assert SENDER.authenticate(request, NOW + timedelta(seconds=seconds)) == verdict


def with_header(request: SignedRequest, name: str, value: str) -> SignedRequest:
    return replace(request, headers=tuple({**dict(request.headers), name: value}.items()))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("timestamp", "1767225600.0", Reason.TIMESTAMP_MALFORMED),
        ("timestamp", "1_767_225_600", Reason.TIMESTAMP_MALFORMED),
        (
            "timestamp",
            "\uff11\uff17\uff16\uff17\uff12\uff12\uff15\uff16\uff10\uff10",
            Reason.TIMESTAMP_MALFORMED,
        ),
        ("timestamp", " 1767225600", Reason.TIMESTAMP_MALFORMED),
        ("timestamp", "NaN", Reason.TIMESTAMP_MALFORMED),
        ("nonce", "", Reason.SIGNATURE_MALFORMED),
        ("nonce", "n0nce\n{}", Reason.SIGNATURE_MALFORMED),
        ("nonce", "n" * 129, Reason.SIGNATURE_MALFORMED),
        ("signature", "", Reason.SIGNATURE_MISSING),
        ("signature", "WECHATPAY/SIGNTEST/AAAA", Reason.PROBE),
        ("signature-type", "WECHATPAY2-SM2-WITH-SM3", Reason.METHOD_UNSUPPORTED),
        ("signature-type", "wechatpay2-sha256-rsa2048", Reason.METHOD_UNSUPPORTED),
        ("signature-type", "none", Reason.METHOD_UNSUPPORTED),
        ("signature-type", "", Reason.METHOD_UNSUPPORTED),
    ],
)
def test_a_header_of_another_form_has_its_own_reason(name: str, value: str, reason: Reason) -> None:
    request = with_header(SENDER.genuine(), f"wechatpay-{name}", value)
    assert SENDER.authenticate(request) == Rejected(reason)


def test_the_answers_are_empty_or_a_code_and_a_message() -> None:
    accepted, rejected = WECHAT.acknowledge(Reply.ACCEPTED), WECHAT.acknowledge(Reply.REJECTED)
    assert (accepted.status, accepted.body) == (200, b"")
    assert (rejected.status, rejected.content_type) == (401, "application/json")
    assert json.loads(rejected.body) == {"code": "FAIL", "message": "not authentic"}
    assert WECHAT.acknowledge(Reply.UNKNOWN_KEY) == rejected


# The encrypted part


def with_resource(**changes: Any) -> SignedRequest:
    body = json.loads(notification(TRANSACTION))
    body["resource"].update(changes)
    return wechatpay_v3_signed(json.dumps(body).encode())


def test_a_retired_apiv3_key_still_opens_what_was_sealed_with_it() -> None:
    sender = SENDER.with_keys(
        SENDER.account.keys[0],
        Key("d1", "decryption", b"f" * 32),
        Key("d0", "decryption", APIV3_KEY, not_after=NOW - timedelta(days=1)),
    )
    assert sender.authenticate(sender.genuine()) == Verified(PUBLIC_KEY_ID, opened_by="d0")
    (reading,) = WECHAT.read(sender.genuine(), sender.account)
    assert isinstance(reading, Callback)


def test_what_no_apiv3_key_opens_must_come_again() -> None:
    for keys in (
        [],
        [Key("d1", "decryption", b"f" * 32)],
        [Key("d1", "decryption", b"")],
        [Key("d1", "other", APIV3_KEY)],
    ):
        sender = SENDER.with_keys(SENDER.account.keys[0], *keys)
        assert sender.authenticate(sender.genuine()) == UnknownKey("APIv3 key")
    assert SENDER.authenticate(with_resource(associated_data="x")) == UnknownKey("APIv3 key")
    assert SENDER.authenticate(with_resource(nonce="0" * 12)) == UnknownKey("APIv3 key")


@pytest.mark.parametrize("algorithm", ["AEAD_SM4_GCM", "aead_aes_256_gcm", "", None, "none"])
def test_another_algorithm_is_not_supported(algorithm: str | None) -> None:
    verdict = SENDER.authenticate(with_resource(algorithm=algorithm))
    assert verdict == Rejected(Reason.METHOD_UNSUPPORTED)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"nonce": "short"}, "resource.nonce is not 12 bytes"),
        ({"nonce": None}, "resource.nonce is not 12 bytes"),
        ({"ciphertext": "!!!!"}, "resource.ciphertext is not base64"),
        ({"ciphertext": "密文"}, "resource.ciphertext is not base64"),
        ({"ciphertext": "AAAA"}, "resource.ciphertext is too short"),
        ({"ciphertext": "A" * 20}, "resource.ciphertext is too short"),
        ({"ciphertext": None}, "resource.ciphertext is missing"),
        ({"ciphertext": 7}, "ciphertext is not text"),
    ],
)
def test_a_resource_of_another_form_is_unreadable(changes: dict[str, Any], why: str) -> None:
    request = with_resource(**changes)
    assert SENDER.authenticate(request) == Verified(PUBLIC_KEY_ID)
    assert WECHAT.read(request, SENDER.account) == [Unreadable(why, EVENT_ID)]


def test_a_content_that_is_no_json_is_unreadable() -> None:
    inside = sealed(b"\xff{", APIV3_KEY, nonce="nonce-of-12-", associated_data="")
    request = with_resource(**inside)
    assert SENDER.authenticate(request) == Verified(PUBLIC_KEY_ID)
    (reading,) = WECHAT.read(request, SENDER.account)
    assert reading == Unreadable("not UTF-8 at byte 0", EVENT_ID)


@pytest.mark.parametrize("body", [b"[]", b"null", b"{}", b"{", b"[" * 100_000, b"\xff", b"1E400"])
def test_an_authentic_body_that_is_no_notification_is_unreadable(body: bytes) -> None:
    request = wechatpay_v3_signed(body)
    assert SENDER.authenticate(request) == Verified(PUBLIC_KEY_ID)
    (reading,) = WECHAT.read(request, SENDER.account)
    assert isinstance(reading, Unreadable)
    assert len(reading.event_id) == 64


# Configuration


@pytest.mark.parametrize(
    ("key", "why"),
    [
        (Key("d", "decryption", b"testMchAPIv3Key0"), "'d' is not an APIv3 key"),
        (Key("d", "decryption", b" " * 32), "'d' is not an APIv3 key"),
        (Key("c", "certificate", b"x"), "'c' is not a certificate in PEM"),
        (Key("s", "signature", b"x"), "'s' is not a public key"),
        (
            replace(SENDER.account.keys[0], key_id="first"),
            "'first' must have the id by which WeChat Pay names",
        ),
    ],
)
def test_a_key_that_could_prove_or_open_nothing_is_refused(key: Key, why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        WECHAT.check_settings(SENDER.with_keys(key).account)


def test_settings_that_would_not_hold_are_refused() -> None:
    for settings, why in (
        ({"appids": "wx"}, "settings.appids must be a list of texts"),
        ({"appids": [""]}, "settings.appids must be a list of texts"),
        ({"appid": "wx"}, "settings.appid is not a known setting"),
    ):
        with pytest.raises(Misconfigured, match=why):
            WECHAT.check_settings(replace(SENDER.account, settings=settings))
