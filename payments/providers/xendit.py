"""Xendit: a hint, because its token says nothing of the body.

The token is the account's webhook verification token, in ``x-callback-token``. The header
``webhook-id`` tells repeats, but anybody can change it, so it is not used.

An invoice's callback has no type: its status decides. Amounts are JSON numbers in major units;
compared is what was paid, where it stands. https://docs.xendit.co/docs/handling-webhooks
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orders.strict_json import JsonObject
from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.mapped_events import MappedEvents, Settings
from payments.providers.stated_money import MAJOR
from payments.providers.static_token import StaticToken

FACTS: Final = Facts(
    title="Xendit",
    tier="hint",
    signature="none: the token in x-callback-token is always the same",
    signed="nothing",
    unsigned="everything",
    retries="6 within 24 hours",
    acknowledgement="any 2xx within 30 s",
    order="external_id of an invoice; data.reference_id",
    amount="paid_amount, else amount; data.request_amount; major units",
    refund="data.id",
    settings="order",
    source="https://docs.xendit.co/docs/handling-webhooks",
    evidence="documentation; samples made by hand",
    keys=(KeyFact("signature", "the webhook verification token"),),
    assurance="NONE",
)


def _events(document: Any, _settings: Settings) -> Sequence[Any]:
    """The event; an invoice gets the type that it lacks."""
    if isinstance(document, JsonObject) and "event" not in document and "external_id" in document:
        document["event"] = "invoice"
    return [document]


_INVOICE: Final = FieldMap(
    type=paths("/event"),
    transaction=paths("/id"),
    order=paths("/external_id"),
    amount=paths("/paid_amount", "/amount"),
    amount_rule=MAJOR,
    currency=paths("/currency"),
    status=paths("/status"),
    occurred_at=paths("/paid_at"),
    kinds={
        "invoice": {
            "PAID": Kind.PAID,
            "SETTLED": Kind.PAID,
            "PENDING": Kind.PENDING,
            "EXPIRED": Kind.CLOSED,
        }
    },
)
_PAYMENT: Final = replace(
    _INVOICE,
    transaction=paths("/data/payment_id", "/data/id"),
    order=paths("/data/reference_id"),
    amount=paths("/data/request_amount", "/data/amount"),
    currency=paths("/data/currency"),
    occurred_at=paths("/created"),
    kinds={
        "payment.capture": Kind.PAID,
        "payment.succeeded": Kind.PAID,
        "payment.authorization": Kind.AUTHORIZED,
        "payment.pending": Kind.PENDING,
        "payment.failure": Kind.FAILED,
        "payment.failed": Kind.FAILED,
    },
)
_REFUND: Final = replace(
    _PAYMENT,
    transaction=paths("/data/id"),
    order=(),
    amount=paths("/data/amount"),
    linked=paths("/data/payment_id", "/data/payment_request_id"),
    reverses=paths("/data/payment_id"),
    kinds={"refund.succeeded": Kind.REFUNDED, "refund.failed": Kind.REFUND_FAILED},
)

XENDIT: Final = StaticToken(
    facts=FACTS,
    header="x-callback-token",
    events=MappedEvents(maps=(_INVOICE, _PAYMENT, _REFUND), items=_events),
)
