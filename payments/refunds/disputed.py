"""Decide a callback that tells of a dispute: the payer's bank took money back, or gave it back.

A dispute has one number. What it takes is the same in whatever order its news comes: the opening
takes, won gives back, and lost takes in the end, also after it was won once (a second
chargeback). The order does not move; its payment's room does.
"""

from datetime import datetime

from orders.money import Money
from payments.callback import Callback, Kind, Outcome
from payments.decision import Decision
from payments.models import Delivery, Disposition, ProviderTransaction, TransactionKind
from payments.refunds import events, facts, room, rows
from payments.refunds.rows import Fact
from payments.settle import Payee

_STATES = {Kind.DISPUTED: "OPEN", Kind.DISPUTE_WON: "WON", Kind.DISPUTE_LOST: "LOST"}


def decide(callback: Callback, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """Enter the chargeback or its reversal once, and move the room of its payment."""
    payment = facts.find_payment(callback, payee, account_id=account_id)
    won = callback.kind is Kind.DISPUTE_WON
    kind = TransactionKind.CHARGEBACK_REVERSAL if won else TransactionKind.CHARGEBACK
    whole = _unstated(callback, payment, account_id=account_id) if payment else None
    fact = facts.fact_of(callback, kind, now=now, money=whole)
    if fact is None:
        return Decision(outcome=Outcome.RECORDED, reason="NO_AMOUNT")
    if payment is None:
        return facts.park(fact, payee, account_id=account_id, now=now)
    refused = facts.disagreement(fact, payment, payee, now=now)
    if refused is not None:
        return refused
    return _enter(callback.kind, fact, payment, now=now)


def count_waiting(payment: ProviderTransaction, row: ProviderTransaction, *, now: datetime) -> bool:
    """Count a chargeback or reversal that waited for its payment; False if it does not fit."""
    rows.count(row, 0, Disposition.APPLIED, payment=payment)
    fits = _recount(payment, row.txn_no, at=row.occurred_at, now=now)
    won = row.kind == TransactionKind.CHARGEBACK_REVERSAL
    _tell(payment, row.txn_no, "WON" if won else "OPEN", Money(row.amount_minor, row.currency), now)
    return fits


def _unstated(callback: Callback, payment: ProviderTransaction, *, account_id: int) -> Money:
    """What a dispute is about that states no amount: what it was told with, or all that is left."""
    known = rows.find_locked(account_id, TransactionKind.CHARGEBACK, callback.txn_no)
    if known is not None:
        return Money(known.amount_minor, known.currency)
    return Money(room.left(payment) or payment.amount_minor, payment.currency)


def _enter(kind: Kind, fact: Fact, payment: ProviderTransaction, *, now: datetime) -> Decision:
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.APPLIED,
        counted_minor=0,
        now=now,
    )
    if row_id is None:
        row = rows.find_locked(payment.account_id, fact.kind, fact.txn_no)
        assert row is not None  # noqa: S101 - the insert has just met it
        lost_only_now = kind is Kind.DISPUTE_LOST and not _was_lost(payment, fact.txn_no)
        if not lost_only_now or row.reverses_id != payment.pk:
            return facts.told_again(fact, payment, now=now)
        row_id = row.pk
    lost = kind is Kind.DISPUTE_LOST
    fits = _recount(payment, fact.txn_no, lost=lost, at=fact.occurred_at, now=now)
    _tell(payment, fact.txn_no, _STATES[kind], fact.money, now)
    if not fits:
        return facts.does_not_fit(ProviderTransaction.objects.get(pk=row_id), payment)
    return Decision(outcome=Outcome.APPLIED, transaction_id=row_id)


def _recount(
    payment: ProviderTransaction,
    dispute_no: str,
    *,
    lost: bool = False,
    at: datetime,
    now: datetime,
) -> bool:
    """Let the room be what the dispute's facts say together; False if it has not that much.

    What there is is taken in any case: nothing of it may still be refunded.
    """
    taken = rows.find_locked(payment.account_id, TransactionKind.CHARGEBACK, dispute_no)
    back = rows.find_locked(payment.account_id, TransactionKind.CHARGEBACK_REVERSAL, dispute_no)
    if taken is None or taken.reverses_id != payment.pk:
        return True  # Won, and nothing was taken: so far.
    if back is not None and back.reverses_id != payment.pk:
        back = None  # It waits too, and its turn comes.
    before = taken.counted_minor - (back.counted_minor if back else 0)
    returned = 0
    if back is not None and not lost and not _was_lost(payment, dispute_no):
        returned = min(back.amount_minor, taken.amount_minor)
    counted = min(taken.amount_minor, before + room.left(payment) + returned)
    if not room.move(payment, charged_back=counted - returned - before, at=at, now=now):
        raise room.RoomLost(f"transaction {payment.pk}")
    rows.count(taken, counted, Disposition.APPLIED if counted else Disposition.HELD)
    if back is not None:
        rows.count(back, returned, Disposition.APPLIED)
    return counted == taken.amount_minor


def _was_lost(payment: ProviderTransaction, dispute_no: str) -> bool:
    told = Delivery.objects.filter(account_id=payment.account_id, txn_no=dispute_no)
    return told.filter(kind=Kind.DISPUTE_LOST).exclude(outcome=Outcome.CONFLICT).exists()


def _tell(
    payment: ProviderTransaction, dispute_no: str, state: str, money: Money, now: datetime
) -> None:
    events.tell_disputed(payment, dispute_no=dispute_no, state=state, money=money, now=now)
