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
from payments.refunds import (
    booking,
    facts,
    failed,
    lifecycle,
    ours,
    payment_of,
    questions,
    repeats,
    rows,
    settling,
    waiting,
)
from payments.settle import Payee

#: A total's row is numbered by what it is the total of, and the total.
_NUMBER_LENGTH_MAX: Final = 100


def decide_refunded(
    callback: Callback, payee: Payee, *, account_id: int, now: datetime
) -> Decision:
    """Money went back: enter it once, and count it once, however it is told."""
    refund = ours.find(callback, account_id=account_id)
    payment = payment_of.find(callback, payee, account_id=account_id, refund=refund)
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
    refused = repeats.disagreement(fact, payment, payee, now=now)
    if refused is not None:
        return refused
    booked = _booked(_numbered(fact), payment, now=now)
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
        assert refund.transaction is not None  # noqa: S101 - a CHECK of the database
        rows.hear_success(refund.transaction, callback.occurred_at)
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
    """It failed, and now it succeeded: money has left, and a person is asked what is true."""
    fact = facts.fact_of(callback, TransactionKind.REFUND, now=now, money=refund.money)
    assert fact is not None  # noqa: S101 - the money is given
    row = facts.enter(fact, payment, now=now)
    if row is None:
        return repeats.told_again(fact, payment, now=now)
    # No total that was told before we asked for it can have it.
    lifecycle.link(refund, row.pk)
    counted = booking.recount(payment, at=fact.occurred_at, now=now, told=row.pk)
    if row.pk in counted.missing:
        case = questions.exceeds(payment, row, counted.missing[row.pk])
        questions.ask(case, payment, now=now)
    number, known = refund.refund_no, refund.status
    return facts.conflict(questions.taken_back(payment, row, refund_no=number, known=known))


def _other_money(callback: Callback, refund: Refund, payment: ProviderTransaction) -> Decision:
    """The number is ours and the money is not: it is asked about, and a person is told."""
    story = hashlib.sha256(f"{callback.txn_no}\0{callback.money}".encode()).hexdigest()[:16]
    case = conflicts.Case(
        reason=ConflictReason.AMOUNT_MISMATCH,
        subject=f"refund:{refund.pk}:{story}",
        **questions.sides(
            payment,
            callback.money.amount_minor if callback.money else 0,
            refund_no=refund.refund_no,
            asked_minor=refund.amount_minor,
        ),
        order_id=payment.order_id,
        transaction_id=payment.pk,
    )
    return facts.conflict(case)


def _booked(fact: rows.Fact, payment: ProviderTransaction, *, now: datetime) -> Decision:
    row = facts.enter(fact, payment, now=now)
    if row is None:
        return repeats.told_again(fact, payment, now=now)
    if facts.is_single(fact) and facts.hear_earlier_failure(row):
        rows.set_(row, disposition=Disposition.RETURNED)
        booking.recount(payment, at=fact.occurred_at, now=now)
        return facts.conflict(questions.taken_back(payment, row, known="FAILED"))
    return waiting.count(payment, row, now=now)


def _numbered(fact: rows.Fact) -> rows.Fact:
    return facts.numbered_total(fact, _NUMBER_LENGTH_MAX) if fact.is_total else fact
