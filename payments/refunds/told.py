"""Decide a callback that tells of a refund: it is ours, somebody else's, or ahead of its payment.

Locks are taken in one order: the payment, our refund, the row in the ledger, the order.
"""

import hashlib
from datetime import datetime
from typing import Final

from payments import conflicts
from payments.callback import Callback, Outcome
from payments.decision import Decision
from payments.models import (
    ConflictReason,
    Disposition,
    ProviderTransaction,
    Refund,
    RefundStatus,
    TransactionKind,
)
from payments.refunds import booking, facts, failed, ours, rows, settling
from payments.settle import Payee

#: A total's row is numbered by what it is the total of, and the total.
_NUMBER_LENGTH_MAX: Final = 100


def decide_refunded(
    callback: Callback, payee: Payee, *, account_id: int, now: datetime
) -> Decision:
    """Money went back: enter it once, and count it once, however it is told."""
    refund = ours.find(callback, account_id=account_id)
    payment = facts.find_payment(callback, payee, account_id=account_id, refund=refund)
    if refund is not None and payment is not None:
        refund = ours.lock(refund)
        decision = _ours(callback, refund, payment, now=now)
        if decision is not None and not callback.cumulative:
            return decision
    else:
        decision = None
    fact = facts.fact_of(callback, TransactionKind.REFUND, now=now)
    if fact is None:
        return decision or Decision(outcome=Outcome.RECORDED, reason="NO_AMOUNT")
    if payment is None:
        return facts.park(_numbered(fact), payee, account_id=account_id, now=now)
    refused = facts.disagreement(fact, payment, payee, now=now)
    if refused is not None:
        return refused
    booked = _total(fact, payment, now=now) if fact.is_total else _item(fact, payment, now=now)
    is_news = booked.outcome is not Outcome.DUPLICATE
    return booked if is_news or decision is None else decision


def decide_failed(callback: Callback, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """A refund did not happen after all."""
    return failed.decide(callback, payee, account_id=account_id, now=now)


def _ours(
    callback: Callback, refund: Refund, payment: ProviderTransaction, *, now: datetime
) -> Decision | None:
    """Settle a refund that we asked for. None: what is told is to be judged by the ledger."""
    if refund.status == RefundStatus.SUCCEEDED:
        # A second refund at the provider may carry our number too: it is money of its own.
        other = refund.provider_refund_no not in ("", callback.txn_no)
        altered = callback.money is not None and callback.money != refund.money
        if callback.cumulative or other or altered:
            return None
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=refund.transaction_id)
    if refund.status == RefundStatus.FAILED:
        return None if callback.cumulative else _after_failure(callback, refund, payment, now=now)
    other = callback.money is not None and callback.money != refund.money
    if other and not callback.cumulative:
        return _other_money(callback, refund, payment)
    number = refund.provider_refund_no if callback.cumulative else callback.txn_no
    try:
        row_id = settling.succeed(
            refund,
            payment,
            provider_refund_no=number,
            occurred_at=callback.occurred_at,
            now=now,
        )
    except settling.OtherMoney:
        return _other_money(callback, refund, payment)
    return Decision(outcome=Outcome.APPLIED, transaction_id=row_id)


def _after_failure(
    callback: Callback, refund: Refund, payment: ProviderTransaction, *, now: datetime
) -> Decision:
    """It failed, and now it succeeded: entered, counted by nobody, and a person is asked."""
    fact = facts.fact_of(callback, TransactionKind.REFUND, now=now, money=refund.money)
    assert fact is not None  # noqa: S101 - the money is given
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.HELD,
        counted_minor=0,
        now=now,
    )
    if row_id is None:
        row = rows.find_locked(payment.account_id, TransactionKind.REFUND, fact.txn_no)
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk if row else payment.pk)
    case = conflicts.Case(
        reason=ConflictReason.REFUND_REVERSED,
        subject=f"transaction:{row_id}",
        **settling.sides(
            payment, fact.money.amount_minor, refund_no=refund.refund_no, known=refund.status
        ),
        order_id=payment.order_id,
        transaction_id=row_id,
    )
    return facts.conflict(case)


def _other_money(callback: Callback, refund: Refund, payment: ProviderTransaction) -> Decision:
    """The number is ours and the money is not: it is asked about, and a person is told."""
    story = hashlib.sha256(f"{callback.txn_no}\0{callback.money}".encode()).hexdigest()[:16]
    case = conflicts.Case(
        reason=ConflictReason.AMOUNT_MISMATCH,
        subject=f"refund:{refund.pk}:{story}",
        **settling.sides(
            payment,
            callback.money.amount_minor if callback.money else 0,
            refund_no=refund.refund_no,
            asked_minor=refund.amount_minor,
        ),
        order_id=payment.order_id,
        transaction_id=payment.pk,
    )
    return facts.conflict(case)


def _item(fact: rows.Fact, payment: ProviderTransaction, *, now: datetime) -> Decision:
    row_id = booking.book_item(payment, fact, now=now)
    if row_id is None:
        return facts.told_again(fact, payment, now=now)
    return _external(row_id, fact, payment, now=now)


def _total(fact: rows.Fact, payment: ProviderTransaction, *, now: datetime) -> Decision:
    may_be_ours = payment.refund_reserved_minor - payment.refunded_minor
    beyond = fact.money.amount_minor - booking.ever_refunded(payment)
    row_id = booking.book_total(payment, _numbered(fact), now=now)
    if row_id is None:
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=payment.pk)
    if beyond <= may_be_ours:
        return Decision(outcome=Outcome.APPLIED, transaction_id=row_id)
    return _external(row_id, fact, payment, now=now)


def _external(
    row_id: int, fact: rows.Fact, payment: ProviderTransaction, *, now: datetime
) -> Decision:
    """Booked or held, it was nobody here who asked for it."""
    row = ProviderTransaction.objects.get(pk=row_id)
    if row.disposition == Disposition.HELD:
        return facts.does_not_fit(row, payment)
    settling.ask_about_external(payment, row_id, fact.money.amount_minor, now=now)
    return Decision(outcome=Outcome.APPLIED, transaction_id=row_id)


def _numbered(fact: rows.Fact) -> rows.Fact:
    return facts.numbered_total(fact, _NUMBER_LENGTH_MAX) if fact.is_total else fact
