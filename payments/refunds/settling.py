"""Settle a refund of ours for good, whoever told how it ended.

That may be our request, our question, or a callback. The caller holds the payment's row, then
the refund's.
"""

from datetime import datetime
from typing import Any

from orders.money import Money
from payments import conflicts
from payments.models import (
    ConflictReason,
    Disposition,
    ProviderTransaction,
    Refund,
    RefundStatus,
    TransactionKind,
)
from payments.refunds import booking, events, lifecycle, room, rows
from payments.refunds.rows import Fact


class OtherMoney(Exception):
    """The ledger has another fact under the number that the provider gave this refund."""

    def __init__(self, row: ProviderTransaction) -> None:
        super().__init__(f"transaction {row.pk} is not this refund")
        self.row = row


def succeed(
    refund: Refund,
    payment: ProviderTransaction,
    *,
    provider_refund_no: str,
    occurred_at: datetime | None = None,
    now: datetime,
) -> int:
    """The money went back: ledger, room, order and events. Returns the ledger's row.

    Raises OtherMoney.
    """
    at = occurred_at or now
    fact = Fact(
        kind=TransactionKind.REFUND,
        txn_no=provider_refund_no or refund.refund_no,
        money=refund.money,
        reverses_no=payment.txn_no,
        order_no=payment.order_no,
        occurred_at=at,
        occurred_at_is_stated=occurred_at is not None,
    )
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.APPLIED,
        counted_minor=refund.amount_minor,
        now=now,
    )
    if row_id is None:
        row_id = _told_before(refund, payment, fact.txn_no, now=now)
    else:
        _count(refund, payment, at=at, now=now)
    lifecycle.end(
        refund,
        RefundStatus.SUCCEEDED,
        transaction_id=row_id,
        provider_refund_no=provider_refund_no,
        now=now,
    )
    room.come_to_rest(payment, refund, now=now)
    events.tell_refund("succeeded", refund, payment, now=now)
    _answer(ConflictReason.REFUND_IN_DOUBT, f"refund:{refund.pk}", "it succeeded", payment, now)
    return row_id


def fail(refund: Refund, payment: ProviderTransaction, *, why: str, now: datetime) -> None:
    """The refund will never happen: its room is free again."""
    room.release(payment, refund, now=now)
    lifecycle.end(refund, RefundStatus.FAILED, why=why, now=now)
    room.come_to_rest(payment, refund, now=now)
    events.tell_refund("failed", refund, payment, now=now)
    _answer(ConflictReason.REFUND_IN_DOUBT, f"refund:{refund.pk}", "it failed", payment, now)
    if room.under_way(payment) == 0:
        # A total seemed to tell this refund; so it told one that nobody here asked for.
        for row in booking.totals(payment, since=refund.requested_at):
            ask_about_external(payment, row.pk, row.counted_minor, now=now)


def ask_about_external(
    payment: ProviderTransaction, row_id: int, amount_minor: int, *, now: datetime
) -> None:
    """Money went back that nobody here has asked for: a person should know why."""
    case = conflicts.Case(
        reason=ConflictReason.EXTERNAL_REFUND,
        subject=f"transaction:{row_id}",
        **sides(payment, amount_minor),
        order_id=payment.order_id,
        transaction_id=row_id,
    )
    conflicts.open_conflict(
        case, merchant_id=payment.merchant_id, merchant_code=payment.merchant.code, now=now
    )


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


def is_of(payment: ProviderTransaction, row: ProviderTransaction, money: Money) -> bool:
    """Whether a row of the ledger may be a refund of that payment with that money."""
    return (
        row.reverses_id in (None, payment.pk)
        and Money(row.amount_minor, row.currency) == money
        and row.disposition != Disposition.RETURNED
        and not row.is_total
    )


def _told_before(
    refund: Refund, payment: ProviderTransaction, number: str, *, now: datetime
) -> int:
    """A callback told it before we knew its number: then it was taken for somebody else's."""
    row = rows.find_locked(payment.account_id, TransactionKind.REFUND, number)
    if row is None or not is_of(payment, row, refund.money):
        raise OtherMoney(row or payment)
    if row.disposition == Disposition.APPLIED:
        room.release(payment, refund, now=now)
    else:
        rows.count(row, refund.amount_minor, Disposition.APPLIED, payment=payment)
        _count(refund, payment, at=row.occurred_at, now=now)
    for reason in (
        ConflictReason.EXTERNAL_REFUND,
        ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
        ConflictReason.PAYMENT_NOT_FOUND,
    ):
        subject = f"transaction:{row.pk}"
        _answer(reason, subject, f"it is refund {refund.refund_no}", payment, now)
    return row.pk


def _count(refund: Refund, payment: ProviderTransaction, *, at: datetime, now: datetime) -> None:
    """Turn what was reserved into what is refunded, less what a total has told of it already."""
    told = booking.cover(payment, refund.amount_minor, since=refund.requested_at)
    if told < refund.amount_minor:
        room.must_move(payment, refunded=refund.amount_minor - told, at=at, now=now)


def _answer(
    reason: ConflictReason,
    subject: str,
    resolution: str,
    payment: ProviderTransaction,
    now: datetime,
) -> None:
    conflicts.answered_by_fact(
        reason, subject, resolution=resolution, merchant_code=payment.merchant.code, now=now
    )
