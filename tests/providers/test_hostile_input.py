"""Shared secrets: nothing that can be sent is accepted by mistake, or makes a provider raise."""

import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from payments.callback import Callback, Unreadable
from payments.providers.hmac_provider import HmacProvider
from payments.providers.port import Reason, Rejected, Reply, Verified
from payments.providers.registry import PROVIDERS
from tests import signing
from tests.providers.hmac_senders import CUSTOM, NOW, SENDERS, STANDARD, Sender


@pytest.fixture(params=sorted(SENDERS))
def sender(request: pytest.FixtureRequest) -> Sender:
    return SENDERS[request.param]


def test_every_provider_that_is_declared_is_a_sender_here() -> None:
    declared = {name for name, known in PROVIDERS.items() if isinstance(known, HmacProvider)}
    assert declared == {name for name in SENDERS if name in declared}


def test_the_genuine_request_is_authentic_and_paid(sender: Sender) -> None:
    request = sender.genuine()
    assert sender.authenticate(request) == Verified("k0")
    (reading,) = sender.provider.read(request, sender.account)
    assert isinstance(reading, Callback)
    assert (reading.kind, reading.order_no) == ("PAID", "O-1")
    if sender.states_amounts:
        assert reading.money is not None
        assert reading.money.amount_minor == 1099
    else:
        assert reading.needs_api


def test_the_settings_of_the_accounts_here_are_accepted(sender: Sender) -> None:
    sender.provider.check_settings(sender.account)


def test_every_flipped_bit_of_the_body_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    for flipped in flip_each_bit(request.body):
        assert sender.authenticate(replace(request, body=flipped)) == Rejected(
            Reason.SIGNATURE_WRONG
        )


def test_every_flipped_bit_of_a_signed_header_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    for number, (name, value) in enumerate(request.headers):
        if name == "content-type":
            continue
        for flipped in flip_each_bit(value.encode()):
            headers = list(request.headers)
            headers[number] = (name, flipped.decode("latin-1"))
            verdict = sender.authenticate(replace(request, headers=tuple(headers)))
            assert isinstance(verdict, Rejected), (name, flipped)


def test_one_more_space_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    spaced = replace(request, body=request.body.replace(b'"id":', b'"id" :', 1))
    assert spaced.body != request.body
    assert sender.authenticate(spaced) == Rejected(Reason.SIGNATURE_WRONG)


def test_another_accounts_key_is_refused(sender: Sender) -> None:
    other = "whsec_" + base64.b64encode(bytes(range(32))).decode()
    stranger = replace(sender.account, keys=signing.an_account(other).keys)
    assert sender.provider.authenticate(sender.genuine(), stranger, now=NOW) == Rejected(
        Reason.SIGNATURE_WRONG
    )


def test_an_account_without_keys_accepts_nothing(sender: Sender) -> None:
    keyless = replace(sender.account, keys=())
    verdict = sender.provider.authenticate(sender.genuine(), keyless, now=NOW)
    assert verdict == Rejected(Reason.NO_KEY)


@pytest.mark.parametrize("material", [b"", b"whsec_"])
def test_an_empty_key_verifies_nothing_even_when_it_is_signed_with(material: bytes) -> None:
    request = signing.as_request(CUSTOM.body, signing.signed_custom(CUSTOM.body, secret=""))
    key = replace(CUSTOM.account.keys[0], material=b"")
    account = replace(CUSTOM.account, keys=(key,))
    assert PROVIDERS["custom"].authenticate(request, account, now=NOW) == Rejected(Reason.NO_KEY)
    request = signing.as_request(
        STANDARD.body, signing.signed_standard_webhooks(STANDARD.body, "", NOW)
    )
    account = replace(STANDARD.account, keys=(replace(key, material=material),))
    verdict = PROVIDERS["standardwebhooks"].authenticate(request, account, now=NOW)
    assert verdict == Rejected(Reason.NO_KEY)


def test_a_signature_over_an_empty_body_is_refused(sender: Sender) -> None:
    assert sender.authenticate(sender.signed(b"")) == Rejected(Reason.BODY_EMPTY)


HOSTILE_VALUES = {
    "empty": "",
    "space": " ",
    "v1": "v1",
    "v1,": "v1,",
    "t=,v1=": "t=,v1=",
    "v1= only": "v1=",
    "huge": "v1," + "a" * 10_000,
    "non-ascii": "üüüüüüüüüü",
    "wide": "t=\uff11\uff17\uff16\uff17\uff12\uff12\uff15\uff16\uff10\uff10,v1=\uff14\uff15",
    "nul": "\x00",
    "lone surrogate": "v1,\ud800",
    "thousand candidates": ",".join(["t=1767225600", *["v1=" + "0" * 64] * 1000]),
    "thousand versioned": " ".join(["v1," + "A" * 43 + "="] * 1000),
    "only separators": ", ,=,= " * 50,
    "newlines": "v1,\r\nx: y",
    "none": "none",
}


@pytest.mark.parametrize("value", HOSTILE_VALUES.values(), ids=HOSTILE_VALUES.keys())
def test_a_hostile_signature_is_refused(sender: Sender, value: str) -> None:
    headers = {**dict(sender.genuine().headers), sender.signature_header: value}
    verdict = sender.authenticate(signing.as_request(sender.body, headers, sender.url))
    assert isinstance(verdict, Rejected)
    assert verdict.reason in {
        Reason.SIGNATURE_MISSING,
        Reason.SIGNATURE_MALFORMED,
        Reason.SIGNATURE_WRONG,
        Reason.TIMESTAMP_MALFORMED,
        Reason.TOO_LARGE,
    }


def test_a_right_signature_among_too_many_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    given = dict(request.headers)[sender.signature_header]
    separator = "," if given.startswith("t=") else " "
    many = separator.join([given, *[given.split(",")[-1]] * 40])
    headers = {**dict(request.headers), sender.signature_header: many}
    verdict = sender.authenticate(signing.as_request(sender.body, headers, sender.url))
    assert isinstance(verdict, Rejected)


def test_a_missing_header_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    for name, _ in request.headers:
        if name != "content-type":
            kept = tuple(header for header in request.headers if header[0] != name)
            assert isinstance(sender.authenticate(replace(request, headers=kept)), Rejected), name


def test_a_repeated_header_is_refused_unless_each_instance_is_a_signature(
    sender: Sender,
) -> None:
    request = sender.genuine()
    for header in request.headers:
        if header[0] != "content-type" and not sender.raw:
            twice = replace(request, headers=(*request.headers, header))
            assert isinstance(sender.authenticate(twice), Rejected), header[0]
    forged_first = ((sender.signature_header, "0" * 64), *request.headers)
    if sender.raw:
        verdict = sender.authenticate(replace(request, headers=forged_first))
        assert verdict == Verified("k0")


def test_a_signature_in_another_spelling_is_refused(sender: Sender) -> None:
    request = sender.genuine()
    given = dict(request.headers)[sender.signature_header]
    spellings = {given.upper(), given.rstrip("=")[:-1], given.rstrip("="), given + "="}
    for spelling in spellings - {given}:
        headers = {**dict(request.headers), sender.signature_header: spelling}
        verdict = sender.authenticate(signing.as_request(sender.body, headers, sender.url))
        assert isinstance(verdict, Rejected), spelling


UNREADABLE_BODIES = {
    "list": b"[]",
    "null": b"null",
    "text": b'"x"',
    "number": b"1",
    "empty object": b"{}",
    "truncated": b'{"id":"evt_1","type":',
    "two documents": b"{}{}",
    "deep list": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "balanced depth": b"[" * 100_000 + b"]" * 100_000,
    "5000 digits": b'{"id":"e","type":"paid","x":' + b"9" * 5000 + b"}",
    "5000 digits alone": b"9" * 5000,
    "NaN": b'{"id":"e","type":"paid","x":NaN}',
    "Infinity": b'{"id":"e","type":"paid","x":-Infinity}',
    "1E400": b"1E400",
    "impossible exponent": b'{"id":"e","type":"paid","x":1E99999999999999999999}',
    "lone surrogate as type": b'{"id":"e","type":"\\ud800"}',
    "NUL as type": b'{"id":"e","type":"a\\u0000b"}',
    "NUL byte": b'{"id":"e","type":"a\x00b"}',
    "not UTF-8": b'{"id":"e","type":"\xff\xfe"}',
    "BOM": b'\xef\xbb\xbf{"id":"e","type":"paid"}',
    "UTF-16": '{"id":"e","type":"paid"}'.encode("utf-16"),
    "UTF-32": '{"id":"e","type":"paid"}'.encode("utf-32-le"),
    "form": b"id=1&type=paid",
    "xml": b"<xml/>",
}


@pytest.mark.parametrize("body", UNREADABLE_BODIES.values(), ids=UNREADABLE_BODIES.keys())
def test_an_authentic_body_that_is_no_event_is_unreadable(sender: Sender, body: bytes) -> None:
    request = sender.signed(body)
    assert sender.authenticate(request) == Verified("k0")
    (reading,) = sender.provider.read(request, sender.account)
    assert isinstance(reading, Unreadable), reading
    assert reading.event_id
    assert reading.why
    assert len(reading.why) < 200
    reading.why.encode()


def test_the_reply_tells_a_forger_nothing_and_a_duplicate_nothing_new(sender: Sender) -> None:
    replies = {reply: sender.provider.acknowledge(reply) for reply in Reply}
    assert replies[Reply.ACCEPTED].status in {200, 204}
    assert replies[Reply.REJECTED] == replies[Reply.UNKNOWN_KEY]
    assert replies[Reply.REJECTED].body == b"not authentic"
    assert replies[Reply.UNAVAILABLE].status == 503


header_values = st.one_of(
    st.text(max_size=200),
    st.text(alphabet="tv01=,.: sha256+/AZaz", max_size=200),
    st.sampled_from(sorted(HOSTILE_VALUES.values())),
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(values=st.lists(header_values, min_size=3, max_size=3), body=st.binary(max_size=300))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_header_and_no_body_makes_authentication_raise_or_succeed(
    sender: Sender, values: list[str], body: bytes
) -> None:
    names = [name for name, _ in sender.genuine().headers if name != "content-type"]
    request = signing.as_request(body, dict(zip(names, values, strict=False)), sender.url)
    assert isinstance(sender.authenticate(request), Rejected)


@given(body=st.binary(max_size=300))
@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_bytes_make_reading_raise(sender: Sender, body: bytes) -> None:
    readings = sender.provider.read(sender.signed(body), sender.account)
    assert readings
    assert all(isinstance(reading, Callback | Unreadable) for reading in readings)


@given(data=st.data())
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_value_in_any_place_makes_reading_raise(sender: Sender, data: st.DataObject) -> None:
    document = json.loads(sender.body)
    places = list(places_in(document))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places))
        put(document, path, data.draw(json_values))
    body = json.dumps(document).encode()
    readings = sender.provider.read(sender.signed(body), sender.account)
    assert readings
    assert all(isinstance(reading, Callback | Unreadable) for reading in readings)


def flip_each_bit(data: bytes) -> Iterator[bytes]:
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            yield bytes(flipped)


def places_in(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    names = node if isinstance(node, dict) else range(len(node) if isinstance(node, list) else 0)
    for name in names:
        yield (*path, name)
        yield from places_in(node[name], (*path, name))


def put(node: Any, path: tuple[Any, ...], value: Any) -> None:
    """Put the value there, unless an earlier one has taken the place away."""
    try:
        for name in path[:-1]:
            node = node[name]
        node[path[-1]] = value
    except (TypeError, IndexError, KeyError):
        return
