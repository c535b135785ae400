"""What each provider is answered, byte by byte: as little as makes it stop, or come again.

A duplicate, an ignored type and a parked payment are ACCEPTED like a first delivery; there is
no answer for them that could differ.
"""

import pytest

from payments.providers.port import Acknowledgement, Reply
from payments.providers.registry import PROVIDERS

PLAIN, JSON, XML = "text/plain", "application/json", "text/xml"
Answer = tuple[int, str, bytes]


def xml(code: bytes, message: bytes) -> bytes:
    return (
        b"<xml><return_code><![CDATA[" + code + b"]]></return_code>"
        b"<return_msg><![CDATA[" + message + b"]]></return_msg></xml>"
    )


#: Any 2xx will do, any other status makes it come again, and nobody reads the body.
BY_STATUS: tuple[Answer, Answer, Answer, Answer] = (
    (200, PLAIN, b"ok"),
    (401, PLAIN, b"not authentic"),
    (401, PLAIN, b"not authentic"),
    (503, PLAIN, b"try again later"),
)
#: Provider: ACCEPTED, REJECTED, UNKNOWN_KEY, UNAVAILABLE.
EXPECTED: dict[str, tuple[Answer, Answer, Answer, Answer]] = {
    "adyen": (
        (200, PLAIN, b"[accepted]"),
        (401, PLAIN, b"not authentic"),
        (401, PLAIN, b"not authentic"),
        (503, PLAIN, b"try again later"),
    ),
    "alipay": (
        (200, PLAIN, b"success"),
        (401, PLAIN, b"fail"),
        (401, PLAIN, b"fail"),
        (503, PLAIN, b"fail"),
    ),
    "braintree": BY_STATUS,
    "checkoutcom": BY_STATUS,
    "coinbase_business": BY_STATUS,
    "custom": BY_STATUS,
    "flutterwave_v3": BY_STATUS,
    "flutterwave_v4": BY_STATUS,
    "gocardless": (
        (204, PLAIN, b""),
        (498, PLAIN, b"not authentic"),
        (498, PLAIN, b"not authentic"),
        (503, PLAIN, b"try again later"),
    ),
    # By the status Midtrans counts its retries: five after 502, four after 503, one after 500.
    "midtrans": (
        (200, PLAIN, b"ok"),
        (401, PLAIN, b"not authentic"),
        (401, PLAIN, b"not authentic"),
        (502, PLAIN, b"try again later"),
    ),
    "mollie_classic": BY_STATUS,
    "mollie_nextgen": BY_STATUS,
    "paypal": BY_STATUS,
    "paystack": BY_STATUS,
    "razorpay": BY_STATUS,
    "shopify": BY_STATUS,
    "simulator": BY_STATUS,
    "square": BY_STATUS,
    "standardwebhooks": BY_STATUS,
    "stripe": BY_STATUS,
    "svix": BY_STATUS,
    "unionpay": BY_STATUS,
    "wechatpay_v2": (
        (200, XML, xml(b"SUCCESS", b"OK")),
        (401, XML, xml(b"FAIL", b"not authentic")),
        (401, XML, xml(b"FAIL", b"not authentic")),
        (503, XML, xml(b"FAIL", b"try again later")),
    ),
    "wechatpay_v3": (
        (200, PLAIN, b""),
        (401, JSON, b'{"code": "FAIL", "message": "not authentic"}'),
        (401, JSON, b'{"code": "FAIL", "message": "not authentic"}'),
        (503, JSON, b'{"code": "FAIL", "message": "try again later"}'),
    ),
    "xendit": BY_STATUS,
}


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_each_provider_is_answered_exactly_as_it_wants(name: str) -> None:
    answers = {
        reply: Acknowledgement(status, body, content_type)
        for reply, (status, content_type, body) in zip(Reply, EXPECTED[name], strict=True)
    }
    assert {reply: PROVIDERS[name].acknowledge(reply) for reply in Reply} == answers


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_no_answer_redirects_or_invites_a_retry_by_mistake(name: str) -> None:
    statuses = {reply: PROVIDERS[name].acknowledge(reply).status for reply in Reply}
    assert statuses[Reply.ACCEPTED] in {200, 204}
    assert statuses[Reply.REJECTED] in range(400, 500)
    assert statuses[Reply.UNKNOWN_KEY] in range(400, 600)
    assert statuses[Reply.UNAVAILABLE] in {502, 503}
