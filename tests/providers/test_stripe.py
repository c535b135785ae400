import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Unreadable
from payments.providers.port import Misconfigured, Reason, Rejected, Verified
from payments.providers.stripe import Stripe
from tests.signing import STRIPE_SECRET, an_account, as_request, signed_stripe, stripe_event

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ORDER = {"order_id": "O-43"}
PAYMENT_INTENT: dict[str, Any] = {
    "id": "pi_1",
    "object": "payment_intent",
    "amount": 900,
    "amount_received": 900,
    "currency": "eur",
    "latest_charge": "ch_1",
    "metadata": ORDER,
}
CHARGE: dict[str, Any] = {
    "id": "ch_1",
    "object": "charge",
    "amount": 900,
    "amount_captured": 900,
    "currency": "eur",
    "paid": True,
    "captured": True,
    "payment_intent": "pi_1",
    "metadata": ORDER,
}
SESSION: dict[str, Any] = {
    "id": "cs_1",
    "object": "checkout.session",
    "amount_total": 900,
    "currency": "eur",
    "payment_status": "paid",
    "payment_intent": "pi_1",
    "client_reference_id": "O-43",
    "metadata": {},
}
REFUND: dict[str, Any] = {
    "id": "re_1",
    "object": "refund",
    "amount": 500,
    "currency": "eur",
    "status": "succeeded",
    "charge": "ch_1",
    "payment_intent": "pi_1",
}
DISPUTE: dict[str, Any] = {
    "id": "dp_1",
    "object": "dispute",
    "amount": 900,
    "currency": "eur",
    "status": "needs_response",
    "charge": "ch_1",
    "payment_intent": "pi_1",
}


def read_body(body: bytes, settings: Mapping[str, Any] | None = None) -> Callback | Unreadable:
    account = an_account(STRIPE_SECRET, settings=settings)
    (reading,) = Stripe().read(as_request(body, {}), account)
    return reading


def read(event_type: str, thing: Mapping[str, Any], **changes: Any) -> Callback:
    reading = read_body(stripe_event(event_type, {**thing, **changes}))
    assert isinstance(reading, Callback), reading
    return reading


def test_an_event_is_read_completely() -> None:
    body = stripe_event("payment_intent.succeeded", PAYMENT_INTENT, account="acct_9")
    assert read_body(body) == Callback(
        event_id="evt_1",
        event_type="payment_intent.succeeded",
        kind=Kind.PAID,
        txn_no="pi_1",
        order_no="O-43",
        money=Money(900, "EUR"),
        account_no="acct_9",
        live=False,
        occurred_at=datetime(2025, 12, 31, 23, 59, 54, tzinfo=UTC),
        linked_nos=("pi_1", "ch_1"),
    )


def test_three_events_about_one_payment_are_one_transaction() -> None:
    readings = [
        read("payment_intent.succeeded", PAYMENT_INTENT),
        read("charge.succeeded", CHARGE),
        read("checkout.session.completed", SESSION),
    ]
    assert {
        (reading.kind, reading.txn_no, reading.order_no, reading.money) for reading in readings
    } == {(Kind.PAID, "pi_1", "O-43", Money(900, "EUR"))}
    assert [reading.linked_nos for reading in readings] == [
        ("pi_1", "ch_1"),
        ("ch_1", "pi_1"),
        ("cs_1", "pi_1"),
    ]


def test_a_payment_without_a_payment_intent_is_known_by_its_own_id() -> None:
    assert read("charge.succeeded", CHARGE, payment_intent=None).txn_no == "ch_1"
    assert read("checkout.session.completed", SESSION, payment_intent=None).txn_no == "cs_1"


def test_an_expanded_reference_is_the_same_reference() -> None:
    reading = read("charge.succeeded", CHARGE, payment_intent=PAYMENT_INTENT)
    assert (reading.txn_no, reading.linked_nos) == ("pi_1", ("ch_1", "pi_1"))


KINDS: list[tuple[str, dict[str, Any], dict[str, Any], Kind]] = [
    ("payment_intent.processing", PAYMENT_INTENT, {}, Kind.PENDING),
    ("payment_intent.amount_capturable_updated", PAYMENT_INTENT, {}, Kind.AUTHORIZED),
    ("payment_intent.payment_failed", PAYMENT_INTENT, {}, Kind.FAILED),
    ("payment_intent.canceled", PAYMENT_INTENT, {}, Kind.CLOSED),
    ("charge.succeeded", CHARGE, {"captured": False}, Kind.AUTHORIZED),
    ("charge.succeeded", CHARGE, {"paid": False}, Kind.AUTHORIZED),
    ("charge.succeeded", CHARGE, {"captured": None}, Kind.AUTHORIZED),
    ("charge.captured", CHARGE, {}, Kind.PAID),
    ("charge.pending", CHARGE, {}, Kind.PENDING),
    ("charge.failed", CHARGE, {}, Kind.FAILED),
    ("charge.expired", CHARGE, {}, Kind.CLOSED),
    ("checkout.session.completed", SESSION, {"payment_status": "unpaid"}, Kind.PENDING),
    ("checkout.session.completed", SESSION, {"payment_status": "new_one"}, Kind.PENDING),
    (
        "checkout.session.completed",
        SESSION,
        {"payment_status": "no_payment_required", "amount_total": 0},
        Kind.IGNORED,
    ),
    ("checkout.session.async_payment_succeeded", SESSION, {}, Kind.PAID),
    ("checkout.session.async_payment_failed", SESSION, {}, Kind.FAILED),
    ("checkout.session.expired", SESSION, {}, Kind.CLOSED),
    ("refund.created", REFUND, {"status": "pending"}, Kind.PENDING),
    ("refund.created", REFUND, {}, Kind.REFUNDED),
    ("refund.updated", REFUND, {}, Kind.REFUNDED),
    ("refund.updated", REFUND, {"status": "canceled"}, Kind.REFUND_FAILED),
    ("refund.updated", REFUND, {"status": None}, Kind.PENDING),
    ("refund.failed", REFUND, {"status": "failed"}, Kind.REFUND_FAILED),
    ("charge.refund.updated", REFUND, {}, Kind.REFUNDED),
    ("charge.dispute.created", DISPUTE, {}, Kind.DISPUTED),
    ("charge.dispute.created", DISPUTE, {"status": "warning_needs_response"}, Kind.PENDING),
    ("charge.dispute.closed", DISPUTE, {"status": "won"}, Kind.DISPUTE_WON),
    ("charge.dispute.closed", DISPUTE, {"status": "lost"}, Kind.DISPUTE_LOST),
    ("charge.dispute.closed", DISPUTE, {"status": "warning_closed"}, Kind.CLOSED),
    ("charge.dispute.updated", DISPUTE, {}, Kind.IGNORED),
    ("charge.dispute.funds_withdrawn", DISPUTE, {}, Kind.IGNORED),
    ("invoice.paid", {"id": "in_1", "amount_paid": 900, "currency": "eur"}, {}, Kind.IGNORED),
    ("product.updated", {"id": "prod_1"}, {}, Kind.IGNORED),
    ("brand.new_thing_2027", {}, {}, Kind.IGNORED),
]


@pytest.mark.parametrize(("event_type", "thing", "changes", "kind"), KINDS)
def test_an_event_means_what_stripe_says(
    event_type: str, thing: dict[str, Any], changes: dict[str, Any], kind: Kind
) -> None:
    reading = read(event_type, thing, **changes)
    assert reading.kind is kind
    if kind not in {Kind.PAID, Kind.IGNORED}:
        assert reading.txn_no == thing["id"]


def test_a_bank_debit_is_pending_under_the_session_and_paid_under_the_payment() -> None:
    unpaid = read("checkout.session.completed", SESSION, payment_status="unpaid")
    paid = read("checkout.session.async_payment_succeeded", SESSION)
    assert (unpaid.kind, unpaid.txn_no) == (Kind.PENDING, "cs_1")
    assert (paid.kind, paid.txn_no) == (Kind.PAID, "pi_1")
    assert "pi_1" in unpaid.linked_nos


def test_what_was_received_counts_and_not_what_was_asked() -> None:
    money = Money(400, "EUR")
    assert read("payment_intent.succeeded", PAYMENT_INTENT, amount_received=400).money == money
    assert read("charge.captured", CHARGE, amount_captured=400).money == money


@pytest.mark.parametrize("missing", ["amount_received", "latest_charge"])
def test_an_older_or_newer_shape_of_a_payment_is_still_paid(missing: str) -> None:
    thing = {name: value for name, value in PAYMENT_INTENT.items() if name != missing}
    for shape in (
        thing,
        {**thing, missing: None},
        {**thing, "charges": {"data": [CHARGE]}},
        {**thing, "brand_new": {"nested": [{"deep": None}]}, "last_payment_error": None},
    ):
        body = stripe_event("payment_intent.succeeded", shape, api_version="2031-01-01.new")
        reading = read_body(body)
        assert isinstance(reading, Callback)
        assert (reading.kind, reading.txn_no, reading.money) == (
            Kind.PAID,
            "pi_1",
            Money(900, "EUR"),
        )


def test_a_refunded_charge_without_its_refunds_states_the_total_of_the_charge() -> None:
    shapes: list[dict[str, Any]] = [
        {},
        {"refunds": None},
        {"refunds": {"data": []}},
        {"refunds": {}},
    ]
    for shape in shapes:
        reading = read("charge.refunded", CHARGE, amount_refunded=500, **shape)
        assert (reading.kind, reading.txn_no, reading.money, reading.linked_nos) == (
            Kind.REFUNDED,
            "ch_1",
            Money(500, "EUR"),
            ("ch_1", "pi_1"),
        )


def test_a_refunded_charge_with_its_refunds_states_the_newest_one() -> None:
    refunds = {"data": [{**REFUND, "id": "re_2", "amount": 300}, REFUND]}
    reading = read("charge.refunded", CHARGE, amount_refunded=800, refunds=refunds)
    assert (reading.kind, reading.txn_no, reading.money, reading.order_no) == (
        Kind.REFUNDED,
        "re_2",
        Money(300, "EUR"),
        "O-43",
    )
    assert reading.linked_nos == ("re_2", "pi_1", "ch_1")


@pytest.mark.parametrize(
    ("amount", "currency", "money"),
    [
        (1099, "usd", Money(1099, "USD")),
        (500, "jpy", Money(500, "JPY")),
        (500, "krw", Money(500, "KRW")),
        (18600, "kwd", Money(18600, "KWD")),
        (1860, "kwd", Money(1860, "KWD")),
        (92000, "bhd", Money(92000, "BHD")),
        (50000, "isk", Money(500, "ISK")),
        (50000, "ugx", Money(500, "UGX")),
        (500, "mga", Money(50000, "MGA")),
        (500, "twd", Money(500, "TWD")),
        (0, "usd", Money(0, "USD")),
        (-1, "usd", Money(-1, "USD")),
    ],
)
def test_amounts_are_in_stripes_minor_units(amount: int, currency: str, money: Money) -> None:
    reading = read(
        "payment_intent.succeeded", PAYMENT_INTENT, amount_received=amount, currency=currency
    )
    assert reading.money == money


def test_half_a_krona_is_kept_in_stripes_words() -> None:
    reading = read("payment_intent.succeeded", PAYMENT_INTENT, amount_received=550, currency="isk")
    assert (reading.kind, reading.money, reading.stated_amount) == (Kind.PAID, None, "550 ISK")


@pytest.mark.parametrize(
    ("metadata", "reference", "order_no"),
    [
        ({"order_id": "O-1", "order_no": "O-2"}, "O-3", "O-1"),
        ({"order_no": "O-2"}, "O-3", "O-2"),
        ({"order_id": "", "order_no": None}, "O-3", "O-3"),
        ({}, None, None),
        (None, "", None),
        ({"order_id": 90071992547409931}, None, "90071992547409931"),
    ],
)
def test_the_order_is_in_the_metadata_or_the_client_reference(
    metadata: Any, reference: Any, order_no: str | None
) -> None:
    reading = read(
        "checkout.session.completed", SESSION, metadata=metadata, client_reference_id=reference
    )
    assert (reading.kind, reading.order_no) == (Kind.PAID, order_no)


def test_the_account_may_name_the_metadata_key() -> None:
    body = stripe_event(
        "payment_intent.succeeded",
        {**PAYMENT_INTENT, "metadata": {"order_id": "theirs", "shop_order": "O-1"}},
    )
    reading = read_body(body, {"order_key": "shop_order"})
    assert isinstance(reading, Callback)
    assert reading.order_no == "O-1"


@pytest.mark.parametrize("live", [True, False, None])
def test_the_mode_is_stated_by_the_event(live: bool | None) -> None:
    reading = read_body(stripe_event("payment_intent.succeeded", PAYMENT_INTENT, livemode=live))
    assert isinstance(reading, Callback)
    assert reading.live is live


@pytest.mark.parametrize("created", [None, "", "soon", 0, 10**15, 1.5])
def test_a_bad_time_leaves_the_payment_paid(created: Any) -> None:
    reading = read_body(stripe_event("payment_intent.succeeded", PAYMENT_INTENT, created=created))
    assert isinstance(reading, Callback)
    assert (reading.kind, reading.occurred_at) == (Kind.PAID, None)


def test_thin_events_are_ignored() -> None:
    body = json.dumps(
        {
            "id": "evt_thin",
            "object": "v2.core.event",
            "type": "payment_intent.succeeded",
            "created": "2026-01-01T00:00:00.000Z",
            "related_object": {"id": "pi_1"},
        }
    ).encode()
    assert read_body(body) == Callback(
        event_id="evt_thin", event_type="payment_intent.succeeded", kind=Kind.IGNORED
    )


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"id": None}, "id is missing"),
        ({"id": 1.5}, "id is not an id"),
        ({"type": None}, "type is missing"),
        ({"type": ["x"]}, "type is not text"),
        ({"data": {}}, "a payment without an amount or without a currency"),
        ({"data": None}, "a payment without an amount or without a currency"),
        ({"data": {"object": []}}, "data.object is not an object"),
        ({"data": "x"}, "data is not an object"),
        ({"livemode": "false"}, "livemode is neither true nor false"),
        ({"livemode": 0}, "livemode is neither true nor false"),
        ({"account": {}}, "account is not an id"),
    ],
)
def test_an_event_of_another_shape_is_unreadable(fields: dict[str, Any], why: str) -> None:
    reading = read_body(stripe_event("payment_intent.succeeded", PAYMENT_INTENT, **fields))
    assert isinstance(reading, Unreadable), reading
    assert reading.why.startswith(why)


@pytest.mark.parametrize(
    "changes",
    [
        {"amount_received": 900.5},
        {"amount_received": 900.0},
        {"amount_received": True},
        {"amount_received": {}},
        {"amount_received": 2**63},
        {"amount_received": None, "amount": None},
        {"currency": None},
        {"currency": "xxx"},
        {"currency": "€"},
        {"currency": "\ufb06n"},
        {"id": None},
        {"id": ""},
        {"metadata": "O-43"},
        {"metadata": {"order_id": "O\x0043"}},
        {"metadata": {"order_id": "O 43"}},
        {"metadata": {"order_id": {"id": 1}}},
    ],
)
def test_a_payment_with_an_impossible_value_is_unreadable(changes: dict[str, Any]) -> None:
    reading = read_body(stripe_event("payment_intent.succeeded", {**PAYMENT_INTENT, **changes}))
    assert isinstance(reading, Unreadable), reading
    assert reading.event_id == "evt_1"


def test_an_id_that_is_no_id_does_not_name_what_is_unreadable() -> None:
    body = stripe_event("payment_intent.succeeded", PAYMENT_INTENT, event_id="evt 1")
    reading = read_body(body)
    assert isinstance(reading, Unreadable)
    assert reading.event_id == hashlib.sha256(body).hexdigest()


def test_a_name_repeated_in_what_is_read_is_unreadable_and_elsewhere_harmless() -> None:
    body = stripe_event("payment_intent.succeeded", PAYMENT_INTENT)

    def twice(name: bytes, first: bytes) -> Callback | Unreadable:
        assert body.count(b'"%s":' % name) == 1
        return read_body(body.replace(b'"%s":' % name, b'"%s": %s, "%s":' % (name, first, name)))

    for name in (b"amount_received", b"currency", b"order_id", b"type", b"data", b"created"):
        reading = twice(name, b'"1"')
        assert isinstance(reading, Unreadable), name
        assert reading.why.endswith(f"{name.decode()} occurs more than once")
    harmless = body.replace(b'"object": "payment_intent"', b'"x": {"a": 1, "a": 2}, "y": 1, "y": 2')
    assert isinstance(read_body(harmless), Callback)


def test_nul_in_what_nobody_reads_is_harmless() -> None:
    reading = read(
        "payment_intent.succeeded",
        PAYMENT_INTENT,
        description="A\x00B",
        note="\\u0000 literal",
        half="\ud800",
    )
    assert (reading.kind, reading.order_no) == (Kind.PAID, "O-43")


def test_both_secrets_of_a_rollover_prove_the_event() -> None:
    body = stripe_event("payment_intent.succeeded", PAYMENT_INTENT)
    old, new = (
        signed_stripe(body, "whsec_the_old_one_5kQ2", NOW),
        signed_stripe(body, STRIPE_SECRET, NOW),
    )
    both = f"{old['Stripe-Signature']},{new['Stripe-Signature'].split(',')[1]}"
    for header in (both, new["Stripe-Signature"]):
        verdict = Stripe().authenticate(
            as_request(body, {"Stripe-Signature": header}), an_account(STRIPE_SECRET), now=NOW
        )
        assert verdict == Verified("k0")


def test_the_fake_scheme_of_test_mode_proves_nothing() -> None:
    body = stripe_event("payment_intent.succeeded", PAYMENT_INTENT)
    header = signed_stripe(body, STRIPE_SECRET, NOW)["Stripe-Signature"].replace("v1=", "v0=")
    verdict = Stripe().authenticate(
        as_request(body, {"Stripe-Signature": header}), an_account(STRIPE_SECRET), now=NOW
    )
    assert verdict == Rejected(Reason.SIGNATURE_MALFORMED)


@pytest.mark.parametrize(
    ("secret", "why"),
    [
        ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "is not an endpoint's signing secret"),
        ("", "is not an endpoint's signing secret"),
        ("whsec_short", "is shorter than 16 bytes"),
        (STRIPE_SECRET + "\n", "begins or ends with a space or a line break"),
    ],
)
def test_a_key_that_is_no_signing_secret_is_refused(secret: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why):
        Stripe().check_settings(an_account(STRIPE_SECRET, secret))


def test_unknown_settings_are_refused() -> None:
    Stripe().check_settings(an_account(STRIPE_SECRET, settings={"order_key": "shop_order"}))
    for settings, why in (
        ({"orderkey": "x"}, "settings.orderkey is not a known setting"),
        ({"order_key": 5}, "settings.order_key must be text"),
    ):
        with pytest.raises(Misconfigured, match=f"^{why}$"):
            Stripe().check_settings(an_account(STRIPE_SECRET, settings=settings))
