"""What PayPal's webhooks mean, by ``event_type``; amounts are texts in major units.

A capture is the payment (in the older API a sale). An order that the buyer has approved is not
paid, nor is an authorisation. A completed order is told again by its captures, so it is ignored.
``PAYMENT.CAPTURE.REFUNDED`` states the refund, with its own number; the capture is found in its
link "up". A reversal is money that PayPal took back, after a dispute or by the bank.

The merchant's order number is ``custom_id``, else ``invoice_id``.
https://developer.paypal.com/api/rest/webhooks/event-names/
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orders.strict_json import JsonObject, mapping, text
from payments.callback import Kind
from payments.providers.field_map import FieldMap, paths
from payments.providers.mapped_events import MappedEvents, Settings
from payments.providers.stated_money import MAJOR

_LAST_PART: Final = re.compile(r"/([A-Za-z0-9-]{1,64})\Z", re.ASCII)
_OUTCOMES: Final = {
    "RESOLVED_SELLER_FAVOUR": Kind.DISPUTE_WON,
    "RESOLVED_WITH_PAYOUT": Kind.DISPUTE_WON,
    "CANCELED_BY_BUYER": Kind.DISPUTE_WON,
    "DENIED": Kind.DISPUTE_WON,
    "RESOLVED_BUYER_FAVOUR": Kind.DISPUTE_LOST,
    "ACCEPTED": Kind.DISPUTE_LOST,
}
_REFUND_STATES: Final = {
    "COMPLETED": Kind.REFUNDED,
    "PENDING": Kind.PENDING,
    "FAILED": Kind.REFUND_FAILED,
    "CANCELLED": Kind.REFUND_FAILED,
}


def _event(document: Any, _settings: Settings) -> Sequence[Any]:
    """The event; a refund gets the number of its capture, which stands in a link only."""
    resource = mapping(document, "resource")
    if resource is not None and isinstance(resource.get("links"), list):
        for link in resource["links"]:
            if isinstance(link, JsonObject) and link.get("rel") == "up":
                last = _LAST_PART.search(str(link.get("href")))
                resource["up_id"] = last and last[1]
    return [document]


def _resolved(event: Any) -> Kind:
    """By dispute_outcome: DISPUTE_WON for the seller, DISPUTE_LOST for the buyer."""
    outcome = text(event, "resource", "dispute_outcome", "outcome_code") or ""
    return _OUTCOMES.get(outcome, Kind.PENDING)


_CAPTURE: Final = FieldMap(
    type=paths("/event_type"),
    event_id=paths("/id"),
    account=paths("/resource/payee/merchant_id"),
    transaction=paths("/resource/id"),
    order=paths("/resource/custom_id", "/resource/invoice_id"),
    amount=paths("/resource/amount/value"),
    amount_rule=MAJOR,
    currency=paths("/resource/amount/currency_code"),
    occurred_at=paths("/resource/create_time", "/create_time"),
    linked=paths("/resource/supplementary_data/related_ids/order_id"),
    kinds={
        "PAYMENT.CAPTURE.COMPLETED": Kind.PAID,
        "PAYMENT.CAPTURE.PENDING": Kind.PENDING,
        "PAYMENT.CAPTURE.DENIED": Kind.FAILED,
        "PAYMENT.CAPTURE.DECLINED": Kind.FAILED,
        "PAYMENT.AUTHORIZATION.CREATED": Kind.AUTHORIZED,
        "PAYMENT.AUTHORIZATION.VOIDED": Kind.CLOSED,
    },
)
_REFUND: Final = replace(
    _CAPTURE,
    linked=paths("/resource/up_id"),
    reverses=paths("/resource/up_id"),
    refund_no=paths("/resource/custom_id"),
    status=paths("/resource/status"),
    kinds={
        "PAYMENT.CAPTURE.REFUNDED": _REFUND_STATES,
        "PAYMENT.CAPTURE.REVERSED": Kind.REFUNDED,
        "PAYMENT.REFUND.PENDING": Kind.PENDING,
        "PAYMENT.REFUND.FAILED": Kind.REFUND_FAILED,
    },
)
_SALE: Final = replace(
    _CAPTURE,
    order=paths("/resource/custom", "/resource/invoice_number"),
    amount=paths("/resource/amount/total"),
    currency=paths("/resource/amount/currency"),
    linked=paths("/resource/parent_payment"),
    kinds={
        "PAYMENT.SALE.COMPLETED": Kind.PAID,
        "PAYMENT.SALE.PENDING": Kind.PENDING,
        "PAYMENT.SALE.DENIED": Kind.FAILED,
    },
)
_SALE_REFUND: Final = replace(
    _SALE,
    linked=paths("/resource/sale_id", "/resource/parent_payment"),
    reverses=paths("/resource/sale_id"),
    kinds={"PAYMENT.SALE.REFUNDED": Kind.REFUNDED, "PAYMENT.SALE.REVERSED": Kind.REFUNDED},
)
_ORDER: Final = replace(
    _CAPTURE,
    account=paths("/resource/purchase_units/0/payee/merchant_id"),
    transaction=paths("/resource/id", "/resource/order_id"),
    order=paths("/resource/purchase_units/0/custom_id", "/resource/purchase_units/0/invoice_id"),
    amount=paths("/resource/purchase_units/0/amount/value"),
    currency=paths("/resource/purchase_units/0/amount/currency_code"),
    linked=(),
    kinds={
        "CHECKOUT.ORDER.APPROVED": Kind.PENDING,
        "CHECKOUT.PAYMENT-APPROVAL.REVERSED": Kind.CLOSED,
    },
)
_DISPUTE: Final = replace(
    _CAPTURE,
    account=paths("/resource/disputed_transactions/0/seller/merchant_id"),
    transaction=paths("/resource/dispute_id"),
    order=paths(
        "/resource/disputed_transactions/0/custom",
        "/resource/disputed_transactions/0/invoice_number",
    ),
    amount=paths("/resource/dispute_amount/value"),
    currency=paths("/resource/dispute_amount/currency_code"),
    linked=paths("/resource/disputed_transactions/0/seller_transaction_id"),
    reverses=paths("/resource/disputed_transactions/0/seller_transaction_id"),
    kinds={
        "CUSTOMER.DISPUTE.CREATED": Kind.DISPUTED,
        "CUSTOMER.DISPUTE.UPDATED": Kind.DISPUTED,
        "CUSTOMER.DISPUTE.RESOLVED": _resolved,
    },
)

EVENTS: Final = MappedEvents(
    maps=(_CAPTURE, _REFUND, _SALE, _SALE_REFUND, _ORDER, _DISPUTE), items=_event
)
