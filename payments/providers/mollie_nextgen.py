"""Mollie, next-gen webhooks (those with a signing secret).

Signed: the body; several signatures may come, one per active secret, each with or without
``sha256=``. A request without a signature is a classic webhook, which proves nothing, and is
refused here.

A snapshot event embeds its entity; a simple one has only its id, and a payment told that way
moves nothing until Mollie's API has told the amount.

A payment link that is paid does not name its payment, nor the payment its link: the transaction is
the link, and where the payment is told as well for the same order a person is asked whether both
are the same money (PERHAPS_TOLD_TWICE). To be asked nothing, subscribe to one of the two kinds of
event. A link that may be paid more than once is no proof of one payment.

The order number is `metadata.order_id`; ``order`` names another field
(``/_embedded/entity/description``, for payment links).
https://docs.mollie.com/reference/webhooks-new
"""

from dataclasses import replace
from typing import Any, Final

from orders.strict_json import at
from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, ModeRule, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents
from payments.providers.stated_money import MAJOR

FACTS: Final = Facts(
    title="Mollie (next-gen webhooks)",
    tier="second tier",
    signature="HMAC-SHA256, hex after sha256=, header X-Mollie-Signature",
    signed="the body",
    unsigned="headers",
    retries="10 in about 26 hours",
    acknowledgement="200 within 15 s",
    order="metadata.order_id or .order_no of the entity",
    amount="amount of the entity; simple events: asked from the API",
    refund="the refund's id",
    settings="order",
    source="https://docs.mollie.com/reference/webhooks-new",
    evidence="documentation; SDK 1.10 signs and verifies the samples",
    keys=(KeyFact("signature", "the webhook's signing secret"),),
    nameless=("pl_",),
)


def _link_paid(event: Any) -> Kind:
    """PAID; PENDING if the link may be paid more than once."""
    reusable = at(event, "_embedded", "entity", "reusable")
    return Kind.PENDING if reusable else Kind.PAID


_PAYMENT: Final = FieldMap(
    type=paths("/type"),
    event_id=paths("/id"),
    account=paths("/_embedded/entity/profileId"),
    transaction=paths("/entityId"),
    order=paths("/_embedded/entity/metadata/order_id", "/_embedded/entity/metadata/order_no"),
    amount=paths("/_embedded/entity/amount/value"),
    amount_rule=MAJOR,
    amount_required=False,
    currency=paths("/_embedded/entity/amount/currency"),
    mode=ModeRule(paths("/_embedded/entity/mode"), live="live", test="test"),
    occurred_at=paths("/_embedded/entity/paidAt", "/createdAt"),
    kinds={
        "payment.paid": Kind.PAID,
        "payment.authorized": Kind.AUTHORIZED,
        "payment.pending": Kind.PENDING,
        "payment.failed": Kind.FAILED,
        "payment.canceled": Kind.CLOSED,
        "payment.expired": Kind.CLOSED,
        "payment-link.paid": _link_paid,
    },
)
_REFUND: Final = replace(
    _PAYMENT,
    linked=paths("/_embedded/entity/paymentId"),
    reverses=paths("/_embedded/entity/paymentId"),
    kinds={
        "refund.refunded": Kind.REFUNDED,
        "refund.failed": Kind.REFUND_FAILED,
        "refund.canceled": Kind.REFUND_FAILED,
        "chargeback.received": Kind.DISPUTED,
        "chargeback.reversed": Kind.DISPUTE_WON,
    },
)

MOLLIE_NEXTGEN: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(
        signature=SignatureRule(
            header="x-mollie-signature", prefix="sha256=", prefix_required=False
        )
    ),
    events=MappedEvents(maps=(_PAYMENT, _REFUND)),
)
