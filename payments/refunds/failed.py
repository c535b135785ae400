"""Decide a callback that says a refund failed: before it succeeded, or after."""

from datetime import datetime

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
from payments.refunds import booking, events, facts, lifecycle, ours, room, rows, settling
from payments.settle import Payee


def decide(callback: Callback, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """Free the room, or move the amounts back and ask a person; never twice."""
    refund = ours.find(callback, account_id=account_id)
    payment = facts.find_payment(callback, payee, account_id=account_id, refund=refund)
    if payment is None:
        return _without_payment(callback, account_id=account_id)
    if refund is not None:
        refund = ours.lock(refund)
        if refund.status != RefundStatus.SUCCEEDED:
            return _not_succeeded(callback, refund, payment, now=now)
    return _succeeded_before(callback, refund, payment, now=now)


def _not_succeeded(
    callback: Callback, refund: Refund, payment: ProviderTransaction, *, now: datetime
) -> Decision:
    """A refund of ours that is under way fails; one that has failed fails once."""
    if refund.status == RefundStatus.FAILED:
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=payment.pk)
    settling.fail(refund, payment, why=callback.event_type, now=now)
    return Decision(outcome=Outcome.APPLIED, transaction_id=payment.pk)


def _succeeded_before(
    callback: Callback, refund: Refund | None, payment: ProviderTransaction, *, now: datetime
) -> Decision:
    """What the ledger has under this number comes back, unless the news is older than that."""
    row = _row_of(callback, refund, account_id=payment.account_id)
    if row is None:
        return _never_told(callback, payment, now=now)
    if row.disposition == Disposition.RETURNED:
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)
    if _is_older(callback, row):
        return Decision(outcome=Outcome.RECORDED, reason="STALE")
    return _reverse(row, refund, payment, now=now)


def _row_of(
    callback: Callback, refund: Refund | None, *, account_id: int
) -> ProviderTransaction | None:
    if refund is not None and refund.transaction_id is not None:
        rows_ = ProviderTransaction.objects.select_for_update(no_key=True)
        return rows_.get(pk=refund.transaction_id)
    return rows.find_locked(account_id, TransactionKind.REFUND, callback.txn_no)


def _reverse(
    row: ProviderTransaction,
    refund: Refund | None,
    payment: ProviderTransaction,
    *,
    now: datetime,
) -> Decision:
    """It had succeeded: its money came back, and somebody must pay it another way."""
    counted = row.counted_minor
    rows.count(row, 0, Disposition.RETURNED)
    if counted:
        room.must_move(payment, reserved=-counted, refunded=-counted, at=now, now=now)
    if refund is not None:
        lifecycle.end(refund, RefundStatus.FAILED, why="it failed after it had succeeded", now=now)
        events.tell_refund("failed", refund, payment, now=now)
    return _ask(row.pk, row.amount_minor, payment, refund)


def _never_told(callback: Callback, payment: ProviderTransaction, *, now: datetime) -> Decision:
    """No such refund is in the ledger: but a total may have told it."""
    fact = facts.fact_of(callback, TransactionKind.REFUND, now=now)
    told = sum(row.counted_minor for row in booking.totals(payment))
    if fact is None or told < fact.money.amount_minor:
        return Decision(outcome=Outcome.RECORDED)
    amount = fact.money.amount_minor
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.RETURNED,
        counted_minor=0,
        now=now,
    )
    assert row_id is not None  # noqa: S101 - looked for under the payment's lock
    booking.cover(payment, amount)
    room.must_move(payment, reserved=-amount, refunded=-amount, at=fact.occurred_at, now=now)
    return _ask(row_id, amount, payment, None)


def _without_payment(callback: Callback, *, account_id: int) -> Decision:
    """The refund may wait for its payment: then it waits no more."""
    row = rows.find_locked(account_id, TransactionKind.REFUND, callback.txn_no)
    if row is not None and row.disposition == Disposition.PARKED:
        rows.count(row, 0, Disposition.RETURNED)
    return Decision(outcome=Outcome.RECORDED)


def _is_older(callback: Callback, row: ProviderTransaction) -> bool:
    return (
        callback.occurred_at is not None
        and row.occurred_at_is_stated
        and callback.occurred_at < row.occurred_at
    )


def _ask(
    row_id: int, amount_minor: int, payment: ProviderTransaction, refund: Refund | None
) -> Decision:
    case = conflicts.Case(
        reason=ConflictReason.REFUND_REVERSED,
        subject=f"transaction:{row_id}",
        **settling.sides(
            payment, amount_minor, refund_no=refund.refund_no if refund else None, known="SUCCEEDED"
        ),
        order_id=payment.order_id,
        transaction_id=row_id,
    )
    return facts.conflict(case)
