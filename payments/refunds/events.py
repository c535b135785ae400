"""Tell what becomes of refunds, and of payments that are disputed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Literal, TypedDict

from django.db.models import F

from orders.events import Amount, MerchantCode, Minor, Version, amount
from orders.money import Money
from outbox.event_types import EventType, Keyword
from outbox.events import emit
from payments.models import ProviderTransaction, Refund
from payments.models.refunds import RefundStatus

REFUND: Final = "refund"
PAYMENT: Final = "payment"

DisputeState = Literal["OPEN", "WON", "LOST"]
_OrderNo = Annotated[str | None, "Null if the payment named no order."]
_PaymentNo = Annotated[str, "The provider's number of the payment."]
_Account = Annotated[str, 'The account, as its address names it: "stripe/main".']


class RefundPayload(TypedDict):
    """A refund after a move."""

    refund_no: Annotated[str, "The merchant's number of the refund."]
    merchant: MerchantCode
    order_no: _OrderNo
    payment: _PaymentNo
    account: _Account
    status: RefundStatus
    amount: Amount
    provider_refund_no: Annotated[str | None, "The provider's number of it, once it has one."]
    version: Version


class DisputedPayload(TypedDict):
    """A payment whose dispute was opened, won or lost."""

    merchant: MerchantCode
    order_no: _OrderNo
    payment: _PaymentNo
    account: _Account
    dispute_no: Annotated[str, "The provider's number of the dispute."]
    state: DisputeState
    amount: Annotated[Amount, "What the dispute is about."]
    charged_back_minor: Annotated[Minor, "What is charged back of the payment now, in all."]
    refundable_minor: Annotated[
        int, Keyword("minimum", 0), "What may still be refunded of the payment, in minor units."
    ]
    version: Version


_REFUNDS: Final[Mapping[str, EventType]] = {
    kind: EventType(name=f"refund.{kind}", aggregate_type=REFUND, payload=RefundPayload, when=when)
    for kind, when in (
        ("requested", "a merchant asked for a refund, and its room is reserved"),
        ("succeeded", "the provider has paid a refund out"),
        ("failed", "a refund will not happen, or its money came back after all"),
    )
}
PAYMENT_DISPUTED: Final = EventType(
    name="payment.disputed",
    aggregate_type=PAYMENT,
    payload=DisputedPayload,
    when="a dispute of a payment was opened, won or lost",
)
EVENT_TYPES: Final = (*_REFUNDS.values(), PAYMENT_DISPUTED)


def tell_refund(kind: str, refund: Refund, payment: ProviderTransaction, *, now: datetime) -> None:
    """Write `refund.requested`, `refund.succeeded` or `refund.failed` beside the move."""
    payload = RefundPayload(
        refund_no=refund.refund_no,
        merchant=payment.merchant.code,
        order_no=refund.order_no or None,
        payment=payment.txn_no,
        account=payment.account.endpoint,
        status=RefundStatus(refund.status),
        amount=amount(refund.money),
        provider_refund_no=refund.provider_refund_no or None,
        version=refund.version,
    )
    emit(
        aggregate_id=f"{payment.merchant.code}/{refund.refund_no}",
        seq=refund.version,
        payload=payload,
        at=now,
        tenant=payment.merchant.code,
        **_REFUNDS[kind].names,
    )


def tell_disputed(
    payment: ProviderTransaction,
    *,
    dispute_no: str,
    state: DisputeState,
    money: Money,
    now: datetime,
) -> None:
    """Write `payment.disputed`: a dispute was opened, won or lost; its merchant's money moved."""
    payments = ProviderTransaction.objects.filter(pk=payment.pk)
    payments.update(version=F("version") + 1)
    payment.version += 1
    payload = DisputedPayload(
        merchant=payment.merchant.code,
        order_no=payment.order_no or None,
        payment=payment.txn_no,
        account=payment.account.endpoint,
        dispute_no=dispute_no,
        state=state,
        amount=amount(money),
        charged_back_minor=payment.charged_back_minor,
        refundable_minor=(
            payment.amount_minor - payment.refund_reserved_minor - payment.charged_back_minor
        ),
        version=payment.version,
    )
    emit(
        aggregate_id=str(payment.pk),
        seq=payment.version,
        payload=payload,
        at=now,
        tenant=payment.merchant.code,
        **PAYMENT_DISPUTED.names,
    )
