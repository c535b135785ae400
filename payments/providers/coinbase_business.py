"""Coinbase Business: checkouts and payment links.

Signed (``X-Hook0-Signature``, the hook0 format): ``v0`` the time and the body; ``v1`` also the
headers that ``h`` names. Either proves the body, and nothing is read from headers. Signatures
are good for five minutes. The earlier product, Coinbase Commerce, has ended and is not spoken.

An event's id is its checkout's, the same for every event, so it is not used as one. The event
of a refund lists all refunds of the checkout, and each is told by its own number. Compared is
``amount``: Coinbase's fee is the merchant's. Payments are in USDC, which no currency table
knows: with the setting ``usdc_is_usd`` a USDC is a US dollar, as Coinbase redeems it; without,
such a payment waits for a person.
https://docs.cdp.coinbase.com/coinbase-business/checkout-apis/webhooks
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orders.strict_json import JsonObject, StrictJsonError, at, text
from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule, TimestampRule
from payments.providers.mapped_events import MappedEvents, Settings
from payments.providers.port import SignedRequest
from payments.providers.stated_money import MAJOR

FACTS: Final = Facts(
    title="Coinbase Business",
    tier="second tier",
    signature="HMAC-SHA256, hex, header X-Hook0-Signature (v0 or v1), within 5 minutes",
    signed="the time and the body; with v1 some headers too",
    unsigned="headers, unless v1 names them",
    retries="not published",
    acknowledgement="any 2xx",
    order="metadata.order_id, .orderId or .order_no",
    amount="amount, before Coinbase's fee; USDC counts as USD only with usdc_is_usd",
    refund="refunds[].id",
    settings="order, usdc_is_usd",
    source="https://docs.cdp.coinbase.com/coinbase-business/checkout-apis/webhooks",
    evidence="documentation; samples made with openssl, no SDK verifies offline",
    keys=(KeyFact("signature", "the webhook subscription's secret"),),
)
_HEADER: Final = "x-hook0-signature"
_V0: Final = HmacScheme(
    message=("timestamp", b".", "body"),
    signature=SignatureRule(header=_HEADER, format="kv", key="v0"),
    timestamp=TimestampRule(item="t"),
)


def _scheme_of(request: SignedRequest) -> HmacScheme:
    """v1 where the signature names headers, with their values as they came; else v0.

    A dot inside a value could be taken for the one that ends it; then the body would no longer
    be JSON by itself, and it is refused as such.
    """
    written = request.header(_HEADER) or ""
    items = [item.partition("=") for item in written[: _V0.signature.max_header_bytes].split(",")]
    if any(name == "v0" for name, _, _ in items):
        return _V0
    names = next((value for name, _, value in items if name == "h"), "")
    values = ".".join(request.header(name) or "" for name in names.split(" "))
    covered = f".{names}.{values}.".encode(errors="replace")
    return replace(
        _V0, message=("timestamp", covered, "body"), signature=replace(_V0.signature, key="v1")
    )


def _events(document: Any, settings: Settings) -> Sequence[Any]:
    """The event; a refund's as often as it lists refunds."""
    refunds = at(document, "refunds")
    listed = refunds if isinstance(refunds, list) else []
    if settings.get("usdc_is_usd"):
        for thing in (document, at(document, "data"), *listed):
            if isinstance(thing, JsonObject) and thing.get("currency") == "USDC":
                thing["currency"] = "USD"
    if text(document, "eventType") not in _REFUND.kinds:
        return [document]
    if not listed:
        raise StrictJsonError("a refund that is not listed in refunds")
    return [_with(document, refund) for refund in listed]


def _with(document: JsonObject, refund: Any) -> JsonObject:
    event = JsonObject([*document.items(), ("refund", refund)])
    event.ambiguous |= document.ambiguous
    return event


_REFUND_STATES: Final = {
    "PENDING": Kind.PENDING,
    "COMPLETED": Kind.REFUNDED,
    "FAILED": Kind.REFUND_FAILED,
}
_PAYMENT: Final = FieldMap(
    type=paths("/eventType"),
    transaction=paths("/data/id", "/id"),
    order=paths(
        "/metadata/order_id",
        "/metadata/orderId",
        "/metadata/order_no",
        "/data/metadata/order_id",
        "/data/metadata/orderId",
        "/data/metadata/order_no",
    ),
    amount=paths("/data/amount", "/amount"),
    amount_rule=MAJOR,
    currency=paths("/data/currency", "/currency"),
    occurred_at=paths("/data/updatedAt", "/updatedAt"),
    kinds={
        "checkout.payment.success": Kind.PAID,
        "checkout.payment.failed": Kind.FAILED,
        "checkout.payment.expired": Kind.CLOSED,
        "payment_link.payment.success": Kind.PAID,
        "payment_link.payment.failed": Kind.FAILED,
        "payment_link.payment.expired": Kind.CLOSED,
    },
)
_REFUND: Final = replace(
    _PAYMENT,
    transaction=paths("/refund/id"),
    amount=paths("/refund/amount"),
    currency=paths("/refund/currency"),
    linked=paths("/id"),
    reverses=paths("/id"),
    status=paths("/refund/status"),
    occurred_at=paths("/refund/completedAt"),
    kinds={"checkout.refund.success": _REFUND_STATES, "checkout.refund.failed": _REFUND_STATES},
)

COINBASE_BUSINESS: Final = HmacProvider(
    facts=FACTS,
    scheme=_V0,
    scheme_of=_scheme_of,
    events=MappedEvents(maps=(_PAYMENT, _REFUND), items=_events, flags=("usdc_is_usd",)),
)
