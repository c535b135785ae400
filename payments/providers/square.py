"""Square.

Signed: the notification URL exactly as it is registered (scheme, host, slash, query), then the
body; so the public URL must be configured right. There is no timestamp, and the older
``x-square-signature`` (SHA-1) is not accepted. Whether it is the sandbox stands in an unsigned
header only: the key decides.

`payment.updated` is repeated for every change of a payment, refunds included, and stays
COMPLETED. APPROVED is an authorisation. Tips stand apart (`tip_money`): compared is
`amount_money`, what was asked for. An inquiry is no dispute yet and moves no money.
https://developer.squareup.com/docs/webhooks/step3validate
"""

from dataclasses import replace
from typing import Final

from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents
from payments.providers.stated_money import MINOR

FACTS: Final = Facts(
    title="Square",
    tier="first class",
    signature="HMAC-SHA256, base64, header x-square-hmacsha256-signature",
    signed="the registered notification URL and the body",
    unsigned="headers: square-environment, square-retry-number",
    retries="11 over 24 hours; disabled after three weeks without one success",
    acknowledgement="any 2xx within 10 s",
    order="payment.reference_id",
    amount="amount_money, without tip_money; minor units",
    refund="refund.id",
    settings="order",
    source="https://developer.squareup.com/docs/webhooks/overview",
    evidence="documentation; SDK 46 verifies the samples; five official samples",
    keys=(KeyFact("signature", "the webhook subscription's signature key"),),
)

_PAYMENT_STATES: Final = {
    "APPROVED": Kind.AUTHORIZED,
    "PENDING": Kind.PENDING,
    "COMPLETED": Kind.PAID,
    "CANCELED": Kind.CLOSED,
    "FAILED": Kind.FAILED,
}
_REFUND_STATES: Final = {
    "PENDING": Kind.PENDING,
    "COMPLETED": Kind.REFUNDED,
    "REJECTED": Kind.REFUND_FAILED,
    "FAILED": Kind.REFUND_FAILED,
}
_DISPUTE_STATES: Final = {
    "INQUIRY_EVIDENCE_REQUIRED": Kind.PENDING,
    "INQUIRY_PROCESSING": Kind.PENDING,
    "INQUIRY_CLOSED": Kind.CLOSED,
    "EVIDENCE_REQUIRED": Kind.DISPUTED,
    "PROCESSING": Kind.DISPUTED,
    "WAITING_THIRD_PARTY": Kind.DISPUTED,
    "WON": Kind.DISPUTE_WON,
    "LOST": Kind.DISPUTE_LOST,
    "ACCEPTED": Kind.DISPUTE_LOST,
}
_PAYMENT: Final = FieldMap(
    type=paths("/type"),
    event_id=paths("/event_id"),
    account=paths("/merchant_id"),
    transaction=paths("/data/object/payment/id"),
    order=paths("/data/object/payment/reference_id"),
    amount=paths("/data/object/payment/amount_money/amount"),
    amount_rule=MINOR,
    currency=paths("/data/object/payment/amount_money/currency"),
    status=paths("/data/object/payment/status"),
    linked=paths("/data/object/payment/order_id"),
    occurred_at=paths("/created_at"),
    kinds={"payment.created": _PAYMENT_STATES, "payment.updated": _PAYMENT_STATES},
)
_REFUND: Final = replace(
    _PAYMENT,
    transaction=paths("/data/object/refund/id"),
    order=(),
    amount=paths("/data/object/refund/amount_money/amount"),
    currency=paths("/data/object/refund/amount_money/currency"),
    status=paths("/data/object/refund/status"),
    linked=paths("/data/object/refund/payment_id", "/data/object/refund/order_id"),
    reverses=paths("/data/object/refund/payment_id"),
    kinds={"refund.created": _REFUND_STATES, "refund.updated": _REFUND_STATES},
)
_DISPUTE: Final = replace(
    _REFUND,
    transaction=paths("/data/object/dispute/id", "/data/object/dispute/dispute_id"),
    amount=paths("/data/object/dispute/amount_money/amount"),
    currency=paths("/data/object/dispute/amount_money/currency"),
    status=paths("/data/object/dispute/state"),
    linked=paths("/data/object/dispute/disputed_payment/payment_id"),
    reverses=paths("/data/object/dispute/disputed_payment/payment_id"),
    kinds={
        "dispute.created": _DISPUTE_STATES,
        "dispute.state.updated": _DISPUTE_STATES,
        "dispute.state.changed": _DISPUTE_STATES,
    },
)

SQUARE: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(
        message=("url", "body"),
        signature=SignatureRule(header="x-square-hmacsha256-signature", encoding="base64"),
    ),
    events=MappedEvents(maps=(_PAYMENT, _REFUND, _DISPUTE)),
)
