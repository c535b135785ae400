"""Flutterwave, API v4.

Signed: the body, with the dashboard's secret hash as key. (v3 sends that hash itself, which
proves nothing: another provider, `flutterwave_v3`.)

Amounts are JSON numbers in major units. Compared is ``amount``, what the merchant asked for;
``charged_amount``, where it stands, includes a fee that the customer bears. A charge is told by
one type for every end: the status decides. A refund states its amount without a currency.
https://developer.flutterwave.com/docs/webhooks
"""

from dataclasses import replace
from typing import Final

from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents
from payments.providers.stated_money import MAJOR

FACTS: Final = Facts(
    title="Flutterwave v4",
    tier="second tier",
    signature="HMAC-SHA256, base64, header flutterwave-signature",
    signed="the body",
    unsigned="headers",
    retries="only if enabled in the dashboard: three, 30 minutes apart",
    acknowledgement="any 2xx within 60 s",
    order="data.reference",
    amount="data.amount, not charged_amount; major units",
    refund="data.id",
    settings="order",
    source="https://developer.flutterwave.com/docs/webhooks",
    evidence="documentation in part, other people's code; samples made with openssl",
    keys=(KeyFact("signature", "the secret hash that was set in the dashboard"),),
)

_CHARGE: Final = FieldMap(
    type=paths("/type"),
    event_id=paths("/webhook_id"),
    transaction=paths("/data/id"),
    order=paths("/data/reference"),
    amount=paths("/data/amount"),
    amount_rule=MAJOR,
    currency=paths("/data/currency"),
    status=paths("/data/status"),
    occurred_at=paths("/timestamp"),
    kinds={
        "charge.completed": {
            "succeeded": Kind.PAID,
            "pending": Kind.PENDING,
            "failed": Kind.FAILED,
            "voided": Kind.CLOSED,
        }
    },
)
_REFUND: Final = replace(
    _CHARGE,
    order=(),
    amount=paths("/data/amount_refunded"),
    linked=paths("/data/charge_id"),
    reverses=paths("/data/charge_id"),
    kinds={
        "refund.completed": {
            "new": Kind.PENDING,
            "pending": Kind.PENDING,
            "requires_action": Kind.PENDING,
            "succeeded": Kind.REFUNDED,
            "completed": Kind.REFUNDED,
            "failed": Kind.REFUND_FAILED,
            "cancelled": Kind.REFUND_FAILED,
        }
    },
)

FLUTTERWAVE_V4: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(signature=SignatureRule(header="flutterwave-signature", encoding="base64")),
    events=MappedEvents(maps=(_CHARGE, _REFUND)),
)
