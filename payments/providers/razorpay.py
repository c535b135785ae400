"""Razorpay.

Signed: the body. The event id stands in a header only, which is not signed and not used. After
a change of the secret, repeats of older events are still signed with the old one.

`payment.captured`, `order.paid`, `invoice.paid` and `payment_link.paid` tell the same payment:
the transaction is the payment. `refund.created` may already say processed. A refund of a
payment that was never captured gives back an authorisation, no money of the merchant's.
The order number is Razorpay's own order id unless ``order`` names a note or the receipt
(``/payload/payment/entity/notes/order_no``). Where the customer bears the fee, ``amount``
includes it: the setting ``customer_bears_fee`` takes it off.
https://razorpay.com/docs/webhooks/validate-test/
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from orders.strict_json import at
from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents, Settings, without_fee
from payments.providers.stated_money import MINOR

FACTS: Final = Facts(
    title="Razorpay",
    tier="first class",
    signature="HMAC-SHA256, hex, header X-Razorpay-Signature",
    signed="the body",
    unsigned="headers, the event id (x-razorpay-event-id) among them",
    retries="for 24 hours; then the webhook is disabled",
    acknowledgement="any 2xx within 5 s",
    order="payment.order_id, Razorpay's; set order for a note or the receipt",
    amount="payment.amount, less fee where customer_bears_fee; minor units, three-decimal "
    "currencies end in 0",
    refund="refund.id",
    settings="order, customer_bears_fee",
    source="https://razorpay.com/docs/webhooks/",
    evidence="documentation; SDK 2.0 verifies the samples; one official sample",
    keys=(KeyFact("signature", "the secret that was set for the webhook"),),
)


def _refund_of(kind: Kind) -> Callable[[Any], Kind]:
    """The kind of a refund, unless what is given back was never captured."""

    def meaning(event: Any) -> Kind:
        captured = at(event, "payload", "payment", "entity", "captured")
        return Kind.CLOSED if captured is False else kind

    meaning.__doc__ = f"{kind}; CLOSED if the payment was never captured."
    return meaning


def _refund_created(event: Any) -> Kind:
    """PENDING; if processed at once as refund.processed."""
    status = at(event, "payload", "refund", "entity", "status")
    return _refund_of(Kind.REFUNDED)(event) if status == "processed" else Kind.PENDING


def _dispute_closed(event: Any) -> Kind:
    """DISPUTE_LOST if an amount was deducted, else DISPUTE_WON."""
    taken = at(event, "payload", "dispute", "entity", "amount_deducted")
    return Kind.DISPUTE_LOST if taken else Kind.DISPUTE_WON


def _owed(event: Any, settings: Settings) -> Sequence[Any]:
    if settings.get("customer_bears_fee"):
        without_fee(at(event, "payload", "payment", "entity"), "fee")
    return [event]


_PAYMENT: Final = FieldMap(
    type=paths("/event"),
    account=paths("/account_id"),
    transaction=paths("/payload/payment/entity/id"),
    order=paths("/payload/payment/entity/order_id"),
    amount=paths("/payload/payment/entity/amount"),
    amount_rule=MINOR,
    currency=paths("/payload/payment/entity/currency"),
    linked=paths("/payload/payment/entity/order_id", "/payload/payment/entity/invoice_id"),
    occurred_at=paths("/created_at"),
    kinds={
        "payment.authorized": Kind.AUTHORIZED,
        "payment.pending": Kind.PENDING,
        "payment.captured": Kind.PAID,
        "order.paid": Kind.PAID,
        "invoice.paid": Kind.PAID,
        "payment_link.paid": Kind.PAID,
        "payment.failed": Kind.FAILED,
    },
)
_REFUND: Final = replace(
    _PAYMENT,
    transaction=paths("/payload/refund/entity/id"),
    amount=paths("/payload/refund/entity/amount"),
    currency=paths("/payload/refund/entity/currency"),
    linked=paths("/payload/refund/entity/payment_id"),
    reverses=paths("/payload/refund/entity/payment_id"),
    kinds={
        "refund.created": _refund_created,
        "refund.processed": _refund_of(Kind.REFUNDED),
        "refund.failed": _refund_of(Kind.REFUND_FAILED),
    },
)
_DISPUTE: Final = replace(
    _PAYMENT,
    transaction=paths("/payload/dispute/entity/id"),
    amount=paths("/payload/dispute/entity/amount"),
    currency=paths("/payload/dispute/entity/currency"),
    linked=paths("/payload/dispute/entity/payment_id"),
    reverses=paths("/payload/dispute/entity/payment_id"),
    kinds={
        "payment.dispute.created": Kind.DISPUTED,
        "payment.dispute.won": Kind.DISPUTE_WON,
        "payment.dispute.lost": Kind.DISPUTE_LOST,
        "payment.dispute.closed": _dispute_closed,
    },
)
_LINK: Final = replace(
    _PAYMENT,
    transaction=paths("/payload/payment_link/entity/id"),
    order=paths("/payload/payment_link/entity/order_id"),
    amount=paths("/payload/payment_link/entity/amount"),
    currency=paths("/payload/payment_link/entity/currency"),
    linked=(),
    kinds={"payment_link.expired": Kind.CLOSED, "payment_link.cancelled": Kind.CLOSED},
)

RAZORPAY: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(signature=SignatureRule(header="x-razorpay-signature")),
    events=MappedEvents(
        maps=(_PAYMENT, _REFUND, _DISPUTE, _LINK), items=_owed, flags=("customer_bears_fee",)
    ),
)
