"""The providers of China: nothing that can be sent is accepted by mistake, or makes them raise."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote_plus

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.callback import Callback, Unreadable
from payments.providers.port import Key, Reason, Rejected, SignedRequest, UnknownKey, Verified
from tests.providers import rsa_senders
from tests.providers.rsa_senders import NOW, SENDERS, Sender, private_key, public_pem

QUIET = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(params=SENDERS)
def sender(request: pytest.FixtureRequest) -> Sender:
    return rsa_senders.sender(request.param)


@pytest.fixture(params=["alipay", "unionpay"])
def form_sender(request: pytest.FixtureRequest) -> Sender:
    return rsa_senders.sender(request.param)


def test_the_genuine_request_is_authentic_and_paid(sender: Sender) -> None:
    request = sender.genuine()
    verdict = sender.authenticate(request)
    assert isinstance(verdict, Verified)
    assert verdict.key_id == sender.account.keys[0].key_id
    (reading,) = sender.provider.read(request, sender.account)
    assert isinstance(reading, Callback)
    assert (reading.kind, reading.order_no, str(reading.money)) == ("PAID", "O-1", "10.99 CNY")
    assert reading.account_no == sender.account.account_no
    assert reading.occurred_at is not None
    assert reading.occurred_at.isoformat() == "2025-12-31T16:10:00+00:00"


def test_the_settings_of_the_accounts_here_are_accepted(sender: Sender) -> None:
    sender.provider.check_settings(sender.account)


def test_every_flipped_bit_of_the_body_is_refused_or_changes_nothing(sender: Sender) -> None:
    """A form may be escaped in several ways, and `sign_type` is not signed: the facts are."""
    request = sender.genuine()
    genuine = sender.provider.read(request, sender.account)
    accepted = 0
    for flipped in flip_each_bit(request.body):
        altered = replace(request, body=flipped)
        if isinstance(sender.authenticate(altered), Verified):
            accepted += 1
            assert sender.provider.read(altered, sender.account) == genuine, flipped
    limits = {"alipay": 300, "unionpay": 300, "wechatpay_v2": 0, "wechatpay_v3": 0}
    assert accepted <= limits[sender.name]


def test_every_flipped_bit_of_a_header_is_refused() -> None:
    sender = rsa_senders.sender("wechatpay_v3")
    request = sender.genuine()
    for number, (name, value) in enumerate(request.headers):
        for flipped in flip_each_bit(value.encode()):
            headers = list(request.headers)
            headers[number] = (name, flipped.decode("latin-1"))
            verdict = sender.authenticate(replace(request, headers=tuple(headers)))
            same = name == "content-type" or (
                name == "wechatpay-serial" and headers[number][1].upper() == value
            )
            assert isinstance(verdict, Verified) is same, (name, flipped)


def test_a_header_that_is_missing_or_repeated_is_refused() -> None:
    sender = rsa_senders.sender("wechatpay_v3")
    request = sender.genuine()
    for header in request.headers[1:]:
        twice = replace(request, headers=(*request.headers, header))
        assert isinstance(sender.authenticate(twice), Rejected), header[0]
        kept = tuple(each for each in request.headers if each != header)
        verdict = sender.authenticate(replace(request, headers=kept))
        # Before there were types there was only one.
        untyped = header[0] == "wechatpay-signature-type"
        assert isinstance(verdict, Verified if untyped else Rejected), header[0]


def test_another_accounts_key_is_refused(sender: Sender) -> None:
    other = {
        "alipay": Key("k0", "signature", public_pem(private_key("other"))),
        "unionpay": Key("k0", "certificate", rsa_senders.certificate("CA", private_key("other"))),
        "wechatpay_v2": Key("k0", "signature", b"0" * 32),
        "wechatpay_v3": replace(sender.account.keys[0], material=public_pem(private_key("other"))),
    }
    reason = {"unionpay": Reason.CERTIFICATE_UNTRUSTED}.get(sender.name, Reason.SIGNATURE_WRONG)
    stranger = sender.with_keys(other[sender.name])
    assert stranger.authenticate(sender.genuine()) == Rejected(reason)


def test_an_account_without_keys_accepts_nothing(sender: Sender) -> None:
    assert sender.with_keys().authenticate(sender.genuine()) == Rejected(Reason.NO_KEY)


def test_a_key_for_another_purpose_proves_nothing(sender: Sender) -> None:
    keys = (replace(key, purpose="other") for key in sender.account.keys)
    assert sender.with_keys(*keys).authenticate(sender.genuine()) == Rejected(Reason.NO_KEY)


def test_an_empty_or_broken_key_proves_nothing(sender: Sender) -> None:
    for material in (b"", b"x", b"-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"):
        keys = (replace(key, material=material) for key in sender.account.keys)
        verdict = sender.with_keys(*keys).authenticate(sender.genuine())
        assert not isinstance(verdict, Verified)


def test_an_empty_body_is_refused(sender: Sender) -> None:
    request = replace(sender.genuine(), body=b"")
    assert sender.authenticate(request) == Rejected(Reason.BODY_EMPTY)


def test_the_query_of_the_address_takes_no_part(sender: Sender) -> None:
    request = replace(sender.genuine(), url="https://pay.example/callbacks/x/y?PHPSESSID=1&sign=2")
    assert isinstance(sender.authenticate(request), Verified)


SIGNATURES = {
    "empty": b"",
    "space": b" ",
    "not base64": b"!" * 344,
    "one character": b"A",
    "short": b"AAAA",
    "ten megabytes": b"A" * 10_000_000,
    "non-ascii": "签名".encode(),
    "not UTF-8": b"\xff\xfe",
    "NUL": b"\x00" * 344,
    "zero": b"A" * 342 + b"==",
    "hexadecimal": b"0" * 64,
    "none": b"none",
}


@pytest.mark.parametrize("signature", SIGNATURES.values(), ids=SIGNATURES.keys())
def test_a_hostile_signature_is_refused(sender: Sender, signature: bytes) -> None:
    verdict = sender.authenticate(with_signature(sender, signature))
    assert isinstance(verdict, Rejected)
    assert verdict.reason in {
        Reason.SIGNATURE_MISSING,
        Reason.SIGNATURE_MALFORMED,
        Reason.SIGNATURE_WRONG,
        Reason.BODY_MALFORMED,
    }


def test_a_signature_in_another_spelling_is_refused(sender: Sender) -> None:
    given = signature_of(sender.genuine())
    assert isinstance(sender.authenticate(with_signature(sender, given)), Verified)
    for spelling in (
        given.lower(),
        given.rstrip(b"=")[:-1],
        given + b"=",
        given + b"\n",
        b" " + given,
        given[:76] + b"\r\n" + given[76:],
        given.replace(b"+", b"-").replace(b"/", b"_") + b"A",
    ):
        verdict = sender.authenticate(with_signature(sender, spelling))
        assert isinstance(verdict, Rejected), spelling


def test_repeated_fields_are_refused(form_sender: Sender) -> None:
    body = form_sender.genuine().body
    amount = {"alipay": b"total_amount", "unionpay": b"txnAmt"}[form_sender.name]
    spelled = b"%" + amount[:1].hex().encode() + amount[1:]
    for more in (b"&" + amount + b"=9", b"&" + spelled + b"=9", b"&sign=1&sign=2"):
        for altered in (body + more, more[1:] + b"&" + body):
            verdict = form_sender.authenticate(rsa_senders.form(altered))
            assert isinstance(verdict, Rejected), more


@pytest.mark.parametrize(
    "body",
    [
        b"&".join(b"f%d=1" % number for number in range(10_000)),
        b"&" * 100_000,
        b"=" * 100_000,
        b"%" * 100_000,
        b"a=%zz",
        b"a=%4",
        b"a",
        b"=a",
        b"a=1&",
        b"a=1;b=2&sign",
        b"\x00",
        b"{}",
        b"[" * 100_000,
        b"<xml><sign>1</sign></xml>",
        b"\xff\xfe",
    ],
)
def test_a_body_of_another_form_is_refused(sender: Sender, body: bytes) -> None:
    verdict = sender.authenticate(replace(sender.genuine(), body=body))
    assert isinstance(verdict, Rejected)


@pytest.mark.parametrize(
    ("name", "field"), [("alipay", "body"), ("unionpay", "respMsg"), ("wechatpay_v3", "attach")]
)
def test_a_nul_and_foreign_letters_in_a_field_that_nobody_reads_do_no_harm(
    name: str, field: str
) -> None:
    sender = rsa_senders.sender(name)
    request = sender.signed({field: "a\x00b 大乐透 \\u0000"})
    assert isinstance(sender.authenticate(request), Verified)
    (reading,) = sender.provider.read(request, sender.account)
    assert isinstance(reading, Callback)


@pytest.mark.parametrize(
    ("name", "field"),
    [("alipay", "out_trade_no"), ("unionpay", "orderId"), ("wechatpay_v3", "out_trade_no")],
)
def test_a_nul_in_the_order_number_is_unreadable(name: str, field: str) -> None:
    sender = rsa_senders.sender(name)
    request = sender.signed({field: "O-\x001"})
    assert isinstance(sender.authenticate(request), Verified)
    (reading,) = sender.provider.read(request, sender.account)
    assert isinstance(reading, Unreadable)


@given(body=st.binary(max_size=300))
@QUIET
def test_no_body_makes_authentication_raise_or_succeed(sender: Sender, body: bytes) -> None:
    verdict = sender.authenticate(replace(sender.genuine(), body=body))
    assert isinstance(verdict, Rejected | UnknownKey)


@given(body=st.binary(max_size=300))
@QUIET
def test_no_bytes_make_reading_raise(sender: Sender, body: bytes) -> None:
    (reading,) = sender.provider.read(replace(sender.genuine(), body=body), sender.account)
    assert isinstance(reading, Callback | Unreadable)


@given(values=st.lists(st.text(max_size=200), min_size=5, max_size=5), body=st.binary(max_size=99))
@QUIET
def test_no_header_makes_authentication_raise_or_succeed(values: list[str], body: bytes) -> None:
    sender = rsa_senders.sender("wechatpay_v3")
    names = [name for name, _ in sender.genuine().headers if name != "content-type"]
    headers = tuple(zip(names, values, strict=True))
    verdict = sender.authenticate(SignedRequest(headers, body))
    assert isinstance(verdict, Rejected | UnknownKey)


printable = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=40)


@given(data=st.data())
@QUIET
def test_no_signed_value_in_any_field_makes_reading_raise(
    sender: Sender, data: st.DataObject
) -> None:
    names = st.sampled_from(sorted(sender.usual))
    values = printable | st.sampled_from(
        ["", "0", "-1", "1e9", "0.001", "NaN", "9" * 5000, "TRADE_CLOSED", "REFUND.SUCCESS", "04"]
    )
    fields = data.draw(st.dictionaries(names, values, min_size=1, max_size=3))
    request = sender.signed(fields)
    assert isinstance(sender.authenticate(request), Verified)
    (reading,) = sender.provider.read(request, sender.account)
    assert isinstance(reading, Callback | Unreadable)
    assert reading.event_id
    if isinstance(reading, Unreadable):
        assert 0 < len(reading.why) < 200


def signature_of(request: SignedRequest) -> bytes:
    from_header = request.header("wechatpay-signature")
    if from_header:
        return from_header.encode()
    if request.body.startswith(b"<xml>"):
        return request.body.split(b"<sign>")[1].split(b"</sign>")[0]
    name = b"signature=" if b"signature=" in request.body else b"sign="
    value = request.body.split(b"&" + name)[1].split(b"&")[0]
    for escaped, plain in ((b"%2B", b"+"), (b"%2F", b"/"), (b"%3D", b"=")):
        value = value.replace(escaped, plain)
    return value


def with_signature(sender: Sender, signature: bytes) -> SignedRequest:
    """The genuine request with another signature in its place."""
    request = sender.genuine()
    given = signature_of(request)
    if sender.name == "wechatpay_v3":
        headers = {**dict(request.headers), "wechatpay-signature": signature.decode("latin-1")}
        return replace(request, headers=tuple(headers.items()))
    if sender.name == "wechatpay_v2":
        return replace(request, body=request.body.replace(given, signature))
    escaped = quote_plus(given).encode()
    return replace(request, body=request.body.replace(escaped, quote_plus(signature).encode()))


def flip_each_bit(data: bytes) -> Iterator[bytes]:
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            yield bytes(flipped)


def test_now_is_the_time_of_the_signatures_here() -> None:
    assert NOW.timestamp() == 1767225600
