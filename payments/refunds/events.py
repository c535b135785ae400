"""Tell what becomes of refunds, and of payments that are disputed."""

from datetime import datetime
from typing import Final

from django.db.models import F

from orders.money import Money
from outbox.events import emit
from payments.models import ProviderTransaction, Refund

REFUND: Final = "refund"
PAYMENT: Final = "payment"


def tell_refund(kind: str, refund: Refund, payment: ProviderTransaction, *, now: datetime) -> None:
    """Write `refund.requested`, `refund.succeeded` or `refund.failed` beside the move."""
    emit(
        aggregate_type=REFUND,
        aggregate_id=f"{payment.merchant.code}/{refund.refund_no}",
        seq=refund.version,
        type=f"refund.{kind}",
        payload={
            "refund_no": refund.refund_no,
            "merchant": payment.merchant.code,
            "order_no": refund.order_no or None,
            "payment": payment.txn_no,
            "account": payment.account.endpoint,
            "status": refund.status,
            "amount": _amount(refund.money),
            "provider_refund_no": refund.provider_refund_no or None,
            "version": refund.version,
        },
        at=now,
    )


def tell_disputed(
    payment: ProviderTransaction, *, dispute_no: str, state: str, money: Money, now: datetime
) -> None:
    """Write `payment.disputed`: a dispute was opened, won or lost; its merchant's money moved."""
    payments = ProviderTransaction.objects.filter(pk=payment.pk)
    payments.update(version=F("version") + 1)
    payment.version += 1
    left = payment.amount_minor - payment.refund_reserved_minor - payment.charged_back_minor
    emit(
        aggregate_type=PAYMENT,
        aggregate_id=str(payment.pk),
        seq=payment.version,
        type="payment.disputed",
        payload={
            "merchant": payment.merchant.code,
            "order_no": payment.order_no or None,
            "payment": payment.txn_no,
            "account": payment.account.endpoint,
            "dispute_no": dispute_no,
            "state": state,
            "amount": _amount(money),
            "charged_back_minor": payment.charged_back_minor,
            "refundable_minor": left,
            "version": payment.version,
        },
        at=now,
    )


def _amount(money: Money) -> dict[str, int | str]:
    return {"amount_minor": money.amount_minor, "currency": money.currency}
