"""A failure of a refund that the ledger does not have yet: remembered until its success is told."""

from dataclasses import replace
from datetime import datetime

from payments.callback import Callback, Outcome
from payments.decision import Decision
from payments.models import Disposition, ProviderTransaction, Refund, TransactionKind
from payments.refunds import booking, facts, questions, rows
from payments.refunds.rows import Fact
from payments.settle import Payee


def of_payment(callback: Callback, payment: ProviderTransaction, *, now: datetime) -> Decision:
    """No such refund is in the ledger: its success may come later, or a total has told it."""
    fact = _fact_of(callback, now=now)
    if fact is None or fact.money.currency != payment.currency:
        return Decision(outcome=Outcome.RECORDED)
    row = facts.enter(fact, payment, disposition=Disposition.RETURNED, now=now)
    assert row is not None  # noqa: S101 - looked for under the payment's lock
    facts.hear_earlier_failure(row)
    before = payment.refunded_minor
    booking.recount(payment, at=fact.occurred_at, now=now)
    if payment.refunded_minor < before:
        return facts.conflict(questions.taken_back(payment, row, known="SUCCEEDED"))
    return Decision(outcome=Outcome.APPLIED, transaction_id=row.pk)


def without_payment(
    callback: Callback, payee: Payee, *, account_id: int, now: datetime
) -> Decision:
    """It waits for its payment, as its success would: what it amounts to is decided then."""
    row = rows.find_locked(account_id, TransactionKind.REFUND, callback.txn_no)
    if row is not None:
        rows.hear_failure(row, stated_at(callback, row, None), told_at=now)
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


def stated_at(
    callback: Callback, row: ProviderTransaction, refund: Refund | None
) -> datetime | None:
    """The time of a failure, if it would be kept as well where its success is told later.

    Without its money it could not be entered, so it counts as told without a time: in either order.
    """
    money = callback.money
    is_kept = money is not None and money.amount_minor > 0 and money.currency == row.currency
    return callback.occurred_at if is_kept or refund is not None else None
