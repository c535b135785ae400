"""Decide a callback that says a refund failed: before it succeeded, or after.

A failure is remembered under its number, so that the news may come in either order. Where both
times are stated the later one is the last word; else the failure is.
"""

from dataclasses import replace
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
    lifecycle,
    ours,
    payment_of,
    questions,
    rows,
    settling,
    waiting,
)
from payments.refunds.rows import Fact
from payments.settle import Payee


def decide(callback: Callback, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """Free the room, or move the amounts back and ask a person; never twice."""
    refund = ours.find(callback, account_id=account_id)
    payment = payment_of.find(callback, payee, account_id=account_id, refund=refund)
    if payment is None:
        return _without_payment(callback, payee, account_id=account_id, now=now)
    if refund is not None:
        refund = ours.lock(refund)
        if refund.status not in (RefundStatus.SUCCEEDED, RefundStatus.FAILED):
            return _under_way(callback, refund, payment, now=now)
    row = _row_of(callback, refund, account_id=payment.account_id)
    if row is not None:
        return _told_before(callback, row, refund, payment, now=now)
    if refund is not None:
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=payment.pk)
    return _first_news(callback, payment, now=now)


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
    rows.hear_failure(row, callback.occurred_at, now=now)
    if row.disposition == Disposition.PARKED and rows.agrees(row, payment):
        return waiting.adopt(payment, row, now=now)
    if row.disposition in (Disposition.RETURNED, Disposition.PARKED):
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)
    if not rows.has_failed(row):
        return Decision(outcome=Outcome.RECORDED, reason="STALE")
    return _reverse(row, refund, payment, story=_story(row) if known else "", now=now)


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


def _first_news(callback: Callback, payment: ProviderTransaction, *, now: datetime) -> Decision:
    """No such refund is in the ledger: its success may come later, or a total has told it."""
    fact = _fact_of(callback, now=now)
    if fact is None or fact.money.currency != payment.currency:
        return Decision(outcome=Outcome.RECORDED)
    row = facts.enter(fact, payment, disposition=Disposition.RETURNED, now=now)
    assert row is not None  # noqa: S101 - looked for under the payment's lock
    before = payment.refunded_minor
    booking.recount(payment, at=fact.occurred_at, now=now)
    if payment.refunded_minor < before:
        return facts.conflict(questions.taken_back(payment, row, known="SUCCEEDED"))
    return Decision(outcome=Outcome.APPLIED, transaction_id=row.pk)


def _without_payment(
    callback: Callback, payee: Payee, *, account_id: int, now: datetime
) -> Decision:
    """It waits for its payment, as its success would: what it amounts to is decided then."""
    row = rows.find_locked(account_id, TransactionKind.REFUND, callback.txn_no)
    if row is not None:
        rows.hear_failure(row, callback.occurred_at, now=now)
        return Decision(outcome=Outcome.PARKED, transaction_id=row.pk)
    fact = _fact_of(callback, now=now)
    if fact is None:
        return Decision(outcome=Outcome.RECORDED)
    return facts.park(fact, payee, account_id=account_id, now=now)


def _fact_of(callback: Callback, *, now: datetime) -> Fact | None:
    """The failure as a fact of the ledger: when the money had gone back it does not say."""
    fact = facts.fact_of(callback, TransactionKind.REFUND, now=now)
    if fact is None:
        return None
    return replace(
        fact,
        occurred_at_is_stated=False,
        is_total=False,
        failed_at=callback.occurred_at,
        failure_told_at=now,
    )
