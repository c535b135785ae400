"""Decide a callback that says a refund failed: before it succeeded, or after.

A failure is remembered under its number, so that the news may come in either order. Where all
times are stated the latest one is the last word; else the failure is.
"""

from datetime import datetime

from payments.callback import Callback, Outcome
from payments.decision import Decision
from payments.models import (
    Disposition,
    ProviderTransaction,
    Refund,
    RefundStatus,
    TransactionKind,
)
from payments.refunds import (
    booking,
    events,
    facts,
    failed_first,
    lifecycle,
    ours,
    payment_of,
    questions,
    rows,
    settling,
    waiting,
)
from payments.settle import Payee


def decide(callback: Callback, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """Free the room, or move the amounts back and ask a person; never twice."""
    refund = ours.find(callback, account_id=account_id)
    payment = payment_of.find(callback, payee, account_id=account_id, refund=refund)
    if payment is None:
        return failed_first.without_payment(callback, payee, account_id=account_id, now=now)
    if refund is not None:
        refund = ours.lock(refund)
        if refund.status not in (RefundStatus.SUCCEEDED, RefundStatus.FAILED):
            return _under_way(callback, refund, payment, now=now)
    row = _row_of(callback, refund, account_id=payment.account_id)
    if row is not None:
        return _told_before(callback, row, refund, payment, now=now)
    if refund is not None:
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=payment.pk)
    return failed_first.of_payment(callback, payment, now=now)


def _under_way(
    callback: Callback, refund: Refund, payment: ProviderTransaction, *, now: datetime
) -> Decision:
    """It will not happen; if it was told as somebody else's before, that comes back with it."""
    settling.fail(refund, payment, why=callback.event_type, now=now)
    row = rows.find_locked(payment.account_id, TransactionKind.REFUND, callback.txn_no)
    if row is not None and settling.is_of(payment, row, refund.money):
        return _told_before(callback, row, refund, payment, now=now)
    return Decision(outcome=Outcome.APPLIED, transaction_id=payment.pk)


def _row_of(
    callback: Callback, refund: Refund | None, *, account_id: int
) -> ProviderTransaction | None:
    if refund is not None and refund.transaction_id is not None:
        rows_ = ProviderTransaction.objects.select_for_update(no_key=True)
        return rows_.get(pk=refund.transaction_id)
    return rows.find_locked(account_id, TransactionKind.REFUND, callback.txn_no)


def _told_before(
    callback: Callback,
    row: ProviderTransaction,
    refund: Refund | None,
    payment: ProviderTransaction,
    *,
    now: datetime,
) -> Decision:
    """What the ledger has under this number comes back, unless the news is older than that."""
    known = row.failure_told_at is not None
    is_new = rows.hear_failure(row, failed_first.stated_at(callback, row, refund), told_at=now)
    if row.disposition == Disposition.PARKED and rows.agrees(row, payment):
        return waiting.adopt(payment, row, now=now)
    if row.disposition == Disposition.RETURNED and is_new:
        return _came_back_before(row, payment, now=now)
    if row.disposition in (Disposition.RETURNED, Disposition.PARKED):
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)
    if not rows.has_failed(row):
        return Decision(outcome=Outcome.RECORDED, reason="STALE")
    return _reverse(row, refund, payment, story=_story(row) if known else "", now=now)


def _came_back_before(
    row: ProviderTransaction, payment: ProviderTransaction, *, now: datetime
) -> Decision:
    """That it failed is known, and not when: a total may have told it, or not, after all."""
    before = payment.refunded_minor
    booking.recount(payment, at=now, now=now)
    if payment.refunded_minor < before:
        case = questions.taken_back(payment, row, known="SUCCEEDED", story=_story(row))
        return facts.conflict(case)
    return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)


def _story(row: ProviderTransaction) -> str:
    """It came back, went out again, and came back once more: another question than the first."""
    return f"{row.failed_at:%Y%m%d%H%M%S%f}" if row.failed_at else "again"


def _reverse(
    row: ProviderTransaction,
    refund: Refund | None,
    payment: ProviderTransaction,
    *,
    story: str,
    now: datetime,
) -> Decision:
    """It had succeeded: its money came back, and somebody must pay it another way."""
    rows.set_(row, disposition=Disposition.RETURNED, counted_minor=0)
    was_ours = refund is not None and refund.status == RefundStatus.SUCCEEDED
    if refund is not None and was_ours:
        lifecycle.end(refund, RefundStatus.FAILED, why="it failed after it had succeeded", now=now)
    booking.recount(payment, at=now, now=now)
    if refund is not None and was_ours:
        events.tell_refund("failed", refund, payment, now=now)
    number = refund.refund_no if refund else None
    case = questions.taken_back(payment, row, refund_no=number, known="SUCCEEDED", story=story)
    return facts.conflict(case)
