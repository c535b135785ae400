"""Bad input, over real HTTP against the real web server: what is answered, and what is written.

The rows are the classes of the threat list, A authenticity, B meaning, C content, D transport,
E injection. In every row without an outcome not one byte of any table may change, and in every
other row exactly the rows of that outcome are added.

Elsewhere: weak secrets (`test_preflight`, `test_commands`), a database that is away
(`test_database_trouble`), two things at the same instant (`tests/concurrency`). Later, with what
they threaten: RSA signatures, batches and XML (with the providers that use them), refunds before
payments (refunds), floods (rate limits), outgoing requests, idempotency keys, the console.
"""

import gzip
import hmac
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from orders.models import Order
from payments.models import Delivery, ProviderAccount
from tests import wire
from tests.books import books, growth
from tests.factories import (
    STRIPE_SECRET,
    AccountKeyFactory,
    MerchantFactory,
    OrderFactory,
    ProviderAccountFactory,
)
from tests.payments.over_http import (
    call,
    custom_body,
    custom_paid,
    number,
    signed,
    standard_paid,
    stripe_paid,
)
from tests.processes import Web
from tests.signing import CUSTOM_SECRET, CUSTOM_SETTINGS, STANDARD_SECRET

FOREIGN_SECRET = "whsec_tests_of_somebody_else_4Kd8"
TEST_MODE_SECRET = "whsec_tests_of_test_mode_b71XcQ09z"
OLD_SECRET = "whsec_tests_in_overlap_77aQz1Lm"
ENDED_SECRET = "whsec_tests_has_ended_s0Pq3Tn9"
PAST, FUTURE = "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z"


class Shop:
    """A merchant with an account at each provider, and somebody else who has one too."""

    def __init__(self, web: Web) -> None:
        self.web = web
        self.merchant = MerchantFactory.create()
        account = ProviderAccountFactory
        self.stripe = account.create(merchant=self.merchant, name="main", account_no="acct_main")
        AccountKeyFactory.create(account=self.stripe, secret=OLD_SECRET, not_after=FUTURE)
        AccountKeyFactory.create(account=self.stripe, secret=ENDED_SECRET, not_after=PAST)
        self.custom = account.create(
            merchant=self.merchant,
            provider="custom",
            account_no="m-1",
            settings=CUSTOM_SETTINGS,
            secret=CUSTOM_SECRET,
        )
        self.standard = account.create(
            merchant=self.merchant, provider="standardwebhooks", secret=STANDARD_SECRET
        )
        self.test_mode = account.create(
            merchant=self.merchant, live=False, secret=TEST_MODE_SECRET, account_no="acct_main"
        )
        self.foreign = account.create(name="foreign", secret=FOREIGN_SECRET)
        self.inactive = account.create(merchant=self.merchant, active=False)
        OrderFactory.create(merchant=self.foreign.merchant, order_no="THEIRS")

    def paid_before(self, **values: Any) -> Order:
        """An order that another payment has paid."""
        return OrderFactory.create(
            merchant=self.merchant,
            status="PAID",
            paid_at=PAST,
            paid_txn_no=f"pi_before_{number()}",
            version=1,
            **values,
        )


@pytest.fixture
def shop(live_web: Web, transactional_db: None) -> Shop:
    return Shop(live_web)


#: What each outcome writes beside its delivery.
GROWTH: Mapping[tuple[str, str], Mapping[str, int]] = {
    ("APPLIED", ""): {"providertransaction": 1, "event": 1},
    ("DUPLICATE", ""): {},
    ("PARKED", ""): {"providertransaction": 1},
    ("RECORDED", ""): {},
    ("RECORDED", "STALE"): {},
    ("IGNORED", ""): {},
    ("QUARANTINED", "UNREADABLE"): {},
    ("QUARANTINED", "WRONG_MODE"): {},
    ("CONFLICT", "AMOUNT_MISMATCH"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "CURRENCY_MISMATCH"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "MERCHANT_MISMATCH"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "LATE_PAYMENT"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "DUPLICATE_PAYMENT"): {"providertransaction": 1, "conflict": 1, "event": 1},
    ("CONFLICT", "TRANSACTION_ALTERED"): {"conflict": 1, "event": 1},
    # Nothing arrived that could stand in a ledger.
    ("CONFLICT", "NO_MONEY"): {"conflict": 1, "event": 1},
}

Make = Callable[[Shop, str], bytes]


@dataclass(frozen=True)
class Case:
    """`make` gives the request; its second argument is the number of a fresh order of 10.99 USD."""

    name: str
    make: Make
    status: int
    outcome: str = ""
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    half_close: bool = False


def forged(name: str, make: Make) -> Case:
    return Case(name, make, 401)


def authentic(name: str, make: Make, outcome: str, reason: str = "") -> Case:
    return Case(name, make, 200, outcome, reason)


def stripe(**options: Any) -> Make:
    """A Stripe callback that would pay the order, were it not for these options of `call`."""
    return lambda shop, order_no: call(shop.stripe, stripe_paid(order_no), **options)


def stripe_signed(make_header: Callable[[bytes, str], str]) -> Make:
    """The same with a signature header made from the body and the right header."""

    def make(shop: Shop, order_no: str) -> bytes:
        body = stripe_paid(order_no)
        right = signed(shop.stripe, body)["Stripe-Signature"]
        header = make_header(body, right)
        return call(shop.stripe, body, headers={"Stripe-Signature": header})

    return make


def stripe_says(**changes: Any) -> Make:
    """An authentic Stripe payment with these changes to `stripe_paid`."""
    return lambda shop, order_no: call(shop.stripe, stripe_paid(order_no, **changes))


def custom_says(**fields: Any) -> Make:
    return lambda shop, order_no: call(shop.custom, custom_body(order_no, **fields))


def custom_bytes(template: str | bytes) -> Make:
    """An authentic body, as it is but for ORDER and N, a number of its own."""

    def make(shop: Shop, order_no: str) -> bytes:
        raw = template.encode("utf-8", "surrogatepass") if isinstance(template, str) else template
        body = raw.replace(b"ORDER", order_no.encode()).replace(b"#N", str(number()).encode())
        return call(shop.custom, body)

    return make


def standard_amount(amount: str) -> Make:
    return lambda shop, order_no: call(shop.standard, standard_paid(order_no, amount))


def signed_by(secret: str, *, age_seconds: float = 0) -> Make:
    def make(shop: Shop, order_no: str) -> bytes:
        body = stripe_paid(order_no)
        headers = signed(shop.stripe, body, secret=secret, age_seconds=age_seconds)
        return call(shop.stripe, body, headers=headers)

    return make


def at_time(text: str) -> Make:
    """Signed with the right key over this text as its time."""

    def make(shop: Shop, order_no: str) -> bytes:
        body = stripe_paid(order_no)
        mac = hmac.digest(
            STRIPE_SECRET.encode(), text.encode("latin-1") + b"." + body, "sha256"
        ).hex()
        return call(shop.stripe, body, headers={"Stripe-Signature": f"t={text},v1={mac}"})

    return make


def custom_signature(change: Callable[[str], str]) -> Make:
    def make(shop: Shop, order_no: str) -> bytes:
        body = custom_body(order_no)
        right = signed(shop.custom, body)["X-Signature"]
        return call(shop.custom, body, headers={"X-Signature": change(right)})

    return make


def standard_signature(change: Callable[[str], str]) -> Make:
    def make(shop: Shop, order_no: str) -> bytes:
        body = standard_paid(order_no)
        headers = signed(shop.standard, body)
        headers["webhook-signature"] = change(headers["webhook-signature"])
        return call(shop.standard, body, headers=headers)

    return make


def reserialised(shop: Shop, order_no: str) -> bytes:
    body = stripe_paid(order_no)
    return call(shop.stripe, body, sent=json.dumps(json.loads(body)).encode())


def empty_with_valid_signature(shop: Shop, _order_no: str) -> bytes:
    return call(shop.stripe, b"")


def empty_signed_but_chunked(shop: Shop, order_no: str) -> bytes:
    return call(
        shop.stripe,
        b"",
        sent=chunks(stripe_paid(order_no)),
        without=["Content-Length"],
        extra=[("Transfer-Encoding", "chunked")],
    )


def chunks(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


NOW = int(time.time())

AUTHENTICITY = [
    forged("A1 no signature", stripe(without=["Stripe-Signature"])),
    forged("A1 an empty signature", stripe(headers={"Stripe-Signature": ""})),
    forged("A1 a signature of spaces", stripe(headers={"Stripe-Signature": "   "})),
    forged("A2 a wrong signature", stripe_signed(lambda _, right: right[:-64] + "0" * 64)),
    forged("A2 a signature cut short", stripe_signed(lambda _, right: right[:-1])),
    forged("A2 a signature made longer", stripe_signed(lambda _, right: right + "0")),
    forged("A3 signed, then written anew", reserialised),
    forged("A6 signed with the empty key", signed_by("\0")),
    forged(
        "A6 signed with no key",
        stripe_signed(
            lambda body, _: f"t={NOW},v1={hmac.digest(b'', b'%d.%b' % (NOW, body), 'sha256').hex()}"
        ),
    ),
    forged("A7 another merchant's key", signed_by(FOREIGN_SECRET)),
    forged("A7 another provider's key", signed_by(CUSTOM_SECRET)),
    forged("A7 the test mode's key", signed_by(TEST_MODE_SECRET)),
    authentic("A8 the old key within its overlap", signed_by(OLD_SECRET), "APPLIED"),
    forged("A9 a key that has ended", signed_by(ENDED_SECRET)),
    forged("A10 an older scheme", stripe_signed(lambda _, right: right.replace("v1=", "v0="))),
    authentic(
        "A10 an algorithm named in the request, which nobody reads",
        stripe_signed(lambda _, right: right + ",alg=none,v1="),
        "APPLIED",
    ),
    forged(
        "A10 another algorithm",
        stripe_signed(
            lambda body, _: f"t={NOW},v1={hmac.digest(STRIPE_SECRET.encode(), body, 'md5').hex()}"
        ),
    ),
    forged(
        "A11 a secret in the request",
        stripe(headers={"Stripe-Signature": "t=1,v1=00"}, extra=[("X-Secret", STRIPE_SECRET)]),
    ),
    forged(
        "A11 a certificate's address in the request",
        stripe(
            headers={"Stripe-Signature": "t=1,v1=00"}, extra=[("Cert-Url", "http://127.0.0.1/c")]
        ),
    ),
    forged("A12 bytes beyond ASCII", stripe_signed(lambda _, right: right[:-2] + "\xe9\xff")),
    forged("A12 nothing but such bytes", stripe_signed(lambda *_: "\xff" * 64)),
    forged("A13 hex in capitals", custom_signature(str.upper)),
    forged(
        "A13 hex with spaces within", custom_signature(lambda right: f"{right[:8]} {right[8:]}")
    ),
    forged("A13 hex with a prefix", custom_signature(lambda right: f"sha256={right}")),
    forged("A13 base64 without its padding", standard_signature(lambda right: right.rstrip("="))),
    forged(
        "A13 base64 with junk in it", standard_signature(lambda right: right[:9] + "!" + right[9:])
    ),
    forged("A13 base64 of the other alphabet", standard_signature(lambda _: "v1," + "_-" * 22)),
    forged("A13 not base64 at all", standard_signature(lambda _: "v1,%%%")),
    forged(
        "A14 the header twice, the right one first",
        stripe(extra=[("Stripe-Signature", f"t={NOW},v1={'0' * 64}")]),
    ),
    forged("A14 two times in it", stripe_signed(lambda _, right: f"t={NOW},{right}")),
    authentic(
        "A14 several signatures, one of them right",
        stripe_signed(lambda _, right: f"v1={'0' * 64},{right},v1=,v0=1"),
        "APPLIED",
    ),
    forged("A14 a thousand signatures", stripe_signed(lambda _, right: right + ",v1=00" * 1000)),
    forged("A14 a signature of 10 kB", stripe_signed(lambda _, right: right + "0" * 10_000)),
    forged("A17 too old", signed_by(STRIPE_SECRET, age_seconds=301)),
    forged("A17 from the future", signed_by(STRIPE_SECRET, age_seconds=-310)),
    authentic("A17 old enough to be late", signed_by(STRIPE_SECRET, age_seconds=280), "APPLIED"),
    *(
        forged(f"A17 a time written as {text!r}", at_time(text))
        for text in (
            *("", "NaN", "1e400", "-1", "0", f"{NOW}.0", f" {NOW}", f"+{NOW}", f"{NOW}_0"),
            *(f"{NOW // 1000}_{NOW % 1000:03}", "9" * 30, "\xb2" * 10),
        )
    ),
    forged("A21 an empty body with a valid signature", empty_with_valid_signature),
    Case("A21 the same, with a chunked body behind", empty_signed_but_chunked, 411),
]


def told_twice(first: Mapping[str, Any], then: Mapping[str, Any]) -> Make:
    """Two callbacks about one transaction; the second is the case."""

    def make(shop: Shop, order_no: str) -> bytes:
        txn_no = f"pi_{number()}"
        body = stripe_paid(order_no, txn_no=txn_no, **first)
        assert wire.send(shop.web.url, call(shop.stripe, body)).status == 200
        return call(shop.stripe, stripe_paid(order_no, txn_no=txn_no, **then))

    return make


def replayed(shop: Shop, order_no: str) -> bytes:
    raw = call(shop.stripe, stripe_paid(order_no))
    assert wire.send(shop.web.url, raw).status == 200
    return raw


def replayed_where_nothing_is_timed(shop: Shop, order_no: str) -> bytes:
    raw = call(shop.custom, custom_body(order_no))
    assert wire.send(shop.web.url, raw).status == 200
    return raw


def for_another_order(shop: Shop, order_no: str) -> bytes:
    body = custom_paid(order_no)
    assert wire.send(shop.web.url, call(shop.custom, json.dumps(body).encode())).status == 200
    other = OrderFactory.create(merchant=shop.merchant)
    return call(shop.custom, json.dumps(body | {"order": other.order_no, "id": "other"}).encode())


def into(**values: Any) -> Make:
    """A payment that agrees with an order in this state."""

    def make(shop: Shop, _order_no: str) -> bytes:
        order = OrderFactory.create(merchant=shop.merchant, **values)
        return call(shop.stripe, stripe_paid(order.order_no))

    return make


def paid_a_second_time(shop: Shop, _order_no: str) -> bytes:
    return call(shop.stripe, stripe_paid(shop.paid_before().order_no))


def owed(amount_minor: int, currency: str, said: Any, said_currency: str) -> Make:
    def make(shop: Shop, _order_no: str) -> bytes:
        order = OrderFactory.create(
            merchant=shop.merchant, amount_minor=amount_minor, currency=currency
        )
        return call(shop.stripe, stripe_paid(order.order_no, said, said_currency))

    return make


MISMATCH, NO_MONEY = ("CONFLICT", "AMOUNT_MISMATCH"), ("CONFLICT", "NO_MONEY")
OTHER_CURRENCY, OTHER_PAYEE = ("CONFLICT", "CURRENCY_MISMATCH"), ("CONFLICT", "MERCHANT_MISMATCH")
UNREADABLE, WRONG_MODE = ("QUARANTINED", "UNREADABLE"), ("QUARANTINED", "WRONG_MODE")

MEANING = [
    authentic("A18 an exact replay", replayed, "DUPLICATE"),
    authentic("A19 a replay of what has no time", replayed_where_nothing_is_timed, "DUPLICATE"),
    *(
        authentic(f"B22 {amount} cents of 1099", stripe_says(amount=amount), *MISMATCH)
        for amount in (1, 100, 1098, 1100, 109_900, 2**63 - 1)
    ),
    *(
        authentic(f"B23 {amount} cents", stripe_says(amount=amount), *NO_MONEY)
        for amount in (0, -1, -1099)
    ),
    authentic(
        "B23 minus zero",
        custom_bytes(
            '{"id":"e#N","type":"paid","payment_id":"p#N",'
            '"order":"ORDER","amount":-0,"currency":"USD"}'
        ),
        *NO_MONEY,
    ),
    *(
        authentic(f"B24 {currency} instead of USD", stripe_says(currency=currency), *OTHER_CURRENCY)
        for currency in ("eur", "vnd", "jpy", "kwd", "cad")
    ),
    authentic("B24 yen scaled by a hundred", owed(1099, "JPY", 109_900, "jpy"), *MISMATCH),
    authentic("B24 dinars by the dollar's decimals", owed(18_600, "KWD", 1860, "kwd"), *MISMATCH),
    *(
        authentic(f"B24 the currency {currency!r}", stripe_says(currency=currency), *UNREADABLE)
        for currency in (
            "",
            "us",
            "usdt",
            "xxx",
            "xau",
            "us$",
            "\uff55\uff53\uff44",
            840,
            None,
            True,
        )
    ),
    authentic("B24 a currency in lower case", custom_says(currency="usd"), "APPLIED"),
    authentic(
        "B24 a letter whose capital is another's", custom_says(currency="\u0131nr"), *UNREADABLE
    ),
    authentic("B25 another account", stripe_says(account="acct_other"), *OTHER_PAYEE),
    authentic("B25 another merchant", custom_says(merchant="m-2"), *OTHER_PAYEE),
    authentic("B25 the right one, named", custom_says(merchant="m-1"), "APPLIED"),
    authentic("B26 test mode at a live account", stripe_says(livemode=False), *WRONG_MODE),
    authentic("B26 test mode, in words", custom_says(mode="test"), *WRONG_MODE),
    authentic("B26 a mode that is neither", custom_says(mode="sandbox"), *UNREADABLE),
    authentic("B26 a mode that is a word", stripe_says(livemode="true"), *UNREADABLE),
    authentic(
        "B27 a known transaction, other order", for_another_order, "CONFLICT", "TRANSACTION_ALTERED"
    ),
    authentic(
        "B27 a known transaction, other amount",
        told_twice({}, {"amount": 1100}),
        "CONFLICT",
        "TRANSACTION_ALTERED",
    ),
    authentic("B28 a second payment", paid_a_second_time, "CONFLICT", "DUPLICATE_PAYMENT"),
    authentic(
        "B29 an order nobody knows", stripe_says(thing={"metadata": {"order_id": "NONE"}}), "PARKED"
    ),
    authentic(
        "B29 another merchant's order",
        stripe_says(thing={"metadata": {"order_id": "THEIRS"}}),
        "PARKED",
    ),
    authentic("B29 no order at all", stripe_says(thing={"metadata": {}}), "PARKED"),
    authentic("B30 an order of another gateway", into(payable_through="custom/x"), *OTHER_PAYEE),
    authentic(
        "B31 paid after it was closed",
        into(status="CLOSED", closed_at=PAST),
        "CONFLICT",
        "LATE_PAYMENT",
    ),
    authentic(
        "B33 failed after it was paid",
        told_twice({}, {"event_type": "payment_intent.payment_failed"}),
        "RECORDED",
        "STALE",
    ),
    authentic("B35 an unknown type", stripe_says(event_type="brand.new_thing_2027"), "IGNORED"),
    authentic(
        "B35 a newer version with more in it",
        stripe_says(api_version="2031-01-01.zebra", thing={"new": {"deep": [1, {}]}}),
        "APPLIED",
    ),
    authentic(
        "B36 authorised only",
        stripe_says(event_type="payment_intent.amount_capturable_updated"),
        "RECORDED",
    ),
    authentic("B36 still pending", stripe_says(event_type="payment_intent.processing"), "RECORDED"),
    authentic("B37 half of it", stripe_says(amount=550), *MISMATCH),
]


def paid_json(**fields: str) -> str:
    """JSON that pays the order, with these members written as given."""
    members = {
        "id": '"e#N"',
        "type": '"paid"',
        "payment_id": '"p#N"',
        "order": '"ORDER"',
        "amount": "1099",
        "currency": '"USD"',
        **fields,
    }
    return "{" + ",".join(f'"{name}":{value}' for name, value in members.items()) + "}"


def padded(shop: Shop, order_no: str) -> bytes:
    """The largest body that is taken: 256 KiB."""
    body = custom_body(order_no)
    return call(shop.custom, body + b" " * (256 * 1024 - len(body)))


CONTENT = [
    *(
        authentic(f"C38 a body of {body[:12]!r}", custom_bytes(body), *UNREADABLE)
        for body in (
            *(
                b"{}",
                b"[]",
                b"null",
                b'"x"',
                b"1",
                b"true",
                b"x",
                b"{",
                b"[1,",
                b'{"id"',
                b" ",
                b"\n",
            ),
            *(b"\x00", b"id=e1&type=paid&amount=1099", b"<xml/>", b"{}{}", b'{"id":"e1",}'),
            b"--x\r\nContent-Disposition: form-data; name=id\r\n\r\ne1\r\n--x--",
        )
    ),
    authentic(
        "C39 the amount twice, first the wrong one",
        custom_bytes(paid_json().replace('"amount":', '"amount":100,"amount":')),
        *UNREADABLE,
    ),
    authentic(
        "C39 the amount twice, last the wrong one",
        custom_bytes(paid_json().replace('"amount":1099', '"amount":1099,"amount":1')),
        *UNREADABLE,
    ),
    authentic(
        "C39 the order twice, the same",
        custom_bytes(paid_json().replace('"order":', '"order":"ORDER","order":')),
        *UNREADABLE,
    ),
    authentic(
        "C39 twice what nobody reads", custom_bytes(paid_json(note='{"a":1,"a":2}')), "APPLIED"
    ),
    *(
        authentic(f"C40 {value} for an amount", custom_bytes(paid_json(amount=value)), *UNREADABLE)
        for value in ("NaN", "Infinity", "-Infinity", "nan", '"NaN"', '"Infinity"')
    ),
    authentic("C40 NaN in what nobody reads", custom_bytes(paid_json(note="NaN")), *UNREADABLE),
    *(
        authentic(f"C41 {value} minor units", custom_bytes(paid_json(amount=value)), *UNREADABLE)
        for value in (
            *("10.99", "1099.0", "1e2", "1E400", "true", "null", "[1099]", '{"v":1099}', '"1_099"'),
            *(
                '" 1099"',
                '"1099 "',
                '"1,099"',
                '"\uff11\uff10\uff19\uff19"',
                '"\u0661\u0660"',
                '""',
            ),
            *('"0x44b"', '"+1099"', '"1099.0"', "1" * 20, str(2**63), '"' + "9" * 19 + '"'),
        )
    ),
    authentic("C41 digits in quotes", custom_bytes(paid_json(amount='"1099"')), "APPLIED"),
    authentic("C41 an amount that is missing", custom_says(amount=None), *UNREADABLE),
    *(
        authentic(f"C41 {value} in major units", standard_amount(value), *UNREADABLE)
        for value in (
            *(
                '"1,099.00"',
                '"10,99"',
                '" 10.99"',
                '"10.99 "',
                '"10.99 USD"',
                '"+10.99"',
                '"$10.99"',
            ),
            *(
                '"1_0.99"',
                '".99"',
                '"10."',
                '"1e1"',
                '"\uff11\uff10.\uff19\uff19"',
                '"ten"',
                "true",
            ),
            *("1E400", "1E-400", '"NaN"', "[]", "{}", '"1' + "0" * 30 + '"', '"10.9900000000000"'),
        )
    ),
    *(
        authentic(f"C41 {value} in major units", standard_amount(value), "APPLIED")
        for value in ('"10.99"', "10.99", '"10.990"', "10.9900", "1099e-2", '"010.99"')
    ),
    *(
        authentic(f"C41 {value} in major units", standard_amount(value), *NO_MONEY)
        for value in ('"10.991"', "10.991", "0", '"0.00"', '"-0.00"', "-10.99", "0.001")
    ),
    authentic(
        "C42 5,000 digits for an amount", custom_bytes(paid_json(amount="9" * 5000)), *UNREADABLE
    ),
    authentic(
        "C42 5,000 digits in what nobody reads",
        custom_bytes(paid_json(note="9" * 5000)),
        *UNREADABLE,
    ),
    authentic(
        "C42 an exponent of 5,000 digits",
        custom_bytes(paid_json(note="1e" + "9" * 5000)),
        *UNREADABLE,
    ),
    authentic("C43 100,000 brackets", custom_bytes("[" * 100_000), *UNREADABLE),
    authentic("C43 100,000 objects", custom_bytes('{"a":' * 50_000), *UNREADABLE),
    authentic(
        "C43 65 levels in what nobody reads",
        custom_bytes(paid_json(note="[" * 64 + "]" * 64)),
        *UNREADABLE,
    ),
    authentic(
        "C43 brackets within a text are none",
        custom_bytes(paid_json(note='"' + "[{" * 200 + '"')),
        "APPLIED",
    ),
    authentic(
        "C44 NUL in the order's number",
        custom_bytes(paid_json(order='"ORDER\\u0000"')),
        *UNREADABLE,
    ),
    authentic(
        "C44 NUL in the payment's number",
        custom_bytes(paid_json(payment_id='"\\u0000p#N"')),
        *UNREADABLE,
    ),
    authentic("C44 NUL in the type", custom_bytes(paid_json(type='"paid\\u0000"')), *UNREADABLE),
    authentic(
        "C44 NUL in a name", custom_bytes(paid_json(payer='{"name":"A\\u0000B"}')), "APPLIED"
    ),
    authentic("C44 a raw NUL", custom_bytes(paid_json(payer='"A\0B"')), *UNREADABLE),
    authentic(
        "C45 half a character in a name", custom_bytes(paid_json(payer='"\\ud800"')), "APPLIED"
    ),
    authentic(
        "C45 half a character in the order's number",
        custom_bytes(paid_json(order='"ORDER\\ud800"')),
        *UNREADABLE,
    ),
    authentic(
        "C45 half a character in raw bytes", custom_bytes(paid_json(payer='"\ud800"')), *UNREADABLE
    ),
    *(
        authentic(f"C45 in {encoding}", custom_bytes(paid_json().encode(encoding)), *UNREADABLE)
        for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
    ),
    authentic(
        "C45 Latin-1", custom_bytes(paid_json(payer='"caf\xe9"').encode("latin-1")), *UNREADABLE
    ),
    authentic(
        "C45 UTF-8 that is longer than it needs to be",
        custom_bytes(paid_json(payer='"').encode()[:-1] + b'\xc0\xaf"}'),
        *UNREADABLE,
    ),
    *(
        authentic(
            f"C46 the order number {written!r}", custom_bytes(paid_json(order=written)), *UNREADABLE
        )
        for written in (
            *('"\u2160"', '"ORDER\u200b"', '"\u041eRDER"', '"\uff2fRDER"', '"e\u0301"', '"ORDER "'),
            *(
                '" ORDER"',
                '"ORDER\\n"',
                '"ORDER/1"',
                '"../ORDER"',
                '"' + "x" * 65 + '"',
                "[]",
                "1.5",
            ),
            *("{}", "true"),
        )
    ),
    authentic(
        "C46 the order number in another case",
        lambda shop, order_no: call(shop.custom, custom_body(order_no.lower())),
        "PARKED",
    ),
    authentic("C46 an empty order number", custom_says(order=""), "PARKED"),
    authentic(
        "C46 a number for an order", custom_bytes(paid_json(order="90071992547409931")), "PARKED"
    ),
    *(
        authentic(
            f"C46 the payment's number {written[:20]!r}",
            custom_bytes(paid_json(payment_id=written)),
            *UNREADABLE,
        )
        for written in (
            '""',
            "null",
            '"a b"',
            '"\u2160"',
            '"' + "x" * 129 + '"',
            "1.0",
            "1E+5",
            "[]",
        )
    ),
    *(
        authentic(
            f"C49 the content type {written!r}",
            stripe(headers={"Content-Type": written}),
            "APPLIED",
        )
        for written in (
            *("text/plain", "application/x-www-form-urlencoded", "", "x", "application/xml"),
            *("application/json; charset=utf-16", "multipart/form-data; boundary=x"),
            "multipart/form-data",
        )
    ),
    authentic("C49 no content type", stripe(without=["Content-Type"]), "APPLIED"),
    authentic("D51 the largest body", padded, "APPLIED"),
]


def compressed(shop: Shop, order_no: str) -> bytes:
    body = stripe_paid(order_no)
    return call(shop.stripe, body, sent=gzip.compress(body), extra=[("Content-Encoding", "gzip")])


def labelled(encoding: str) -> Make:
    return stripe(extra=[("Content-Encoding", encoding)])


def length(*values: str) -> Make:
    """The body with these for its Content-Length."""
    return stripe(without=["Content-Length"], extra=[("Content-Length", value) for value in values])


def transferred(coding: str, *, with_length: bool = False) -> Make:
    def make(shop: Shop, order_no: str) -> bytes:
        body = stripe_paid(order_no)
        return call(
            shop.stripe,
            body,
            sent=chunks(body),
            without=() if with_length else ["Content-Length"],
            extra=[("Transfer-Encoding", coding)],
        )

    return make


def smuggled(shop: Shop, order_no: str) -> bytes:
    """By its length one request, by its coding two."""
    hidden = call(shop.stripe, stripe_paid(order_no))
    return call(
        shop.stripe, b"", sent=b"0\r\n\r\n" + hidden, extra=[("Transfer-Encoding", "chunked")]
    )


def oversize(shop: Shop, order_no: str) -> bytes:
    body = custom_body(order_no)
    return call(shop.custom, body + b" " * (256 * 1024 + 1 - len(body)))


def oversize_in_chunks(shop: Shop, order_no: str) -> bytes:
    body = custom_body(order_no) + b" " * (300 * 1024)
    return call(
        shop.custom,
        body,
        sent=chunks(body),
        without=["Content-Length"],
        extra=[("Transfer-Encoding", "chunked")],
    )


def twin(name: str, value: str = "") -> Make:
    """Beside the right header another one, which differs by an underscore only."""
    return stripe(extra=[(name.replace("-", "_"), value)])


def signed_in_twin(shop: Shop, order_no: str) -> bytes:
    body = stripe_paid(order_no)
    return call(
        shop.stripe,
        body,
        without=["Stripe-Signature"],
        extra=[("Stripe_Signature", f"t={NOW},v1={'0' * 64}")],
    )


def path(written: str) -> Make:
    return lambda shop, order_no: call(
        shop.stripe,
        stripe_paid(order_no),
        path=written.replace("ACCOUNT", shop.stripe.name),
    )


def at_another(find: Callable[[Shop], ProviderAccount]) -> Make:
    """Signed for the one account, sent to the other."""

    def make(shop: Shop, order_no: str) -> bytes:
        return call(shop.stripe, stripe_paid(order_no), path=f"/callbacks/{find(shop).endpoint}")

    return make


def host(*values: str) -> Make:
    return stripe(without=["Host"], extra=[("Host", value) for value in values])


def bare(raw: str) -> Make:
    return lambda *_: raw.encode("latin-1")


ALLOW = {"allow": "POST"}

TRANSPORT = [
    Case("C50 compressed", compressed, 415),
    *(
        Case(f"C50 labelled {encoding}", labelled(encoding), 415)
        for encoding in ("gzip", "br", "deflate", "GZIP", "gzip, identity", "x", "identity, gzip")
    ),
    authentic("C50 labelled identity", labelled("identity"), "APPLIED"),
    Case("D51 one byte too many", oversize, 413),
    Case("D51 too many, in chunks", oversize_in_chunks, 411),
    *(
        Case(f"D51 {size} bytes announced", length(size), 413)
        for size in ("262145", "10737418240", "999999999999")
    ),
    Case("D54 chunked", transferred("chunked"), 411),
    Case("D54 chunked, with a length", transferred("chunked", with_length=True), 411),
    Case("D54 chunked and compressed", transferred("gzip, chunked"), 411),
    Case("D54 another coding", transferred("identity"), 400),
    Case("D54 another coding, with a length", transferred("identity", with_length=True), 400),
    Case("D54 a request within another", smuggled, 411),
    Case("D54 no length", stripe(without=["Content-Length"]), 411),
    *(
        Case(f"D54 a length of {written!r}", length(written), 400)
        for written in ("-1", "+10", "abc", "1_0", "0x10", "1e3", "1.0", "10, 10", "9" * 30, "")
    ),
    Case("D54 two lengths", length("10", "11"), 400),
    Case("D53 shorter than announced", length("100000"), 400, half_close=True),
    *(
        Case(f"D54 a header with {name}", stripe(extra=[raw]), 400)
        for name, raw in {
            "NUL": b"X-A: a\0b",
            "a folded line": b"X-A: a\r\n b",
            "a bare carriage return": b"X-A: a\rb",
            "a space before its colon": b"X-A : b",
            "no colon": b"X-A",
            "no name": b": a",
        }.items()
    ),
    authentic(
        "D54 a line that ends without a carriage return",
        stripe(extra=[b"X-A: a\nX-B: b"]),
        "APPLIED",
    ),
    authentic("D55 a header of 9 KB", stripe(extra=[("X-A", "a" * 9216)]), "APPLIED"),
    Case("D55 a header of 100 KB", stripe(extra=[("X-A", "a" * 102_400)]), 431),
    Case("D55 200 headers", stripe(extra=[(f"X-{n}", "a") for n in range(200)]), 431),
    authentic(
        "D55 bytes beyond ASCII in a header", stripe(extra=[("X-A", "caf\xe9\xff")]), "APPLIED"
    ),
    forged("D55 a twin of the signature", twin("Stripe-Signature", f"t={NOW},v1=00")),
    forged("D55 a forged twin alone", signed_in_twin),
    Case("D55 a twin of the content's coding", twin("Content-Encoding", "gzip"), 415),
    Case("D55 a twin of the transfer's coding", twin("Transfer-Encoding", "chunked"), 411),
    authentic("D55 a twin of the length", twin("Content-Length", "1"), "APPLIED"),
    authentic("D55 a repeated header", stripe(extra=[("X-A", "1"), ("X-A", "2")]), "APPLIED"),
    *(
        Case(f"D56 {method}", stripe(method=method), 405, headers=ALLOW)
        for method in (
            *("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
            *("PROPFIND", "POSTS"),
        )
    ),
    Case(
        "D56 GET with a body at an unknown address",
        stripe(method="GET", path="/callbacks/stripe/none"),
        405,
        headers=ALLOW,
    ),
    Case(
        "D56 not HTTP", bare("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), 400, half_close=True
    ),
    authentic("D57 a slash at the end", path("/callbacks/stripe/ACCOUNT/"), "APPLIED"),
    authentic("D57 a query", path("/callbacks/stripe/ACCOUNT?a=1&a=2"), "APPLIED"),
    authentic("D57 escaped letters", path("/callbacks/stripe/%6dain"), "APPLIED"),
    *(
        Case(f"D57 {written}", path(written), 404)
        for written in (
            *(
                "//callbacks/stripe/ACCOUNT",
                "/callbacks//stripe/ACCOUNT",
                "/callbacks/stripe//ACCOUNT",
            ),
            *(
                "/callbacks/stripe/ACCOUNT//",
                "/CALLBACKS/stripe/ACCOUNT",
                "/callbacks/STRIPE/ACCOUNT",
            ),
            *(
                "/callbacks/stripe/MAIN",
                "/callbacks/stripe/ACCOUNT/x",
                "/callbacks/stripe",
                "/callbacks/",
            ),
            *(
                "/callbacks/stripe/..;/ACCOUNT",
                "/callbacks/stripe/x/../ACCOUNT",
                "/./callbacks/stripe/x",
            ),
            *(
                "/callbacks/stripe/%256dain",
                "/callbacks/stripe/ACCOUNT%00",
                "/callbacks/stripe/ACCOUNT%0a",
            ),
            *(
                "/callbacks/stripe/ACCOUNT;x=1",
                "/callbacks/stripe/ACCOUNT%20",
                "/callbacks/stripe/%ff",
            ),
            *(
                "/callbacks/alipay/ACCOUNT",
                "/callbacks/stripe/none",
                "/callbacks/stripe/" + "x" * 5000,
            ),
            *("/callbacks/__init__/x", "*", "/"),
        )
    ),
    Case("D57 an account that is switched off", at_another(lambda shop: shop.inactive), 404),
    forged("D57 another merchant's account", at_another(lambda shop: shop.foreign)),
    forged("D57 another account of ours", at_another(lambda shop: shop.test_mode)),
    forged("D57 another provider's account", at_another(lambda shop: shop.custom)),
    *(
        authentic(f"D58 the host {written}", host(written), "APPLIED")
        for written in (
            "localhost",
            "LOCALHOST",
            "127.0.0.1",
            "127.0.0.1:8000",
            "[::1]",
            "localhost:1",
        )
    ),
    *(
        Case(f"D58 the host {written!r}", host(written), 400)
        for written in (
            *("evil.test", "localhost.evil.test", "127.0.0.1@evil.test", "a b", "evil.test:x"),
            *("localhost/x", "", "[::1", "169.254.169.254"),
        )
    ),
    Case("D58 two hosts", host("localhost", "evil.test"), 400),
    *(
        authentic(f"D58 {name}", stripe(extra=[(name, value)]), "APPLIED")
        for name, value in {
            "X-Forwarded-For": "127.0.0.1, 10.0.0.1",
            "X-Forwarded-Host": "evil.test",
            "X-Forwarded-Proto": "http",
            "Forwarded": "for=127.0.0.1;host=evil.test",
            "X-Real-IP": "10.0.0.1",
            "X-Original-URL": "/admin/",
            "X-HTTP-Method-Override": "DELETE",
            "Origin": "https://evil.test",
            "Referer": "https://evil.test/",
            "Cookie": f"sessionid={'s' * 32}; csrftoken={'c' * 32}",
            "Authorization": "Bearer pk_x_y",
            "Sec-Fetch-Site": "cross-site",
            "X-CSRFToken": "x",
            "Expect": "100-continue",
            "Range": "bytes=0-1",
            "If-None-Match": "*",
        }.items()
    ),
]

NASTY = 'a\r\nSet-Cookie: x=1\n{"event":"forged"}\x1b[31m%n%s\u2028\x85\x7f<script>\'"--'

INJECTION = [
    authentic("E61 control characters in a name", custom_says(payer=NASTY), "APPLIED"),
    authentic("E61 control characters in the type", custom_says(type=NASTY), *UNREADABLE),
    authentic(
        "E61 control characters in the order's number", custom_says(order=NASTY), *UNREADABLE
    ),
    authentic(
        "E61 control characters in the payment's number", custom_says(payment_id=NASTY), *UNREADABLE
    ),
    authentic("E61 control characters in the id", custom_says(id=NASTY), *UNREADABLE),
    authentic("E61 control characters in the currency", custom_says(currency=NASTY), *UNREADABLE),
    authentic("E61 control characters in the account", custom_says(merchant=NASTY), *UNREADABLE),
    authentic("E61 control characters in the time", custom_says(at=NASTY), "APPLIED"),
    authentic("E61 a field of 250 kB", custom_says(payer="x" * 250_000), "APPLIED"),
    authentic("E61 a type of 250 kB", custom_says(type="x" * 250_000), *UNREADABLE),
    Case("E61 a field of 1 MB", custom_says(payer="x" * 2**20), 413),
    authentic(
        "E62 SQL, HTML, a formula, a template",
        custom_says(payer="=1+1'; DROP TABLE orders_order;--<img src=x>{{7*7}}${7*7}"),
        "APPLIED",
    ),
    authentic("E62 SQL for an order", custom_says(order="1' OR '1'='1"), *UNREADABLE),
    authentic("E62 SQL for a payment", custom_says(payment_id="1'OR'1'='1"), "APPLIED"),
]

TABLE = {
    "authenticity": AUTHENTICITY,
    "meaning": MEANING,
    "content": CONTENT,
    "transport": TRANSPORT,
    "injection": INJECTION,
}


@pytest.mark.parametrize("part", TABLE)
def test_bad_input_is_answered_and_recorded_as_the_table_says(
    shop: Shop, part: str, subtests: pytest.Subtests
) -> None:
    for case in TABLE[part]:
        with subtests.test(case.name):
            _hold(case, shop)


def _hold(case: Case, shop: Shop) -> None:
    order = OrderFactory.create(merchant=shop.merchant)
    raw = case.make(shop, order.order_no)
    before = books()
    answer = wire.send(shop.web.url, raw, and_say_no_more=case.half_close)
    after = books()

    # Who has closed its half may find the whole connection closed.
    assert answer.status in ({case.status, 0} if case.half_close else {case.status})
    assert case.headers.items() <= answer.headers.items()
    assert answer.headers.keys().isdisjoint({"location", "set-cookie"})
    if case.status == 401:
        assert answer.body == b"not authentic"
    if not case.outcome:
        assert after == before
        return
    delivery = Delivery.objects.latest("id")
    reason = case.reason.replace("NO_MONEY", "AMOUNT_MISMATCH")
    assert (delivery.outcome, delivery.reason) == (case.outcome, reason)
    assert growth(before, after) == {"delivery": 1, **GROWTH[case.outcome, case.reason]}
    assert raw.endswith(bytes(delivery.body or b""))
    assert answer.body == b"ok"
    order.refresh_from_db()
    told_before = case.outcome in {"DUPLICATE", "RECORDED"} or case.reason == "TRANSACTION_ALTERED"
    assert order.status == "PAID" if case.outcome == "APPLIED" else told_before or "WAIT_PAY"
