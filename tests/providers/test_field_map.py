import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.field_map_settings import field_map
from payments.providers.options import Options
from payments.providers.port import Misconfigured
from tests.signing import CUSTOM_SETTINGS

FIELDS: dict[str, Any] = {**CUSTOM_SETTINGS["fields"], "linked": ["/charge", "/session"]}
PAID: dict[str, Any] = {
    "id": "e1",
    "type": "paid",
    "payment_id": "p1",
    "order": "O-1",
    "amount": 1099,
    "currency": "EUR",
    "merchant": "m1",
    "mode": "test",
    "at": 1767197400,
    "charge": "c1",
}


def read(fields: dict[str, Any], body: bytes, signed_id: str = "") -> Reading:
    return field_map(Options(fields, "fields")).read(body, signed_id=signed_id)


def read_paid(fields: dict[str, Any] | None = None, **changes: Any) -> Callback:
    reading = read({**FIELDS, **(fields or {})}, json.dumps({**PAID, **changes}).encode())
    assert isinstance(reading, Callback), reading
    return reading


def why_unreadable(fields: dict[str, Any] | None = None, **changes: Any) -> str:
    reading = read({**FIELDS, **(fields or {})}, json.dumps({**PAID, **changes}).encode())
    assert isinstance(reading, Unreadable), reading
    assert reading.event_id == "e1"
    return reading.why


def test_every_field_is_read() -> None:
    assert read_paid() == Callback(
        event_id="e1",
        event_type="paid",
        kind=Kind.PAID,
        txn_no="p1",
        order_no="O-1",
        money=Money(1099, "EUR"),
        account_no="m1",
        live=False,
        occurred_at=datetime(2025, 12, 31, 16, 10, tzinfo=UTC),
        linked_nos=("c1",),
    )


def test_a_linked_id_is_listed_once() -> None:
    assert read_paid(session="c1").linked_nos == ("c1",)
    assert read_paid(session="s1").linked_nos == ("c1", "s1")


def test_what_a_provider_does_not_state_is_none() -> None:
    fields = {name: FIELDS[name] for name in ("type", "transaction", "amount", "currency", "kinds")}
    reading = read(fields, json.dumps(PAID).encode(), signed_id="msg_1")
    assert reading == Callback(
        event_id="msg_1",
        event_type="paid",
        kind=Kind.PAID,
        txn_no="p1",
        money=Money(1099, "EUR"),
    )


def test_without_any_id_the_event_is_known_by_the_digest_of_its_body() -> None:
    fields = {name: value for name, value in FIELDS.items() if name != "event_id"}
    for body in (json.dumps(PAID).encode(), b'{"type":"unheard_of"}', b"[]"):
        assert read(fields, body).event_id == hashlib.sha256(body).hexdigest()
    assert (
        read(FIELDS, b'{"type":"paid"}').event_id == hashlib.sha256(b'{"type":"paid"}').hexdigest()
    )


def test_an_id_that_is_no_id_does_not_name_what_is_unreadable() -> None:
    bad_ids: list[Any] = ["a b", "x" * 200, {}, 1.5, "\ud800"]
    for bad in bad_ids:
        body = json.dumps({**PAID, "id": bad}).encode()
        reading = read(FIELDS, body)
        assert isinstance(reading, Unreadable)
        assert reading.event_id == hashlib.sha256(body).hexdigest()


def test_a_type_without_a_meaning_is_ignored_whatever_else_is_wrong_with_it() -> None:
    for changes in ({}, {"amount": "x"}, {"payment_id": None}):
        body = json.dumps({**PAID, "type": "brand.new_thing_2027", **changes}).encode()
        assert read(FIELDS, body) == Callback(
            event_id="e1", event_type="brand.new_thing_2027", kind=Kind.IGNORED
        )


def test_the_meaning_may_depend_on_the_status() -> None:
    fields = {
        "status": "/status",
        "kinds": {"payment.updated": {"COMPLETED": "PAID", "FAILED": "FAILED"}},
    }
    for status, kind in (
        ("COMPLETED", Kind.PAID),
        ("FAILED", Kind.FAILED),
        ("APPROVED", Kind.IGNORED),
        (None, Kind.IGNORED),
    ):
        assert read_paid(fields, type="payment.updated", status=status).kind is kind


def test_the_first_pointer_that_finds_something_counts() -> None:
    fields = {"transaction": ["/refund/id", "/payment_id"], "order": ["/nowhere", "/order"]}
    assert read_paid(fields).txn_no == "p1"
    assert read_paid(fields, refund={"id": "r1"}).txn_no == "r1"


def test_a_pointer_may_pass_lists_and_escaped_names() -> None:
    fields = {"transaction": "/items/0/a~1b/~0"}
    assert read_paid(fields, items=[{"a/b": {"~": "t1"}}]).txn_no == "t1"


MINOR = [
    (1099, "EUR", {}, Money(1099, "EUR")),
    ("1099", "EUR", {}, Money(1099, "EUR")),
    (500, "JPY", {}, Money(500, "JPY")),
    (18600, "KWD", {}, Money(18600, "KWD")),
    (1860, "KWD", {}, Money(1860, "KWD")),
    (92000, "BHD", {}, Money(92000, "BHD")),
    (50000, "ISK", {"ISK": 2}, Money(500, "ISK")),
    (0, "EUR", {}, Money(0, "EUR")),
    (-5, "EUR", {}, Money(-5, "EUR")),
]


@pytest.mark.parametrize(("amount", "currency", "exponents", "money"), MINOR)
def test_minor_units(amount: Any, currency: str, exponents: dict[str, int], money: Money) -> None:
    rule = {"amount": {"at": "/amount", "unit": "minor", "exponents": exponents}}
    assert read_paid(rule, amount=amount, currency=currency).money == money


MAJOR = [
    (b"19.99", "EUR", Money(1999, "EUR")),
    (b"8.20", "EUR", Money(820, "EUR")),
    (b"599.80", "EUR", Money(59980, "EUR")),
    (b"0.29", "EUR", Money(29, "EUR")),
    (b"1e2", "EUR", Money(10000, "EUR")),
    (b"10", "EUR", Money(1000, "EUR")),
    (b'"10.990"', "EUR", Money(1099, "EUR")),
    (b'"18.6"', "KWD", Money(18600, "KWD")),
    (b'"500"', "JPY", Money(500, "JPY")),
    (b"-0.00", "EUR", Money(0, "EUR")),
    (b'"-1.00"', "EUR", Money(-100, "EUR")),
]


def with_amount(amount: bytes, currency: str = "EUR") -> bytes:
    body = json.dumps({**PAID, "amount": "AMOUNT", "currency": currency}).encode()
    return body.replace(b'"AMOUNT"', amount)


@pytest.mark.parametrize(("amount", "currency", "money"), MAJOR)
def test_major_units_are_exact(amount: bytes, currency: str, money: Money) -> None:
    rule = {**FIELDS, "amount": {"at": "/amount", "unit": "major"}}
    reading = read(rule, with_amount(amount, currency))
    assert isinstance(reading, Callback)
    assert reading.money == money


@pytest.mark.parametrize(
    ("amount", "currency", "words"),
    [
        (b"1.005", "EUR", "1.005 EUR"),
        (b'"10.001"', "EUR", "10.001 EUR"),
        (b'"0.5"', "JPY", "0.5 JPY"),
    ],
)
def test_what_no_minor_unit_expresses_is_kept_in_the_providers_words(
    amount: bytes, currency: str, words: str
) -> None:
    rule = {**FIELDS, "amount": {"at": "/amount", "unit": "major"}}
    reading = read(rule, with_amount(amount, currency))
    assert isinstance(reading, Callback)
    assert (reading.kind, reading.money, reading.stated_amount) == (Kind.PAID, None, words)


def test_a_providers_exponent_that_does_not_fit_is_kept_in_its_words() -> None:
    rule = {"amount": {"at": "/amount", "unit": "minor", "exponents": {"ISK": 2}}}
    reading = read_paid(rule, amount=550, currency="ISK")
    assert (reading.money, reading.stated_amount) == (None, "550 ISK")


@pytest.mark.parametrize(
    "amount",
    [
        b"true",
        b'"1,000.00"',
        b'" 10.00"',
        '"\uff11\uff10"'.encode(),
        b'"1_000"',
        b'"1e2"',
        b"1E400",
        b"1e-30",
        b"9223372036854775808",
        b'""',
        b"{}",
        b"[1]",
        b"null",
    ],
)
@pytest.mark.parametrize("unit", ["minor", "major"])
def test_what_is_no_amount_makes_a_payment_unreadable(amount: bytes, unit: str) -> None:
    rule = {**FIELDS, "amount": {"at": "/amount", "unit": unit}}
    reading = read(rule, with_amount(amount))
    assert isinstance(reading, Unreadable), reading


@pytest.mark.parametrize("amount", [b"10.99", b"10.00", b"1e2", b'"10.99"'])
def test_minor_units_are_whole_numbers(amount: bytes) -> None:
    reading = read(FIELDS, with_amount(amount))
    assert isinstance(reading, Unreadable)
    assert reading.why == "an amount in minor units is a whole number"


@pytest.mark.parametrize("currency", ["EURO", "", "XXX", "\u0415UR", "\ud800", 978, None])
def test_what_is_no_currency_makes_a_payment_unreadable(currency: Any) -> None:
    why_unreadable(currency=currency)


@pytest.mark.parametrize("currency", ["eur", "Eur"])
def test_a_currency_means_the_same_in_either_case(currency: str) -> None:
    assert read_paid(currency=currency).money == Money(1099, "EUR")


def test_a_failed_payment_needs_no_amount() -> None:
    reading = read_paid(type="failed", amount=None)
    assert (reading.kind, reading.money) == (Kind.FAILED, None)


def test_one_currency_for_all_needs_no_field() -> None:
    assert read_paid({"currency": "CNY"}, currency=None).money == Money(1099, "CNY")


def test_ids_are_canonical_text() -> None:
    assert read_paid(payment_id=90071992547409931).txn_no == "90071992547409931"
    assert read_paid(payment_id="90071992547409931").txn_no == "90071992547409931"
    assert read_paid(payment_id="007").txn_no == "007"
    body = json.dumps({**PAID, "payment_id": 0}).replace('"payment_id": 0', '"payment_id": 1E+5')
    reading = read(FIELDS, body.encode())
    assert reading == Unreadable("payment_id is not an id", "e1")


def test_repeated_names_matter_only_where_they_are_read() -> None:
    body = json.dumps(PAID)[:-1]
    unused = read(FIELDS, f'{body},"x":{{"a":1,"a":2}},"note":1,"note":2}}'.encode())
    assert isinstance(unused, Callback)
    for name in ("amount", "order", "currency", "payment_id", "merchant", "mode", "at", "charge"):
        reading = read(FIELDS, f'{body},"{name}":9900}}'.encode())
        assert reading == Unreadable(f"{name} occurs more than once", "e1")
        reading = read(FIELDS, f'{{"{name}":9900,{body[1:]}}}'.encode())
        assert reading == Unreadable(f"{name} occurs more than once", "e1")


def test_nul_is_harmless_where_nobody_reads_it() -> None:
    reading = read_paid(payer={"name": "A\x00B"}, note="\\u0000 literal", n="\ud800")
    assert reading.kind is Kind.PAID
    assert why_unreadable(order="O\x001") == "order contains NUL or half a character"


@pytest.mark.parametrize("at", [None, "", "yesterday", "2026-02-30T10:00:00Z", {}, 10**20])
def test_a_bad_time_leaves_the_payment_paid(at: Any) -> None:
    reading = read_paid(at=at)
    assert (reading.kind, reading.occurred_at) == (Kind.PAID, None)


def test_the_mode_is_what_the_message_says() -> None:
    assert [read_paid(mode=mode).live for mode in ("live", "test", None)] == [True, False, None]
    assert why_unreadable(mode="LIVE") == "the mode is neither live nor test"
    flag = {"live": {"at": "/livemode"}}
    assert [read_paid(flag, livemode=mode).live for mode in (True, False)] == [True, False]
    assert why_unreadable(flag, livemode=1) == "the mode is neither live nor test"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"type": None}, "the type is missing"),
        ({"type": 5}, "type is not text"),
        ({"type": ""}, "the event type is empty, too long or not printable"),
        ({"payment_id": None}, "the transaction number is missing"),
        ({"payment_id": ""}, "the transaction number is missing"),
        ({"payment_id": "a b"}, "the transaction number is not 1 to 128"),
        ({"order": "x" * 65}, "the order number is not 1 to 64"),
        ({"order": "\u2160"}, "the order number is not 1 to 64"),
        ({"merchant": "é"}, "the account number is not 1 to 128"),
        ({"amount": None}, "a payment without an amount"),
    ],
)
def test_what_cannot_be_a_callback_says_why(changes: dict[str, Any], why: str) -> None:
    fields = {"kinds": {"paid": "PAID", "": "PAID"}}
    assert why_unreadable(fields, **changes).startswith(why)


BAD_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "typo": ({"ordr": "/order"}, "fields.ordr is not a known setting"),
    "no pointer": ({"order": "order"}, "fields.order must be a JSON pointer such as /data/id"),
    "bad escape": ({"order": "/a~2"}, "fields.order must be a JSON pointer such as /data/id"),
    "number": ({"order": 5}, "fields.order must be a JSON pointer or a list of them"),
    "numbers": ({"order": [5]}, "fields.order must be a JSON pointer such as /data/id"),
    "no transaction": ({"transaction": []}, "fields.transaction must be a JSON pointer"),
    "many": ({"linked": ["/a"] * 9}, "fields.linked has more than 8 pointers"),
    "header": ({"event_id": "header:x"}, "fields.event_id must be a JSON pointer"),
    "amount": ({"amount": "/amount"}, "fields.amount must be an object"),
    "unit": (
        {"amount": {"at": "/a", "unit": "cents"}},
        "fields.amount.unit must be one of: 'minor', 'major'",
    ),
    "exponents of major": (
        {"amount": {"at": "/a", "unit": "major", "exponents": {"ISK": 2}}},
        "fields.amount.exponents must be an object, and belongs to unit minor",
    ),
    "exponent": (
        {"amount": {"at": "/a", "unit": "minor", "exponents": {"ISK": 9}}},
        "fields.amount.exponents.ISK must be a whole number from 0 to 4",
    ),
    "exponent of nothing": (
        {"amount": {"at": "/a", "unit": "minor", "exponents": {"isk": 2}}},
        "fields.amount.exponents.isk is not usable: unknown currency 'isk'",
    ),
    "currency": ({"currency": "euro"}, "fields.currency must be a JSON pointer or a currency"),
    "mode": (
        {"live": {"at": "/m", "live": "x", "test": "x"}},
        "fields.live.test must differ from live",
    ),
    "mode type": (
        {"live": {"at": "/m", "live": [1]}},
        "fields.live.live must be text, a whole number, true or false",
    ),
    "no kinds": ({"kinds": {}}, "fields.kinds must be an object from event types to kinds"),
    "kind": ({"kinds": {"paid": "DONE"}}, "fields.kinds must say one of: PAID, AUTHORIZED"),
    "no status": (
        {"kinds": {"paid": {"x": "PAID"}}},
        "fields.status is missing, and kinds asks for it",
    ),
}


@pytest.mark.parametrize(("changes", "why"), BAD_FIELDS.values(), ids=BAD_FIELDS.keys())
def test_a_map_that_cannot_work_is_refused_by_name(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        field_map(Options({**FIELDS, **changes}, "fields"))
    assert str(caught.value).startswith(why)


@pytest.mark.parametrize("name", ["type", "transaction", "amount", "currency", "kinds"])
def test_what_every_payment_needs_must_be_in_the_map(name: str) -> None:
    fields = {given: value for given, value in FIELDS.items() if given != name}
    with pytest.raises(Misconfigured, match=f"^fields.{name} "):
        field_map(Options(fields, "fields"))
