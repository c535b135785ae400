"""How a case of bad input is written down: its name, its request, and what must become of it."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.payments.bad_inputs.shop import Shop
from tests.payments.over_http import (
    call,
    custom_body,
    number,
    signed,
    standard_paid,
    stripe_paid,
)

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


def chunks(body: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


NOW = int(time.time())

MISMATCH, NO_MONEY = ("CONFLICT", "AMOUNT_MISMATCH"), ("CONFLICT", "NO_MONEY")
OTHER_CURRENCY, OTHER_PAYEE = ("CONFLICT", "CURRENCY_MISMATCH"), ("CONFLICT", "MERCHANT_MISMATCH")
UNREADABLE, WRONG_MODE = ("QUARANTINED", "UNREADABLE"), ("QUARANTINED", "WRONG_MODE")
