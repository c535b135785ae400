"""UnionPay: whose certificate a message brings along, and what the message means."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.port import Key, Misconfigured, Reason, Rejected, Reply, Verified
from payments.providers.unionpay import UnionPay
from payments.providers.unionpay_sign import signed_form
from tests.providers import rsa_senders
from tests.providers.rsa_senders import (
    NOW,
    UNIONPAY_NAME,
    Sender,
    certificate,
    form,
    private_key,
    unionpay_chain,
)

UNIONPAY = UnionPay()
SENDER = rsa_senders.sender("unionpay")
FIELDS = {name.encode(): value.encode() for name, value in SENDER.usual.items()}
UNTRUSTED = Rejected(Reason.CERTIFICATE_UNTRUSTED)


def told(**fields: str) -> Reading:
    request = SENDER.signed(fields)
    assert SENDER.authenticate(request) == Verified("k0")
    (reading,) = UNIONPAY.read(request, SENDER.account)
    return reading


def verdict_on(
    leaf: bytes, *, key: str = "unionpay leaf", sender: Sender = SENDER, now: datetime = NOW
) -> object:
    """The verdict on a message that is rightly signed by that certificate's key."""
    return sender.authenticate(form(signed_form(FIELDS, private_key(key), leaf)), now)


def leaf_named(name: str, key: str = "unionpay leaf") -> bytes:
    middle = private_key("unionpay middle")
    return certificate(name, private_key(key), ("Test OCA", middle))


def test_a_payment_is_told_whole() -> None:
    assert told() == Callback(
        event_id="902601010759500000018",
        event_type="01",
        kind=Kind.PAID,
        txn_no="902601010759500000018",
        order_no="O-1",
        money=Money(1099, "CNY"),
        account_no="700000000000001",
        occurred_at=NOW - timedelta(hours=7, minutes=50),
    )


@pytest.mark.parametrize(
    ("txn_type", "code", "kind"),
    [
        ("01", "00", Kind.PAID),
        ("01", "A6", Kind.PENDING),
        ("01", "34", Kind.FAILED),
        ("02", "00", Kind.AUTHORIZED),
        ("03", "00", Kind.PAID),
        ("04", "00", Kind.REFUNDED),
        ("04", "A6", Kind.PENDING),
        ("04", "12", Kind.REFUND_FAILED),
        ("31", "00", Kind.REFUNDED),
        ("33", "00", Kind.REFUNDED),
        ("79", "00", Kind.IGNORED),
    ],
)
def test_the_type_and_the_code_say_what_happened(txn_type: str, code: str, kind: Kind) -> None:
    reading = told(txnType=txn_type, respCode=code)
    assert isinstance(reading, Callback)
    assert (reading.kind, reading.event_type) == (kind, txn_type)


def test_a_refund_is_linked_to_its_payment() -> None:
    refund = told(txnType="04", origQryId="902512310000000000018")
    assert isinstance(refund, Callback)
    assert refund.linked_nos == ("902512310000000000018",)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"currencyCode": "999"}, "currencyCode is none of: 156, 344, 446, 702, 840, 978"),
        ({"txnAmt": "10.99"}, "an amount in minor units is a whole number"),
        ({"txnAmt": ""}, "txnAmt is missing"),
        ({"queryId": ""}, "queryId is missing"),
        ({"respCode": ""}, "respCode is missing"),
        ({"orderId": "订单"}, "orderId is not ASCII"),
    ],
)
def test_a_message_that_lacks_what_matters_is_unreadable(fields: dict[str, str], why: str) -> None:
    reading = told(**fields)
    assert isinstance(reading, Unreadable)
    assert reading.why == why


def test_the_line_breaks_of_the_certificate_are_signed() -> None:
    request = SENDER.genuine()
    assert b"%0D%0A" in request.body
    stripped = replace(request, body=request.body.replace(b"%0D%0A", b"%0A"))
    assert SENDER.authenticate(stripped) == Rejected(Reason.SIGNATURE_WRONG)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({b"version": b"5.0.0", b"certId": b"1"}, Reason.METHOD_UNSUPPORTED),
        ({b"version": b""}, Reason.METHOD_UNSUPPORTED),
        ({b"signMethod": b"11"}, Reason.METHOD_UNSUPPORTED),
        ({b"signMethod": b"02"}, Reason.METHOD_UNSUPPORTED),
    ],
)
def test_another_version_or_method_is_not_supported(
    fields: dict[bytes, bytes], reason: Reason
) -> None:
    key, leaf = private_key("unionpay leaf"), unionpay_chain()[0]
    request = form(signed_form({**FIELDS, **fields}, key, leaf))
    assert SENDER.authenticate(request) == Rejected(reason)


def test_a_missing_signature_is_told_from_a_wrong_one() -> None:
    body = urlencode(FIELDS).encode()
    assert SENDER.authenticate(form(body)) == Rejected(Reason.SIGNATURE_MISSING)
    without_certificate = form(signed_form(FIELDS, private_key("other"), b""))
    assert SENDER.authenticate(without_certificate) == UNTRUSTED
    assert verdict_on(unionpay_chain()[0], key="other") == Rejected(Reason.SIGNATURE_WRONG)


def test_a_certificate_counts_only_through_the_pinned_ones() -> None:
    own = private_key("forger")
    for forged in (
        certificate(UNIONPAY_NAME, own),
        certificate(UNIONPAY_NAME, own, ("Test OCA", own)),
        certificate(UNIONPAY_NAME, own, ("Test OCA", private_key("unionpay leaf"))),
        b"",
        b"x",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        unionpay_chain()[1][:-80],
    ):
        assert verdict_on(forged, key="forger") == UNTRUSTED


def test_a_chain_that_ends_nowhere_is_not_trusted() -> None:
    middle, root = SENDER.account.keys
    leaf = unionpay_chain()[0]
    assert verdict_on(leaf, sender=SENDER.with_keys(middle)) == UNTRUSTED
    assert verdict_on(leaf, sender=SENDER.with_keys(root)) == UNTRUSTED
    assert verdict_on(leaf, sender=SENDER.with_keys(root, middle)) == Verified("k0")
    broken = Key("k9", "certificate", b"x")
    assert verdict_on(leaf, sender=SENDER.with_keys(broken, root, middle)) == Verified("k0")


def test_a_certificate_made_out_to_another_is_not_unionpays() -> None:
    for name in (
        "041@1@Another Company@1",
        "中国银联股份有限公司",
        "中国银联股份有限公司@1@2@3",
        "041@1@中国银联股份有限公司 @1",
        "041@1@00040000:SIGN@1",
    ):
        assert verdict_on(leaf_named(name)) == UNTRUSTED
    assert verdict_on(leaf_named(UNIONPAY_NAME)) == Verified("k0")


def test_the_test_name_is_for_test_accounts() -> None:
    tested = replace(SENDER, account=replace(SENDER.account, live=False))
    for name in ("041@Z2017-11-1@00040000:SIGN@00000001", UNIONPAY_NAME):
        assert verdict_on(leaf_named(name), sender=tested) == Verified("k0")


def test_every_certificate_of_the_chain_must_be_valid_now() -> None:
    leaf, middle_pem, root_pem = unionpay_chain()
    root, middle = private_key("unionpay root"), private_key("unionpay middle")
    first, last = datetime(2025, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
    assert verdict_on(leaf, now=first) == verdict_on(leaf, now=last) == Verified("k0")
    assert verdict_on(leaf, now=last + timedelta(seconds=1)) == UNTRUSTED
    assert verdict_on(leaf, now=first - timedelta(seconds=1)) == UNTRUSTED
    past = (first, datetime(2025, 6, 1, tzinfo=UTC))
    expired_middle = certificate("Test OCA", middle, ("Test CA", root), valid=past)
    expired_root = certificate("Test CA", root, valid=past)
    for pair in ((expired_middle, root_pem), (middle_pem, expired_root)):
        keys = (Key(f"k{number}", "certificate", pem) for number, pem in enumerate(pair))
        assert verdict_on(leaf, sender=SENDER.with_keys(*keys)) == UNTRUSTED


def test_a_pinned_certificate_may_be_retired() -> None:
    middle, root = SENDER.account.keys
    retired = replace(middle, not_after=NOW - timedelta(seconds=1))
    assert verdict_on(unionpay_chain()[0], sender=SENDER.with_keys(retired, root)) == UNTRUSTED


def test_a_leaf_that_is_pinned_itself_is_trusted_as_it_stands() -> None:
    own = certificate("anyone", private_key("pinned"))
    sender = SENDER.with_keys(Key("leaf", "certificate", own))
    assert verdict_on(own, key="pinned", sender=sender) == Verified("leaf")
    assert verdict_on(unionpay_chain()[0], sender=sender) == UNTRUSTED
    late = datetime(2031, 1, 1, tzinfo=UTC)
    assert verdict_on(own, key="pinned", sender=sender, now=late) == UNTRUSTED


def test_a_weak_key_is_not_trusted_though_it_is_certified() -> None:
    weak = certificate(
        UNIONPAY_NAME,
        private_key("short", bits=1024),
        ("Test OCA", private_key("unionpay middle")),
    )
    body = signed_form(FIELDS, private_key("short", bits=1024), weak)
    assert SENDER.authenticate(form(body)) == UNTRUSTED


def test_the_answer_is_a_status() -> None:
    assert UNIONPAY.acknowledge(Reply.ACCEPTED).status == 200
    assert UNIONPAY.acknowledge(Reply.REJECTED).status == 401


def test_what_is_no_certificate_and_what_is_no_setting_are_refused() -> None:
    with pytest.raises(Misconfigured, match="'k9' is not a certificate in PEM"):
        UNIONPAY.check_settings(SENDER.with_keys(Key("k9", "certificate", b"x")).account)
    with pytest.raises(Misconfigured, match="'k9' would verify nothing"):
        UNIONPAY.check_settings(SENDER.with_keys(Key("k9", "signature", b"x")).account)
    with pytest.raises(Misconfigured, match=r"settings.cn is not a known setting"):
        UNIONPAY.check_settings(replace(SENDER.account, settings={"cn": "x"}))
