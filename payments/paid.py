"""Decide a callback that says: this order was paid."""

import hashlib
from datetime import datetime

from orders import lookup
from orders.lookup import OwedOrder
from orders.numbers import lock_order_number
from payments import ledger, parked
from payments.callback import Callback, Outcome
from payments.conflicts import Case
from payments.decision import Decision
from payments.ledger import LedgerRow, Payment
from payments.models import ConflictReason, Disposition
from payments.refunds import waiting
from payments.settle import Payee, disagreement, expected_side, received_side, settle


class LedgerRowMissing(RuntimeError):
    """The ledger refused a number that it does not hold: a fault of ours, tried again."""


def decide(callback: Callback, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """Enter the payment in the ledger and settle it; the caller's transaction holds it all."""
    payment = _payment(callback, now=now)
    if payment is None:
        return _no_money(callback, payee, account_id=account_id)
    order = _order(payment, payee)
    reason = disagreement(payment, order, payee)
    inserted = ledger.insert(
        payment,
        account_id=account_id,
        merchant_id=payee.merchant_id,
        order_id=order.id if order and not reason else None,
        disposition=_disposition(order, reason),
        now=now,
    )
    if inserted is None:
        return _told_again(payment, order, payee, account_id=account_id, now=now)
    decision = _settled(payment, order, payee, inserted.id, reason, now=now)
    if inserted.is_awaited:
        waiting.apply_to(inserted.id, payee, now=now)
    return decision


def _settled(
    payment: Payment,
    order: OwedOrder | None,
    payee: Payee,
    row_id: int,
    reason: ConflictReason | None,
    *,
    now: datetime,
) -> Decision:
    """Pay the order with a payment that is new; or say why it is held or waits."""
    if reason is None:
        if order is None:
            return Decision(outcome=Outcome.PARKED, transaction_id=row_id)
        reason = settle(payment, order, payee, now=now)
        if reason is None:
            return Decision(outcome=Outcome.APPLIED, transaction_id=row_id)
        ledger.place(row_id, Disposition.HELD, order_id=None)
        order = lookup.find(payee.merchant_id, payment.order_no)
    return _conflict(
        Case(
            reason=reason,
            subject=f"transaction:{row_id}",
            expected=expected_side(order, payee),
            received=received_side(payment, payee),
            order_id=order.id if order else None,
            transaction_id=row_id,
        )
    )


def _payment(callback: Callback, *, now: datetime) -> Payment | None:
    """The payment that the callback states, or None if it states no money that could arrive."""
    if callback.money is None or callback.money.amount_minor <= 0:
        return None
    return Payment(
        txn_no=callback.txn_no,
        order_no=callback.order_no or "",
        stated_account_no=callback.account_no or "",
        money=callback.money,
        occurred_at=callback.occurred_at or now,
        occurred_at_is_stated=callback.occurred_at is not None,
    )


def _no_money(callback: Callback, payee: Payee, *, account_id: int) -> Decision:
    """Nothing to enter in the ledger: zero, less, or a fraction of a minor unit was stated."""
    order = lookup.find(payee.merchant_id, callback.order_no or "")
    received = {
        "endpoint": payee.endpoint,
        "txn_no": callback.txn_no,
        "order_no": callback.order_no or "",
        "stated_amount": callback.stated_amount or str(callback.money),
    }
    return _conflict(
        Case(
            reason=ConflictReason.AMOUNT_MISMATCH,
            subject=f"event:{account_id}:{callback.event_id}",
            expected=expected_side(order, payee),
            received=received,
            order_id=order.id if order else None,
        )
    )


def _order(payment: Payment, payee: Payee) -> OwedOrder | None:
    """The order that the payment names; if there is none, its number is locked until we commit."""
    if not payment.order_no:
        return None
    order = lookup.find(payee.merchant_id, payment.order_no)
    if order is None:
        lock_order_number(payee.merchant_id, payment.order_no)
        order = lookup.find(payee.merchant_id, payment.order_no)
    return order


def _disposition(order: OwedOrder | None, reason: ConflictReason | None) -> Disposition:
    if reason is not None:
        return Disposition.HELD
    return Disposition.PARKED if order is None else Disposition.APPLIED


def _told_again(
    payment: Payment, order: OwedOrder | None, payee: Payee, *, account_id: int, now: datetime
) -> Decision:
    """The ledger has this transaction: the same fact, more of it, or another one."""
    row = ledger.find_locked(account_id, payment.txn_no)
    if row is None:
        raise LedgerRowMissing(payment.txn_no)
    if payment.contradicts(row.payment, account_no=payee.account_no):
        return _altered(payment, row, payee)
    if payment.order_no and not row.payment.order_no:
        ledger.name_order(row.id, payment.order_no)
        if order is not None and row.disposition is Disposition.PARKED:
            waiting = parked.Parked(id=row.id, payment=payment, payee=payee)
            reason = parked.settle_parked(waiting, order, now=now)
            return Decision(
                outcome=Outcome.CONFLICT if reason else Outcome.APPLIED,
                reason=reason or "",
                transaction_id=row.id,
            )
    return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.id)


def _altered(payment: Payment, row: LedgerRow, payee: Payee) -> Decision:
    received = received_side(payment, payee)
    # The same altered story asks once, however often it is told; another one asks again.
    story = "\0".join([payment.order_no, str(payment.money), payment.stated_account_no])
    digest = hashlib.sha256(story.encode()).hexdigest()[:16]
    return _conflict(
        Case(
            reason=ConflictReason.TRANSACTION_ALTERED,
            subject=f"transaction:{row.id}:{digest}",
            expected=received_side(row.payment, payee),
            received=received,
            transaction_id=row.id,
        )
    )


def _conflict(case: Case) -> Decision:
    return Decision(
        outcome=Outcome.CONFLICT,
        reason=case.reason,
        transaction_id=case.transaction_id,
        case=case,
    )
