"""WeChat Pay v2: two algorithms, of which one must be asked for, and refunds that nobody signs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.port import (
    Assurance,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    Verified,
)
from payments.providers.wechatpay_v2 import WechatPayV2
from payments.providers.wechatpay_v2_sign import flat_xml, refund_xml, signed_xml
from tests.providers import rsa_senders
from tests.providers.rsa_senders import API_KEY, NOW, xml

WECHAT = WechatPayV2()
SENDER = rsa_senders.sender("wechatpay_v2")
LEGACY = replace(
    SENDER,
    account=replace(SENDER.account, settings={**SENDER.account.settings, "legacy_md5": True}),
)
FIELDS = {name.encode(): value.encode() for name, value in SENDER.usual.items()}
REFUND = {
    b"out_refund_no": b"RF-1",
    b"out_trade_no": b"O-1",
    b"refund_id": b"50000408942018111907145868882",
    b"refund_fee": b"500",
    b"total_fee": b"1099",
    b"refund_status": b"SUCCESS",
    b"success_time": b"2026-01-01 08:00:00",
    b"transaction_id": b"1004400740201409030005092168",
}


def told(**fields: str) -> Reading:
    request = SENDER.signed(fields)
    assert SENDER.authenticate(request) == Verified("k0", Assurance.WHOLE)
    (reading,) = WECHAT.read(request, SENDER.account)
    return reading


def refund_notice(**inside: bytes) -> bytes:
    outer = {name: FIELDS[name] for name in (b"return_code", b"appid", b"mch_id")}
    named = {name.encode(): value for name, value in inside.items()}
    return refund_xml(outer, {**REFUND, **named}, API_KEY)


def test_a_payment_is_told_whole() -> None:
    assert told() == Callback(
        event_id="1004400740201409030005092168",
        event_type="pay",
        kind=Kind.PAID,
        txn_no="1004400740201409030005092168",
        order_no="O-1",
        money=Money(1099, "CNY"),
        account_no="10000100",
        occurred_at=NOW - timedelta(hours=7, minutes=50),
    )


@pytest.mark.parametrize("name", ["return_code", "result_code"])
def test_a_payment_needs_both_codes(name: str) -> None:
    failed = told(**{name: "FAIL"})
    assert isinstance(failed, Callback)
    assert failed.kind is Kind.FAILED


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"total_fee": ""}, "total_fee is missing"),
        ({"total_fee": "10.99"}, "an amount in minor units is a whole number"),
        ({"transaction_id": ""}, "transaction_id is missing"),
        ({"result_code": ""}, "result_code is missing"),
        ({"mch_id": ""}, "mch_id is missing"),
        ({"out_trade_no": "订单"}, "out_trade_no is not ASCII"),
        ({"fee_type": "XXX"}, "XXX is not a currency that is paid in"),
    ],
)
def test_a_payment_that_lacks_what_matters_is_unreadable(fields: dict[str, str], why: str) -> None:
    reading = told(**fields)
    assert isinstance(reading, Unreadable)
    assert reading.why == why
    assert len(reading.event_id) == 64


def test_without_a_currency_it_is_yuan() -> None:
    paid = told(fee_type="")
    assert isinstance(paid, Callback)
    assert paid.money == Money(1099, "CNY")


def test_another_app_is_told_as_another_account() -> None:
    for app, account_no in (("wxother", "10000100:wxother"), ("", "10000100:-")):
        reading = told(appid=app)
        assert isinstance(reading, Callback)
        assert reading.account_no == account_no


def test_md5_is_accepted_only_where_it_is_asked_for() -> None:
    weak = xml(signed_xml(FIELDS, API_KEY, legacy_md5=True))
    assert SENDER.authenticate(weak) == Rejected(Reason.SIGNATURE_WRONG)
    assert LEGACY.authenticate(weak) == Verified("k0")
    assert LEGACY.authenticate(SENDER.genuine()) == Verified("k0")


def test_the_message_does_not_choose_the_algorithm() -> None:
    for stated in (b"MD5", b"HMAC-SHA256", b"none", b""):
        fields = {**FIELDS, b"sign_type": stated}
        weak = xml(signed_xml(fields, API_KEY, legacy_md5=True))
        assert SENDER.authenticate(weak) == Rejected(Reason.SIGNATURE_WRONG)
        assert SENDER.authenticate(xml(signed_xml(fields, API_KEY))) == Verified("k0")


def test_empty_values_take_no_part_and_unknown_ones_do() -> None:
    request = SENDER.genuine()
    without = replace(request, body=request.body.replace(b"<device_info></device_info>", b""))
    assert without.body != request.body
    assert SENDER.authenticate(without) == Verified("k0")
    more = replace(request, body=request.body.replace(b"</xml>", b"<new>1</new></xml>"))
    assert SENDER.authenticate(more) == Rejected(Reason.SIGNATURE_WRONG)


def test_an_unreadable_payment_is_known_by_what_is_signed() -> None:
    request = SENDER.signed({"transaction_id": ""})
    assert b"<device_info></device_info>" in request.body
    fewer = replace(request, body=request.body.replace(b"<device_info></device_info>", b""))
    assert SENDER.authenticate(fewer) == Verified("k0")
    (reading,) = WECHAT.read(request, SENDER.account)
    assert isinstance(reading, Unreadable)
    assert WECHAT.read(fewer, SENDER.account) == [reading]


def test_a_retired_key_verifies_nothing_new() -> None:
    retired = replace(SENDER.account.keys[0], not_after=NOW - timedelta(seconds=1))
    sender = SENDER.with_keys(Key("k1", "signature", b"0" * 32), retired)
    for request in (sender.genuine(), xml(refund_notice())):
        assert sender.authenticate(request) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_key_for_another_purpose_opens_no_refund_notice() -> None:
    other = SENDER.with_keys(replace(SENDER.account.keys[0], purpose="other"))
    (reading,) = WECHAT.read(xml(refund_notice()), other.account)
    assert reading == Unreadable("no configured key opens req_info", reading.event_id)


def test_a_missing_signature_is_told_from_a_wrong_one() -> None:
    assert SENDER.authenticate(xml(flat_xml(FIELDS, root="xml"))) == Rejected(
        Reason.SIGNATURE_MISSING
    )
    assert SENDER.authenticate(xml(signed_xml(FIELDS, b"0" * 32))) == Rejected(
        Reason.SIGNATURE_WRONG
    )


def test_a_signature_by_the_empty_key_is_refused() -> None:
    sender = SENDER.with_keys(Key("k0", "signature", b""))
    assert sender.authenticate(xml(signed_xml(FIELDS, b""))) == Rejected(Reason.SIGNATURE_WRONG)


def test_a_refund_notice_is_a_hint_and_no_more() -> None:
    request = xml(refund_notice())
    assert SENDER.authenticate(request) == Verified("k0", Assurance.NONE)
    assert WECHAT.read(request, SENDER.account) == [
        Callback(
            event_id="1004400740201409030005092168",
            event_type="refund",
            kind=Kind.REFUNDED,
            txn_no="50000408942018111907145868882",
            order_no="O-1",
            money=Money(500, "CNY"),
            account_no="10000100",
            occurred_at=NOW,
            linked_nos=("1004400740201409030005092168", "RF-1"),
            reverses="1004400740201409030005092168",
            refund_no="RF-1",
        )
    ]


@pytest.mark.parametrize("status", [b"CHANGE", b"REFUNDCLOSE"])
def test_a_refund_that_did_not_happen_has_failed(status: bytes) -> None:
    (reading,) = WECHAT.read(xml(refund_notice(refund_status=status)), SENDER.account)
    assert isinstance(reading, Callback)
    assert reading.kind is Kind.REFUND_FAILED


def test_a_refund_of_an_unknown_state_is_unreadable() -> None:
    (reading,) = WECHAT.read(xml(refund_notice(refund_status=b"MAYBE")), SENDER.account)
    assert isinstance(reading, Unreadable)
    assert reading.why == "refund_status is none of: SUCCESS, CHANGE, REFUNDCLOSE"


def test_a_payment_cannot_be_told_by_a_refund_notice() -> None:
    """What nobody signs is read as a refund, whatever stands around or inside it."""
    body = refund_xml(FIELDS, {**FIELDS, **REFUND}, API_KEY)
    (reading,) = WECHAT.read(xml(body), SENDER.account)
    assert isinstance(reading, Callback)
    assert reading.kind is Kind.REFUNDED
    both = refund_notice().replace(b"</xml>", b"<sign>1</sign></xml>")
    assert SENDER.authenticate(xml(both)) == Rejected(Reason.BODY_MALFORMED)


@pytest.mark.parametrize("req_info", [b"", b"!", b"AAAA", b"A" * 44, b"A" * 42 + b"=="])
def test_a_refund_notice_that_does_not_open_is_refused(req_info: bytes) -> None:
    request = xml(flat_xml({b"mch_id": b"10000100", b"req_info": req_info}, root="xml"))
    assert SENDER.authenticate(request) == Rejected(Reason.SIGNATURE_WRONG)
    (reading,) = WECHAT.read(request, SENDER.account)
    assert isinstance(reading, Unreadable)


def test_a_refund_notice_under_another_key_is_refused() -> None:
    other = SENDER.with_keys(Key("k0", "signature", b"0" * 32))
    assert other.authenticate(xml(refund_notice())) == Rejected(Reason.SIGNATURE_WRONG)


def test_the_answers_are_xml() -> None:
    accepted = WECHAT.acknowledge(Reply.ACCEPTED)
    assert (accepted.status, accepted.content_type) == (200, "text/xml")
    assert accepted.body == (
        b"<xml><return_code><![CDATA[SUCCESS]]></return_code>"
        b"<return_msg><![CDATA[OK]]></return_msg></xml>"
    )
    assert b"FAIL" in WECHAT.acknowledge(Reply.REJECTED).body


@pytest.mark.parametrize(
    "material", [b"", b"short", b"a" * 31, b" " + b"a" * 31, "密".encode() * 8]
)
def test_a_key_that_is_no_api_key_is_refused(material: bytes) -> None:
    with pytest.raises(Misconfigured, match="'k9' is not an API key"):
        WECHAT.check_settings(SENDER.with_keys(Key("k9", "signature", material)).account)


def test_settings_that_would_not_hold_are_refused() -> None:
    for settings, why in (
        ({"legacy_md5": "yes"}, "settings.legacy_md5 must be true or false"),
        ({"sign_type": "MD5"}, "settings.sign_type is not a known setting"),
    ):
        with pytest.raises(Misconfigured, match=why):
            WECHAT.check_settings(replace(SENDER.account, settings=settings))
