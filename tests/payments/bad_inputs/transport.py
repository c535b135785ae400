"""D: the connection, the framing, the address, and the headers."""

import gzip
from collections.abc import Callable

from payments.models import ProviderAccount
from tests.payments.bad_inputs.cases import (
    NOW,
    Case,
    Make,
    authentic,
    chunks,
    forged,
    stripe,
)
from tests.payments.bad_inputs.shop import Shop
from tests.payments.over_http import (
    call,
    custom_body,
    stripe_paid,
)


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
    return call(shop.custom, body + b" " * (1024 * 1024 + 1 - len(body)))


def oversize_in_chunks(shop: Shop, order_no: str) -> bytes:
    body = custom_body(order_no) + b" " * (1200 * 1024)
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
        for size in ("1048577", "10737418240", "999999999999")
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
