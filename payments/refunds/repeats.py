"""Facts whose number the ledger has: the same news again, later news of it, or another story."""

from datetime import datetime
from typing import Final

from orders.money import Money
from payments.callback import Outcome
from payments.decision import Decision
from payments.models import (
    Conflict,
    ConflictReason,
    ConflictStatus,
    Disposition,
    ProviderTransaction,
    TransactionKind,
)
from payments.refunds import facts, questions, rows, waiting
from payments.refunds.rows import Fact
from payments.settle import Payee

_WAITS: Final = (ConflictStatus.OPEN, ConflictStatus.PROPOSED)


def disagreement(
    fact: Fact, payment: ProviderTransaction, payee: Payee, *, now: datetime
) -> Decision | None:
    """A fact of another account or currency than its payment's counts nothing and is asked about.

    None if it agrees.
    """
    if fact.stated_account_no and fact.stated_account_no != payee.account_no:
        reason = ConflictReason.MERCHANT_MISMATCH
    elif fact.money.currency != payment.currency:
        reason = ConflictReason.CURRENCY_MISMATCH
    else:
        return None
    row = facts.enter(fact, payment, disposition=Disposition.HELD, now=now)
    if row is not None:
        return facts.disagreeing(fact, payment, row, reason)
    row = facts.known(fact, account_id=payment.account_id)
    if _is_another(row, fact, payment):
        return facts.altered(row, fact)
    return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)


def told_again(fact: Fact, payment: ProviderTransaction, *, now: datetime) -> Decision:
    """Money went back under a number that the ledger has: what is new about it counts."""
    row = facts.known(fact, account_id=payment.account_id)
    if _is_another(row, fact, payment):
        return facts.altered(row, fact)
    is_refund = fact.kind == TransactionKind.REFUND
    is_later = is_refund and rows.hear_success(row, fact.stated_at)
    if row.disposition == Disposition.PARKED:
        return _adopt(payment, row, now=now)
    if row.disposition == Disposition.RETURNED:
        return _succeeds_again(payment, row, is_later=is_later, now=now)
    if row.is_total and is_later:
        # It stands again, or still, though refunds of it may have failed meanwhile.
        return waiting.count(payment, row, now=now)
    return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)


def _adopt(payment: ProviderTransaction, row: ProviderTransaction, *, now: datetime) -> Decision:
    if not rows.agrees(row, payment):
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)
    if rows.has_failed(row):
        waiting.adopt(payment, row, now=now)
        return _succeeds_again(payment, row, is_later=False, now=now)
    return waiting.adopt(payment, row, now=now)


def _succeeds_again(
    payment: ProviderTransaction, row: ProviderTransaction, *, is_later: bool, now: datetime
) -> Decision:
    """It failed, and is told as done: counted if that is known to be the last word."""
    asked = Conflict.objects.filter(transaction=row, reason=ConflictReason.REFUND_REVERSED)
    was_asked = asked.exists()
    story = f"{row.occurred_at:%Y%m%d%H%M%S%f}"
    if rows.has_failed(row):
        if not was_asked:
            return facts.conflict(questions.taken_back(payment, row, known="FAILED"))
        if is_later and row.failed_at is None and not asked.filter(status__in=_WAITS).exists():
            # The money may have left once more since a person has decided.
            case = questions.taken_back(payment, row, known="FAILED", story=story)
            return facts.conflict(case)
        return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)
    rows.set_(row, disposition=Disposition.APPLIED)
    decision = waiting.count(payment, row, now=now)
    if not was_asked:
        return decision
    # A person may have paid it another way since: this time it is another question.
    if decision.case is not None:
        questions.ask(decision.case, payment, now=now)
    return facts.conflict(questions.taken_back(payment, row, known="FAILED", story=story))


def _is_another(row: ProviderTransaction, fact: Fact, payment: ProviderTransaction) -> bool:
    same_payment = row.reverses_id in (None, payment.pk)
    return not same_payment or Money(row.amount_minor, row.currency) != fact.money
