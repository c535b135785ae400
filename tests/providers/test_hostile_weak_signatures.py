"""Signatures that leave something out: what a forger can change is exactly what is said here.

Nothing that can be sent makes these providers raise, and nothing that is signed can be changed.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.callback import Callback, Unreadable
from payments.providers.hmac_provider import HmacProvider
from payments.providers.port import Assurance, Key, Reason, Rejected, SignedRequest, Verified
from payments.providers.registry import PROVIDERS
from tests.providers import hmac_senders, rsa_senders, weak_senders
from tests.providers.weak_senders import HINTS, SENDERS, Sender

QUIET = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
JSON = ("adyen", "midtrans", "paypal")


@pytest.fixture(params=SENDERS)
def sender(request: pytest.FixtureRequest) -> Sender:
    return weak_senders.sender(request.param)


@pytest.fixture(params=JSON)
def json_sender(request: pytest.FixtureRequest) -> Sender:
    return weak_senders.sender(request.param)


@pytest.fixture(params=HINTS)
def hint(request: pytest.FixtureRequest) -> Sender:
    return weak_senders.sender(request.param)


def test_every_provider_is_sent_hostile_input_somewhere() -> None:
    assert {*SENDERS, *rsa_senders.SENDERS, *hmac_senders.SENDERS} == set(PROVIDERS)
    assert not any(isinstance(PROVIDERS[name], HmacProvider) for name in SENDERS)


def test_the_genuine_request_is_authentic_and_paid(sender: Sender) -> None:
    request = sender.genuine()
    assert sender.authenticate(request) == Verified(sender.key_id, sender.assurance)
    (reading,) = sender.provider.read(request, sender.account)
    assert isinstance(reading, Callback)
    assert reading.kind == "PAID"
    if sender.name == "mollie_classic":
        assert reading.needs_api
        assert reading.order_no is None
    else:
        assert reading.money is not None
        assert (reading.order_no, reading.money.amount_minor) == ("O-1", 1099)


def test_the_settings_of_the_accounts_here_are_accepted(sender: Sender) -> None:
    sender.provider.check_settings(sender.account)


def test_what_is_vouched_for_by_nothing_is_confirmed_unless_the_account_says_otherwise(
    sender: Sender,
) -> None:
    unconfirmed = {"adyen", "braintree", "midtrans"}
    assert sender.provider.confirmation_by_default is (sender.name not in unconfirmed)


def test_a_flipped_bit_is_refused_unless_it_is_in_what_is_declared_unsigned(
    json_sender: Sender,
) -> None:
    """And every declared path can indeed be changed: the declaration is exact."""
    request = json_sender.genuine()
    genuine = flat(json.loads(request.body))
    altered_paths: set[str] = set()
    for flipped in flip_each_bit(request.body):
        altered = replace(request, body=flipped)
        if isinstance(json_sender.authenticate(altered), Verified):
            other = flat(json.loads(flipped))
            altered_paths |= {path for path in genuine if other.get(path) != genuine[path]}
    # A status that no longer fits the signed code is refused; a word is never one bit from another.
    refused = {"transaction_status"} if json_sender.name == "midtrans" else set()
    assert json_sender.unsigned is not None
    assert altered_paths | refused == json_sender.unsigned


def test_what_is_read_is_the_same_whatever_is_changed_of_the_unsigned(json_sender: Sender) -> None:
    request = json_sender.genuine()
    (genuine,) = json_sender.provider.read(request, json_sender.account)
    assert isinstance(genuine, Callback)
    for flipped in flip_each_bit(request.body):
        altered = replace(request, body=flipped)
        if isinstance(json_sender.authenticate(altered), Verified):
            (reading,) = json_sender.provider.read(altered, json_sender.account)
            assert reading.event_id == genuine.event_id
            if isinstance(reading, Callback) and reading.kind is genuine.kind:
                assert (reading.txn_no, reading.order_no, reading.money) == (
                    genuine.txn_no,
                    genuine.order_no,
                    genuine.money,
                )


def test_a_flipped_bit_of_braintrees_form_is_refused_or_changes_nothing() -> None:
    """A form may be escaped in several ways; the payload in it may not."""
    sender = weak_senders.sender("braintree")
    request = sender.genuine()
    genuine = sender.provider.read(request, sender.account)
    accepted = 0
    for flipped in flip_each_bit(request.body):
        altered = replace(request, body=flipped)
        if isinstance(sender.authenticate(altered), Verified):
            accepted += 1
            assert sender.provider.read(altered, sender.account) == genuine
    assert accepted < 50


def test_a_hint_is_the_same_hint_whatever_it_says(hint: Sender) -> None:
    request = hint.genuine()
    for body in (b"id=tr_another", b'{"id": "another"}'):
        verdict = hint.authenticate(replace(request, body=body))
        if hint.name != "mollie_classic" or b"tr_" in body:
            assert verdict == Verified(hint.key_id, Assurance.NONE)


def test_every_flipped_bit_of_a_header_that_counts_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    for number, (name, value) in enumerate(request.headers):
        if name == "content-type":
            continue
        for flipped in flip_each_bit(value.encode()):
            headers = list(request.headers)
            headers[number] = (name, flipped.decode("latin-1"))
            verdict = sender.authenticate(replace(request, headers=tuple(headers)))
            # A pinned certificate is used whatever address the request names, if it is PayPal's.
            if name != "paypal-cert-url" or not isinstance(verdict, Verified):
                assert isinstance(verdict, Rejected), (name, flipped)


def test_a_header_that_is_missing_or_repeated_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    for header in request.headers:
        if header[0] == "content-type":
            continue
        kept = tuple(each for each in request.headers if each != header)
        assert isinstance(sender.authenticate(replace(request, headers=kept)), Rejected), header[0]
        twice = replace(request, headers=(*request.headers, header))
        assert isinstance(sender.authenticate(twice), Rejected), header[0]


def test_an_account_without_keys_accepts_nothing(sender: Sender) -> None:
    verdict = sender.with_keys().authenticate(sender.genuine())
    if sender.name == "mollie_classic":
        assert verdict == Verified("none", Assurance.NONE)
    elif sender.name == "paypal":
        assert not isinstance(verdict, Verified)
    else:
        assert verdict == Rejected(Reason.NO_KEY)


@pytest.mark.parametrize("name", [name for name in SENDERS if name != "mollie_classic"])
def test_another_accounts_key_and_an_empty_one_are_refused(name: str) -> None:
    sender = weak_senders.sender(name)
    (key,) = sender.account.keys
    other = {
        "adyen": bytes(reversed(key.material)),
        "paypal": weak_senders.web_certificate(key="another"),
    }.get(name, b"tests-only-another-key")
    request = sender.genuine()
    for material, reason in ((other, Reason.SIGNATURE_WRONG), (b"", None), (b"\xff\x00", None)):
        stranger = sender.with_keys(replace(key, material=material))
        verdict = stranger.authenticate(request)
        assert isinstance(verdict, Rejected), (material, verdict)
        assert reason in {None, verdict.reason}


def test_a_key_of_another_purpose_and_one_that_has_ended_are_refused(sender: Sender) -> None:
    for key in sender.account.keys:
        for unusable in (
            Key(key.key_id, "decryption", key.material),
            replace(key, not_after=weak_senders.NOW.replace(year=2025)),
        ):
            verdict = sender.with_keys(unusable).authenticate(sender.genuine())
            assert not isinstance(verdict, Verified)


def test_an_empty_body_is_refused(sender: Sender) -> None:
    verdict = sender.authenticate(replace(sender.genuine(), body=b""))
    assert verdict == Rejected(Reason.BODY_EMPTY)


HOSTILE_BODIES = {
    "list": b"[]",
    "null": b"null",
    "number": b"1",
    "empty object": b"{}",
    "truncated": b'{"notificationItems":[{',
    "deep list": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "5000 digits": b'{"order_id":' + b"9" * 5000 + b"}",
    "NaN": b'{"live":NaN}',
    "NUL byte": b'{"live":"a\x00b"}',
    "not UTF-8": b'{"live":"\xff\xfe"}',
    "UTF-16": '{"live":"true"}'.encode("utf-16"),
    "no items": b'{"live":"true","notificationItems":[]}',
    "items of nothing": b'{"notificationItems":[null,1,"x",[],{}]}',
    "items without end": b'{"notificationItems":[' + b"{}," * 10_000 + b"{}]}",
    "twice the same name": b'{"notificationItems":[],"notificationItems":[{}]}',
    "form": b"bt_signature=&bt_payload=",
    "form without end": b"&".join(b"bt_%d=1" % n for n in range(10_000)),
    "pairs without end": b"bt_payload=QQ==&bt_signature=" + b"a%7Cb%26" * 1000,
    "payload twice": b"bt_payload=QQ==&bt_payload=QQ==&bt_signature=a%7Cb",
    "payload of junk": b"bt_payload=%3Cxml%3E&bt_signature=a%7Cb",
    "ids without end": b"id=tr_" + b"a" * 100_000,
    "id with more in it": b"id=tr_1%0Aid=tr_2",
    "two ids": b"id=tr_1&id=tr_2",
}


@pytest.mark.parametrize("body", HOSTILE_BODIES.values(), ids=HOSTILE_BODIES.keys())
def test_a_body_that_is_nothing_is_refused_and_read_as_unreadable(
    sender: Sender, body: bytes
) -> None:
    request = replace(sender.genuine(), body=body)
    if sender.unsigned is not None or sender.name == "mollie_classic":
        assert not isinstance(sender.authenticate(request), Verified)
    for reading in sender.provider.read(request, sender.account):
        assert isinstance(reading, Unreadable) or reading.kind == "IGNORED"
        assert reading.event_id


HOSTILE_VALUES = ("", " ", "ü" * 44, "\x00", "\ud800", "=" * 50, "A" * 100_000, "none", "é==")


@pytest.mark.parametrize("value", HOSTILE_VALUES)
def test_a_hostile_signature_is_refused(sender: Sender, value: str) -> None:
    request = sender.genuine()
    for number, (name, _) in enumerate(request.headers):
        if name != "content-type":
            headers = [*request.headers]
            headers[number] = (name, value)
            verdict = sender.authenticate(replace(request, headers=tuple(headers)))
            assert isinstance(verdict, Rejected), name
    for body in with_signature(sender, request, value):
        assert isinstance(sender.authenticate(replace(request, body=body)), Rejected)


def with_signature(sender: Sender, request: SignedRequest, value: str) -> Iterator[bytes]:
    if sender.name == "adyen":
        document = json.loads(request.body)
        item = document["notificationItems"][0]["NotificationRequestItem"]
        item["additionalData"]["hmacSignature"] = value
        yield json.dumps(document).encode()
    if sender.name == "midtrans":
        yield json.dumps({**json.loads(request.body), "signature_key": value}).encode()
    if sender.name == "braintree":
        yield b"bt_payload=QQ==&bt_signature=" + quote(value, errors="replace").encode()


@given(body=st.binary(max_size=300))
@QUIET
def test_no_bytes_make_these_providers_raise_or_believe(sender: Sender, body: bytes) -> None:
    request = replace(sender.genuine(), body=body)
    verdict = sender.authenticate(request)
    if sender.assurance is not Assurance.NONE:
        assert not isinstance(verdict, Verified)
    for reading in sender.provider.read(request, sender.account):
        assert isinstance(reading, Callback | Unreadable)


@given(data=st.data())
@QUIET
def test_no_value_in_any_place_makes_reading_raise(sender: Sender, data: st.DataObject) -> None:
    request = sender.genuine()
    if sender.name in {"braintree", "mollie_classic"}:
        return
    document = json.loads(request.body)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places_in(document))))
        put(document, path, data.draw(json_values))
    altered = replace(request, body=json.dumps(document).encode())
    sender.authenticate(altered)
    for reading in sender.provider.read(altered, sender.account):
        assert isinstance(reading, Callback | Unreadable)


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def flip_each_bit(data: bytes) -> Iterator[bytes]:
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            yield bytes(flipped)


def flat(node: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """A document's values by their dotted paths."""
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    found: dict[str, Any] = {}
    for name, value in pairs:
        here = (*path, str(name))
        found |= flat(value, here) if isinstance(value, dict | list) else {".".join(here): value}
    return found


def places_in(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for name, value in pairs:
        yield (*path, name)
        if isinstance(value, dict | list):
            yield from places_in(value, (*path, name))


def put(node: Any, path: tuple[Any, ...], value: Any) -> None:
    try:
        for name in path[:-1]:
            node = node[name]
        node[path[-1]] = value
    except (TypeError, KeyError, IndexError):  # an earlier change has taken the place away
        return
