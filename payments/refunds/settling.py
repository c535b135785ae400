"""Settle a refund of ours for good, whoever told how it ended.

That may be our request, our question, or a callback. The caller holds the payment's row, then
the refund's.
"""

from datetime import datetime
from typing import Final

from orders.money import Money
from payments.models import (
    ConflictReason,
    Disposition,
    ProviderTransaction,
    Refund,
    RefundStatus,
    TransactionKind,
)
from payments.refunds import booking, events, facts, lifecycle, questions, rows
from payments.refunds.rows import Fact

#: Said with every question about a refund.
sides: Final = questions.sides
_RESOLUTION_LENGTH_MAX: Final = 60


class OtherMoney(Exception):
    """Under the number that the provider gave this refund, something else is known."""


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
    if facts.earlier_failure(payment.account_id, fact.txn_no) is not None:
        raise OtherMoney(f"the provider has told that {fact.txn_no} failed")
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.APPLIED,
        now=now,
    )
    was_told = row_id is None
    if row_id is None:
        row_id, at = _told_before(refund, payment, fact)
    lifecycle.end(
        refund,
        RefundStatus.SUCCEEDED,
        transaction_id=row_id,
        provider_refund_no=provider_refund_no,
        now=now,
    )
    if was_told:
        _answer_about(row_id, refund, payment, now=now)
    booking.recount(payment, at=at, now=now, told=row_id)
    events.tell_refund("succeeded", refund, payment, now=now)
    about = f"refund:{refund.pk}"
    questions.answer(ConflictReason.REFUND_IN_DOUBT, about, "it succeeded", payment, now=now)
    return row_id


def fail(refund: Refund, payment: ProviderTransaction, *, why: str, now: datetime) -> None:
    """The refund will never happen: its room is free again, for whatever waits for it."""
    lifecycle.end(refund, RefundStatus.FAILED, why=why, now=now)
    # A total that seemed to tell this refund told one that nobody here asked for.
    booking.recount(payment, at=now, now=now)
    events.tell_refund("failed", refund, payment, now=now)
    about = f"refund:{refund.pk}"
    questions.answer(ConflictReason.REFUND_IN_DOUBT, about, "it failed", payment, now=now)


def is_of(payment: ProviderTransaction, row: ProviderTransaction, money: Money) -> bool:
    """Whether a row of the ledger may be a refund of that payment with that money."""
    return (
        row.reverses_id in (None, payment.pk)
        and Money(row.amount_minor, row.currency) == money
        and row.disposition != Disposition.RETURNED
        and not rows.has_failed(row)
        and not row.is_total
    )


def _told_before(refund: Refund, payment: ProviderTransaction, fact: Fact) -> tuple[int, datetime]:
    """A callback told it before we knew its number: then it was taken for somebody else's."""
    row = rows.find_locked(payment.account_id, TransactionKind.REFUND, fact.txn_no)
    if row is None or not is_of(payment, row, refund.money):
        raise OtherMoney(f"transaction {(row or payment).pk} is not this refund")
    if fact.occurred_at_is_stated:
        rows.hear_success(row, fact.occurred_at)
    rows.set_(row, disposition=Disposition.APPLIED, reverses_id=payment.pk)
    return row.pk, row.occurred_at


def _answer_about(
    row_id: int, refund: Refund, payment: ProviderTransaction, *, now: datetime
) -> None:
    for reason in (
        ConflictReason.EXTERNAL_REFUND,
        ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
        ConflictReason.PAYMENT_NOT_FOUND,
    ):
        said = f"it is refund {refund.refund_no}"[:_RESOLUTION_LENGTH_MAX]
        questions.answer(reason, questions.subject(row_id), said, payment, now=now)
