"""Paystack.

Signed: the body, with the API secret key itself (``sk_..``): rotating the API key rotates this
one. There is no timestamp and no event id.

The merchant's reference is the order number (``reference``, in refunds
``transaction_reference``); the transaction is Paystack's id. Amounts are in hundredths, of
XOF too, which has none by ISO 4217, and text in refunds. Where the customer bears the fee and it
stands in ``amount``, the setting ``customer_bears_fee`` takes ``fees`` off. The mode
(``domain``) is signed.
https://paystack.com/docs/payments/webhooks/
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orders.strict_json import at, text
from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, ModeRule, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents, Settings, without_fee
from payments.providers.stated_money import AmountRule

FACTS: Final = Facts(
    title="Paystack",
    tier="first class",
    signature="HMAC-SHA512, hex, header x-paystack-signature; the key is the API secret key",
    signed="the body",
    unsigned="headers",
    retries="live: every 3 minutes four times, then hourly for 72 hours; test: hourly, 10 hours",
    acknowledgement="200 within 30 s",
    order="data.reference; in refunds data.transaction_reference",
    amount="data.amount, less fees where customer_bears_fee; minor units, XOF in hundredths",
    refund="data.refund_reference",
    settings="order, customer_bears_fee",
    source="https://paystack.com/docs/payments/webhooks/",
    evidence="documentation; a community SDK verifies the samples",
    keys=(KeyFact("signature", "the API secret key, sk_.."),),
)
EXPONENTS: Final = {"XOF": 2}


def _resolved(event: Any) -> Kind:
    """By resolution: DISPUTE_WON if declined, DISPUTE_LOST if accepted."""
    resolution = text(event, "data", "resolution") or ""
    return _RESOLUTIONS.get(resolution, Kind.PENDING)


def _owed(event: Any, settings: Settings) -> Sequence[Any]:
    if settings.get("customer_bears_fee"):
        without_fee(at(event, "data"), "fees")
    return [event]


_RESOLUTIONS: Final = {
    "declined": Kind.DISPUTE_WON,
    "merchant-accepted": Kind.DISPUTE_LOST,
    "auto-accepted": Kind.DISPUTE_LOST,
}
_CHARGE: Final = FieldMap(
    type=paths("/event"),
    transaction=paths("/data/id"),
    order=paths("/data/reference"),
    amount=paths("/data/amount"),
    amount_rule=AmountRule("minor", EXPONENTS),
    currency=paths("/data/currency"),
    linked=paths("/data/reference"),
    mode=ModeRule(paths("/data/domain"), live="live", test="test"),
    occurred_at=paths("/data/paid_at"),
    kinds={"charge.success": Kind.PAID, "charge.failed": Kind.FAILED},
)
_REFUND: Final = replace(
    _CHARGE,
    transaction=paths("/data/refund_reference"),
    order=paths("/data/transaction_reference"),
    linked=paths("/data/transaction_reference"),
    occurred_at=paths("/data/refunded_at"),
    kinds={"refund.processed": Kind.REFUNDED, "refund.failed": Kind.REFUND_FAILED},
)
#: A refund on its way may have no number yet; nothing moves, so its payment's will do.
_REFUND_PENDING: Final = replace(
    _REFUND,
    transaction=paths("/data/refund_reference", "/data/transaction_reference"),
    kinds=dict.fromkeys(
        ("refund.pending", "refund.processing", "refund.needs-attention"), Kind.PENDING
    ),
)
_DISPUTE: Final = replace(
    _CHARGE,
    order=paths("/data/transaction/reference"),
    amount=paths("/data/refund_amount"),
    currency=paths("/data/currency", "/data/transaction/currency"),
    linked=paths("/data/transaction/id", "/data/transaction/reference"),
    reverses=paths("/data/transaction/id"),
    mode=ModeRule(paths("/data/domain", "/data/transaction/domain"), live="live", test="test"),
    occurred_at=(),
    kinds={"charge.dispute.create": Kind.DISPUTED, "charge.dispute.resolve": _resolved},
)

PAYSTACK: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(algorithm="sha512", signature=SignatureRule(header="x-paystack-signature")),
    events=MappedEvents(
        maps=(_CHARGE, _REFUND, _REFUND_PENDING, _DISPUTE),
        items=_owed,
        flags=("customer_bears_fee",),
    ),
)
