"""Decide a callback that tells of a dispute: the payer's bank took money back, or gave it back.

A dispute has one number. What it takes is the same in whatever order its news comes: the opening
takes, won gives back, and lost takes in the end, also after it was won once (a second
chargeback). The order does not move; its payment's room does.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from orders.money import Money
from payments.callback import Callback, Kind, Outcome
from payments.decision import Decision
from payments.models import Disposition, ProviderTransaction, TransactionKind
from payments.refunds import events, facts, payment_of, repeats, reversals, room, rows, waiting
from payments.refunds.events import DisputeState
from payments.refunds.rows import Fact
from payments.settle import Payee

_STATES: Final[Mapping[Kind, DisputeState]] = {
    Kind.DISPUTED: "OPEN",
    Kind.DISPUTE_WON: "WON",
    Kind.DISPUTE_LOST: "LOST",
}


def decide(callback: Callback, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """Enter the chargeback or its reversal once, and move the room of its payment."""
    payment = payment_of.find(callback, payee, account_id=account_id)
    won = callback.kind is Kind.DISPUTE_WON
    kind = TransactionKind.CHARGEBACK_REVERSAL if won else TransactionKind.CHARGEBACK
    whole = _unstated(callback, payment, account_id=account_id) if payment else None
    fact = facts.fact_of(callback, kind, now=now, money=whole)
    if fact is None:
        return Decision(outcome=Outcome.RECORDED, reason="NO_AMOUNT")
    if payment is None:
        return facts.park(fact, payee, account_id=account_id, now=now)
    refused = repeats.disagreement(fact, payment, payee, now=now)
    if refused is not None:
        return refused
    return _enter(callback.kind, fact, payment, now=now)


def _unstated(callback: Callback, payment: ProviderTransaction, *, account_id: int) -> Money:
    """What a dispute is about that states no amount: what it was told with, or all that is left."""
    known = rows.find_locked(account_id, TransactionKind.CHARGEBACK, callback.txn_no)
    if known is not None:
        return Money(known.amount_minor, known.currency)
    return Money(room.left(payment) or payment.amount_minor, payment.currency)


def _enter(kind: Kind, fact: Fact, payment: ProviderTransaction, *, now: datetime) -> Decision:
    lost = kind is Kind.DISPUTE_LOST
    row = facts.enter(fact, payment, now=now)
    if row is None:
        row = facts.known(fact, account_id=payment.account_id)
        if row.disposition == Disposition.PARKED and rows.agrees(row, payment):
            return waiting.adopt(payment, row, lost=lost, now=now)
        if not lost or reversals.was_lost(row) or row.reverses_id != payment.pk:
            return repeats.told_again(fact, payment, now=now)
    decision = waiting.count(payment, row, lost=lost, now=now)
    events.tell_disputed(
        payment, dispute_no=fact.txn_no, state=_STATES[kind], money=fact.money, now=now
    )
    return decision
