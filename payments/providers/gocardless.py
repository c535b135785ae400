"""GoCardless.

Signed: the body, which holds up to 250 events. They arrive in any order and more than once, and
one that cannot be read does not hold up the others. A wrong signature is answered 498, as
GoCardless asks; the whole batch is sent again after any failure.

No event states an amount or a currency, and the merchant's order number only if the endpoint
asks for the resource's metadata: a payment moves nothing until GoCardless's API has told how
much was paid. Confirmed is paid, though the bank may take it back (charged back, late failure).
Paid out is GoCardless's payout to the merchant, no news of the payment.
https://developer.gocardless.com/api-reference/#webhooks-overview
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orders.strict_json import JsonObject, StrictJsonError, at
from payments.callback import Kind
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents, Settings
from payments.providers.port import Acknowledgement, Reply
from payments.providers.stated_money import MINOR

FACTS: Final = Facts(
    title="GoCardless",
    tier="first class",
    signature="HMAC-SHA256, hex, header Webhook-Signature",
    signed="the body: a batch of up to 250 events",
    unsigned="headers",
    retries="up to 8, at growing distances; the whole batch",
    acknowledgement="204 within 10 s; 498 for a wrong signature",
    order="resource_metadata.order_no or .order_id, if the endpoint includes it",
    amount="none: asked from the API",
    refund="links.refund",
    settings="order",
    source="https://developer.gocardless.com/api-reference/#webhooks-overview",
    evidence="documentation; SDK 3.22 verifies the samples; two official samples",
    keys=(KeyFact("signature", "the webhook endpoint's secret"),),
)
_INVALID_TOKEN: Final = 498
_TYPE: Final = frozenset({"resource_type", "action"})


def _events(document: Any, _settings: Settings) -> Sequence[Any]:
    """The batch; each event gets the type that stands in two of its fields."""
    events = at(document, "events")
    if not isinstance(events, list):
        raise StrictJsonError("events is not a list")
    for event in events:
        if not isinstance(event, JsonObject) or event.ambiguous & _TYPE:
            continue  # without a type it is reported as unreadable, alone
        resource, action = event.get("resource_type"), event.get("action")
        if isinstance(resource, str) and isinstance(action, str):
            event["type"] = f"{resource}.{action}"
    return events


_PAYMENT: Final = FieldMap(
    type=paths("/type"),
    event_id=paths("/id"),
    account=paths("/links/organisation"),
    transaction=paths("/links/payment"),
    order=paths("/resource_metadata/order_no", "/resource_metadata/order_id"),
    amount_rule=MINOR,
    amount_required=False,
    occurred_at=paths("/created_at"),
    kinds={
        "payments.created": Kind.PENDING,
        "payments.submitted": Kind.PENDING,
        "payments.resubmission_requested": Kind.PENDING,
        "payments.confirmed": Kind.PAID,
        "payments.failed": Kind.FAILED,
        "payments.late_failure_settled": Kind.FAILED,
        "payments.customer_approval_denied": Kind.FAILED,
        "payments.cancelled": Kind.CLOSED,
        "payments.charged_back": Kind.DISPUTED,
        "payments.chargeback_cancelled": Kind.DISPUTE_WON,
        "payments.chargeback_settled": Kind.DISPUTE_LOST,
    },
)
_REFUND: Final = replace(
    _PAYMENT,
    transaction=paths("/links/refund"),
    linked=paths("/links/payment"),
    reverses=paths("/links/payment"),
    kinds={
        "refunds.created": Kind.PENDING,
        "refunds.paid": Kind.REFUNDED,
        "refunds.failed": Kind.REFUND_FAILED,
        "refunds.bounced": Kind.REFUND_FAILED,
        "refunds.funds_returned": Kind.REFUND_FAILED,
    },
)

GOCARDLESS: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(signature=SignatureRule(header="webhook-signature")),
    events=MappedEvents(maps=(_PAYMENT, _REFUND), items=_events),
    acknowledgements={
        **BY_STATUS,
        Reply.ACCEPTED: Acknowledgement(204),
        Reply.REJECTED: Acknowledgement(_INVALID_TOKEN, b"not authentic"),
        Reply.UNKNOWN_KEY: Acknowledgement(_INVALID_TOKEN, b"not authentic"),
    },
)
