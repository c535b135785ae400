"""A: who says so, and when."""

import hmac
import json
from collections.abc import Callable

from tests.factories import STRIPE_SECRET
from tests.payments.bad_inputs.cases import (
    NOW,
    Case,
    Make,
    authentic,
    chunks,
    forged,
    stripe,
    stripe_signed,
)
from tests.payments.bad_inputs.shop import (
    ENDED_SECRET,
    FOREIGN_SECRET,
    OLD_SECRET,
    TEST_MODE_SECRET,
    Shop,
)
from tests.payments.over_http import (
    call,
    custom_body,
    signed,
    standard_paid,
    stripe_paid,
)
from tests.signing import CUSTOM_SECRET


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
