"""Refunds and chargebacks that came before their payment: counted when it is known."""

from datetime import datetime

from django.db.models import Q

from orders.money import Money
from payments.callback import Kind, Outcome
from payments.decision import Decision
from payments.models import (
    ConflictReason,
    Delivery,
    Disposition,
    ProviderTransaction,
    TransactionKind,
)
from payments.refunds import booking, events, facts, questions, reversals, room, rows
from payments.refunds.events import DisputeState
from payments.settle import Payee


def apply_to(payment_id: int, payee: Payee, *, now: datetime) -> None:
    """Count all that waits for this payment, in the transaction that enters or settles it."""
    payment = room.lock(payment_id)
    by_order = Q(reverses_no="", order_no=payment.order_no, merchant_id=payment.merchant_id)
    named = Q(account_id=payment.account_id, reverses_no=payment.txn_no)
    found = (
        ProviderTransaction.objects.select_for_update(no_key=True)
        .filter(named | by_order if payment.order_no else named)
        .filter(disposition=Disposition.PARKED, account_id=payment.account_id)
        .exclude(kind=TransactionKind.PAYMENT)
    )
    # Single refunds before totals, small totals before large ones: each then counts its own part.
    for row in found.order_by("is_total", "amount_minor", "pk"):
        # What does not agree with the payment goes on waiting: the sweep asks a person about it.
        if row.currency == payment.currency and row.stated_account_no in ("", payee.account_no):
            decision = adopt(payment, row, now=now)
            if decision.case is not None:
                questions.ask(decision.case, payment, now=now)


def adopt(
    payment: ProviderTransaction, row: ProviderTransaction, *, lost: bool = False, now: datetime
) -> Decision:
    """Count a row that has waited, now that its payment is known; the caller asks what is asked.

    `lost`: it is a dispute that is just being told as lost.
    """
    failed = rows.has_failed(row)
    rows.set_(
        row,
        reverses_id=payment.pk,
        disposition=Disposition.RETURNED if failed else Disposition.APPLIED,
    )
    decision = came_back(payment, row) if failed else count(payment, row, lost=lost, now=now)
    if failed:
        booking.recount(payment, at=row.occurred_at, now=now)
    elif row.kind != TransactionKind.REFUND:
        _tell_dispute(payment, row, lost=lost, now=now)
    about = questions.subject(row.pk)
    said = "the payment appeared"
    questions.answer(ConflictReason.PAYMENT_NOT_FOUND, about, said, payment, now=now)
    return decision


def count(
    payment: ProviderTransaction, row: ProviderTransaction, *, lost: bool = False, now: datetime
) -> Decision:
    """Count a row that is of this payment now, and ask what is to be asked of it."""
    before, dispute = row.counted_minor, row.txn_no if lost else ""
    at = row.occurred_at
    counted = booking.recount(payment, at=at, now=now, told=row.pk, lost=dispute)
    row.refresh_from_db()
    if row.pk in counted.missing:
        return facts.conflict(questions.exceeds(payment, row, counted.missing[row.pk]))
    if row.pk in counted.external:
        case = questions.external(payment, row.pk, counted.external[row.pk])
        questions.ask(case, payment, now=now)
    is_news = row.kind != TransactionKind.REFUND or row.counted_minor > before or not row.is_total
    outcome = Outcome.APPLIED if is_news else Outcome.DUPLICATE
    return Decision(outcome=outcome, transaction_id=row.pk)


def came_back(payment: ProviderTransaction, row: ProviderTransaction) -> Decision:
    """A refund that failed before we could count it: asked about if it was told as done."""
    told = Delivery.objects.filter(transaction_id=row.pk, kind=Kind.REFUNDED)
    if told.exists():
        return facts.conflict(questions.taken_back(payment, row, known="SUCCEEDED"))
    return Decision(outcome=Outcome.APPLIED, transaction_id=row.pk)


def _tell_dispute(
    payment: ProviderTransaction, row: ProviderTransaction, *, lost: bool, now: datetime
) -> None:
    state: DisputeState = "WON"
    if row.kind != TransactionKind.CHARGEBACK_REVERSAL:
        state = "LOST" if lost or reversals.was_lost(row) else "OPEN"
    money = Money(row.amount_minor, row.currency)
    events.tell_disputed(payment, dispute_no=row.txn_no, state=state, money=money, now=now)
