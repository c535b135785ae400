"""Checkout.com, webhooks of workflows.

Signed: the body. There is no timestamp. Identity-verification webhooks use the same header for
another kind of signature (``timestamp:key:ECDSA``) and are refused.

Approved is an authorisation; captured is paid. The transaction of a payment is the payment; a
refund's is its action, because one payment may be refunded in parts. The minor units of CLP and
CLF differ from ISO 4217's. A returned payment (a bank took it back) is a failure of the payment.
https://www.checkout.com/docs/developer-resources/webhooks
"""

from dataclasses import replace
from typing import Final

from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents
from payments.providers.stated_money import AmountRule

FACTS: Final = Facts(
    title="Checkout.com",
    tier="first class",
    signature="HMAC-SHA256, hex, header Cko-Signature",
    signed="the body",
    unsigned="headers",
    retries="8: after 5, 10, 15, 30 minutes, 1, 4, 12, 12 hours",
    acknowledgement="any 2xx within 10 s",
    order="data.reference",
    amount="data.amount; minor units, CLP in hundredths and CLF in whole units",
    refund="data.action_id",
    settings="order",
    source="https://www.checkout.com/docs/developer-resources/webhooks",
    evidence="documentation; samples made with openssl, no SDK verifies offline",
    keys=(KeyFact("signature", "the signature key of the workflow's webhook action"),),
)
#: https://www.checkout.com/docs/payments/accept-payments/calculate-the-amount
EXPONENTS: Final = {"CLF": 0, "CLP": 2}

_PAYMENT: Final = FieldMap(
    type=paths("/type"),
    event_id=paths("/id"),
    transaction=paths("/data/id"),
    order=paths("/data/reference"),
    amount=paths("/data/amount"),
    amount_rule=AmountRule("minor", EXPONENTS),
    currency=paths("/data/currency"),
    occurred_at=paths("/created_on", "/timestamp"),
    kinds={
        "payment_approved": Kind.AUTHORIZED,
        "payment_pending": Kind.PENDING,
        "payment_capture_pending": Kind.PENDING,
        "payment_captured": Kind.PAID,
        "payment_declined": Kind.FAILED,
        "payment_capture_declined": Kind.FAILED,
        "payment_returned": Kind.FAILED,
        "payment_voided": Kind.CLOSED,
        "payment_canceled": Kind.CLOSED,
        "payment_expired": Kind.CLOSED,
    },
)
_REFUND: Final = replace(
    _PAYMENT,
    transaction=paths("/data/action_id"),
    linked=paths("/data/id"),
    reverses=paths("/data/id"),
    kinds={
        "payment_refund_pending": Kind.PENDING,
        "payment_refunded": Kind.REFUNDED,
        "payment_refund_declined": Kind.REFUND_FAILED,
    },
)
_DISPUTE: Final = replace(
    _PAYMENT,
    order=paths("/data/payment_reference", "/data/reference"),
    linked=paths("/data/payment_id"),
    reverses=paths("/data/payment_id"),
    kinds={
        "dispute_received": Kind.DISPUTED,
        "dispute_evidence_required": Kind.DISPUTED,
        "dispute_won": Kind.DISPUTE_WON,
        "dispute_canceled": Kind.DISPUTE_WON,
        "dispute_arbitration_won": Kind.DISPUTE_WON,
        "dispute_lost": Kind.DISPUTE_LOST,
        "dispute_expired": Kind.DISPUTE_LOST,
        "dispute_accepted": Kind.DISPUTE_LOST,
        "dispute_arbitration_lost": Kind.DISPUTE_LOST,
        # It had been refunded already: nothing is taken twice.
        "dispute_resolved": Kind.DISPUTE_WON,
    },
)

CHECKOUTCOM: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(signature=SignatureRule(header="cko-signature")),
    events=MappedEvents(maps=(_PAYMENT, _REFUND, _DISPUTE)),
)
