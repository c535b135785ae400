"""What a person is asked about money that goes back, with both sides of the story."""

from datetime import datetime
from typing import Any

from payments import conflicts
from payments.models import ConflictReason, ProviderTransaction


def sides(payment: ProviderTransaction, amount_minor: int, **received: Any) -> dict[str, Any]:
    """What a payment allows, and what came, side by side."""
    return {
        "expected": {
            "payment": payment.txn_no,
            "order_no": payment.order_no,
            "amount_minor": payment.amount_minor,
            "currency": payment.currency,
            "refunded_minor": payment.refunded_minor,
            "reserved_minor": payment.refund_reserved_minor,
            "charged_back_minor": payment.charged_back_minor,
        },
        "received": {
            "endpoint": payment.account.endpoint,
            "amount_minor": amount_minor,
            "currency": payment.currency,
            **received,
        },
    }


def external(payment: ProviderTransaction, row_id: int, amount_minor: int) -> conflicts.Case:
    """Money went back that nobody here has asked for: a person should know why."""
    return conflicts.Case(
        reason=ConflictReason.EXTERNAL_REFUND,
        subject=subject(row_id),
        **sides(payment, amount_minor),
        order_id=payment.order_id,
        transaction_id=row_id,
    )


def exceeds(
    payment: ProviderTransaction, row: ProviderTransaction, missing_minor: int
) -> conflicts.Case:
    """More went back than there was room for: the rest waits until room becomes free."""
    told = {"txn_no": row.txn_no, "kind": row.kind, "not_counted_minor": missing_minor}
    return conflicts.Case(
        reason=ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
        subject=subject(row.pk),
        **sides(payment, row.amount_minor, **told),
        order_id=payment.order_id,
        transaction_id=row.pk,
    )


def taken_back(
    payment: ProviderTransaction,
    row: ProviderTransaction,
    *,
    refund_no: str | None = None,
    known: str,
    story: str = "",
) -> conflicts.Case:
    """A refund succeeded and failed; `known` is what was believed. Another `story` asks again."""
    return conflicts.Case(
        reason=ConflictReason.REFUND_REVERSED,
        subject=f"{subject(row.pk)}:{story}" if story else subject(row.pk),
        **sides(payment, row.amount_minor, refund_no=refund_no, known=known),
        order_id=payment.order_id,
        transaction_id=row.pk,
    )


def subject(row_id: int) -> str:
    """What a question about a row of the ledger is about."""
    return f"transaction:{row_id}"


def ask(case: conflicts.Case, payment: ProviderTransaction, *, now: datetime) -> None:
    """Open the question, unless it was asked before."""
    conflicts.open_conflict(
        case, merchant_id=payment.merchant_id, merchant_code=payment.merchant.code, now=now
    )


def answer(
    reason: ConflictReason,
    about: str,
    resolution: str,
    payment: ProviderTransaction,
    *,
    now: datetime,
) -> None:
    """Say what answered the question, if it is still open."""
    conflicts.answered_by_fact(
        reason, about, resolution=resolution, merchant_code=payment.merchant.code, now=now
    )
