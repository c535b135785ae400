"""B: authentic, and still not simply a payment of this order."""

import json
from collections.abc import Mapping
from typing import Any

from tests import wire
from tests.factories import OrderFactory
from tests.payments.bad_inputs.cases import (
    MISMATCH,
    NO_MONEY,
    OTHER_CURRENCY,
    OTHER_PAYEE,
    UNREADABLE,
    WRONG_MODE,
    Make,
    authentic,
    custom_bytes,
    custom_says,
    stripe_says,
)
from tests.payments.bad_inputs.shop import PAST, Shop
from tests.payments.over_http import (
    call,
    custom_body,
    custom_paid,
    number,
    stripe_paid,
)


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
