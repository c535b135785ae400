"""Parked payments: money for an order that we do not know yet.

A parked payment is applied when its order appears, in the order's own transaction;
`payments/sweep.py` finds what that missed.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

from orders import lookup
from orders.lookup import OwedOrder
from orders.models import Order
from orders.money import Money
from payments import conflicts, ledger
from payments.ledger import Payment
from payments.models import ConflictReason, Disposition
from payments.refunds import room
from payments.settle import Payee, disagreement, expected_side, received_side, settle

SELECT: Final = """
    SELECT t.id, t.txn_no, t.order_no, t.stated_account_no, t.amount_minor, t.currency,
           t.occurred_at, t.merchant_id, m.code, a.account_no, a.provider || '/' || a.name
      FROM payments_providertransaction t
      JOIN payments_provideraccount a ON a.id = t.account_id
      JOIN orders_merchant m ON m.id = t.merchant_id
"""
_OF_ORDER_SQL: Final = f"""
    {SELECT}
     WHERE t.merchant_id = %s AND t.order_no = %s
       AND t.kind = 'PAYMENT' AND t.disposition = 'PARKED'
  ORDER BY t.id FOR NO KEY UPDATE OF t
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A parked row of the ledger, locked, and whom it pays."""

    id: int
    payment: Payment
    payee: Payee

    @property
    def subject(self) -> str:
        """What a conflict about this payment is about."""
        return f"transaction:{self.id}"


def apply_to(order: Order, now: datetime) -> None:
    """Settle all payments that wait for this new order, in the transaction that creates it."""
    owed = lookup.find(order.merchant_id, order.order_no)
    assert owed is not None  # noqa: S101 - inserted in this transaction
    for waiting in locked(_OF_ORDER_SQL, order.merchant_id, order.order_no):
        settle_parked(waiting, owed, now=now)


def settle_parked(waiting: Parked, order: OwedOrder, *, now: datetime) -> ConflictReason | None:
    """Apply a parked payment to its order, or hold it and ask a person. Returns the reason."""
    payee = waiting.payee
    reason = disagreement(waiting.payment, order, payee) or settle(
        waiting.payment, order, payee, now=now
    )
    if reason is None:
        ledger.place(waiting.id, Disposition.APPLIED, order_id=order.id)
        payment = room.lock(waiting.id)
        if payment.refunded_minor:
            room.tell_refunded(payment, at=now, now=now)
    else:
        ledger.place(waiting.id, Disposition.HELD, order_id=None)
        case = conflicts.Case(
            reason=reason,
            subject=waiting.subject,
            # Read anew: an earlier one of several waiting payments may have moved it.
            expected=expected_side(lookup.find(payee.merchant_id, order.order_no), payee),
            received=received_side(waiting.payment, payee),
            order_id=order.id,
            transaction_id=waiting.id,
        )
        conflicts.open_conflict(
            case, merchant_id=payee.merchant_id, merchant_code=payee.merchant_code, now=now
        )
    for asked in (ConflictReason.ORDER_NOT_FOUND, ConflictReason.PERHAPS_TOLD_TWICE):
        # What was asked just now, about this very matching, stays.
        if asked is not reason:
            conflicts.answered_by_fact(
                asked,
                waiting.subject,
                resolution="the order appeared",
                merchant_code=payee.merchant_code,
                now=now,
            )
    return reason


def locked(sql: str, *parameters: int | str) -> list[Parked]:
    """The parked payments that a statement built on SELECT finds and locks."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows = cursor.fetchall()
    return [
        Parked(
            id=row[0],
            payment=Payment(
                txn_no=row[1],
                order_no=row[2],
                stated_account_no=row[3],
                money=Money(row[4], row[5]),
                occurred_at=row[6],
            ),
            payee=Payee(
                merchant_id=row[7], merchant_code=row[8], account_no=row[9], endpoint=row[10]
            ),
        )
        for row in rows
    ]
