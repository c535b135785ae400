"""Parked payments: money for an order that we do not know yet.

A parked payment is applied when its order appears, in the order's own transaction; the sweep
finds what that missed, and asks a person about what has waited too long.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db import DatabaseError, connection, transaction

from orders import lookup
from orders.lookup import OwedOrder
from orders.models import Order
from orders.money import Money
from payments import conflicts, ledger
from payments.ledger import Payment
from payments.models import ConflictReason, Disposition
from payments.settle import Payee, disagreement, expected_side, received_side, settle

log = structlog.get_logger(__name__)

#: How many payments one sweep looks at; the next tick takes the rest.
SWEEP_MAX: Final = 500

_SELECT: Final = """
    SELECT t.id, t.txn_no, t.order_no, t.stated_account_no, t.amount_minor, t.currency,
           t.occurred_at, t.merchant_id, m.code, a.account_no, a.provider || '/' || a.name
      FROM payments_providertransaction t
      JOIN payments_provideraccount a ON a.id = t.account_id
      JOIN orders_merchant m ON m.id = t.merchant_id
"""
_OF_ORDER_SQL: Final = f"""
    {_SELECT}
     WHERE t.merchant_id = %s AND t.order_no = %s AND t.disposition = 'PARKED'
  ORDER BY t.id FOR NO KEY UPDATE OF t
"""  # noqa: S608 - constants only
_BY_ID_SQL: Final = f"""
    {_SELECT}
     WHERE t.id = %s AND t.disposition = 'PARKED' FOR NO KEY UPDATE OF t SKIP LOCKED
"""  # noqa: S608 - constants only
_MATCHABLE_SQL: Final = """
    SELECT t.id FROM payments_providertransaction t
      JOIN orders_order o ON o.merchant_id = t.merchant_id AND o.order_no = t.order_no
     WHERE t.disposition = 'PARKED' ORDER BY t.id LIMIT %s
"""
_OVERDUE_SQL: Final = """
    SELECT t.id FROM payments_providertransaction t
     WHERE t.disposition = 'PARKED' AND t.recorded_at <= %s
       AND NOT EXISTS (SELECT FROM payments_conflict c
                        WHERE c.reason = 'ORDER_NOT_FOUND' AND c.subject = 'transaction:' || t.id)
  ORDER BY t.id LIMIT %s
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What one sweep did."""

    applied: int
    conflicts: int


def apply_to(order: Order, now: datetime) -> None:
    """Settle all payments that wait for this new order, in the transaction that creates it."""
    owed = lookup.find(order.merchant_id, order.order_no)
    assert owed is not None  # noqa: S101 - inserted in this transaction
    for waiting in _locked(_OF_ORDER_SQL, order.merchant_id, order.order_no):
        settle_parked(waiting, owed, now=now)


def settle_parked(waiting: Parked, order: OwedOrder, *, now: datetime) -> ConflictReason | None:
    """Apply a parked payment to its order, or hold it and ask a person. Returns the reason."""
    payee = waiting.payee
    reason = disagreement(waiting.payment, order, payee) or settle(
        waiting.payment, order, payee, now=now
    )
    if reason is None:
        ledger.place(waiting.id, Disposition.APPLIED, order_id=order.id)
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
    conflicts.answered_by_fact(
        ConflictReason.ORDER_NOT_FOUND,
        waiting.subject,
        resolution="the order appeared",
        merchant_code=payee.merchant_code,
        now=now,
    )
    return reason


def sweep(*, now: datetime, grace: timedelta, limit: int = SWEEP_MAX) -> Swept:
    """Match parked payments to orders that exist by now; after `grace`, ask a person.

    Each payment is one transaction, so that one waits for no other; at most `limit` of both.
    """
    matched = [_alone(_match, row_id, now) for row_id in _ids(_MATCHABLE_SQL, limit)]
    overdue = [_alone(_ask, row_id, now) for row_id in _ids(_OVERDUE_SQL, now - grace, limit)]
    return Swept(applied=sum(matched), conflicts=sum(overdue))


def _alone(work: Callable[..., bool], row_id: int, now: datetime) -> bool:
    """One payment's transaction; its failure is logged and must not hold up the others."""
    try:
        return work(row_id, now=now)
    except DatabaseError as error:
        log.error("parked payment failed", transaction_id=row_id, error=type(error).__name__)  # noqa: TRY400 - the name is enough; a trace would hold values
        return False


@transaction.atomic(durable=True)
def _match(row_id: int, *, now: datetime) -> bool:
    for waiting in _locked(_BY_ID_SQL, row_id):
        order = lookup.find(waiting.payee.merchant_id, waiting.payment.order_no)
        if order is not None:
            return settle_parked(waiting, order, now=now) is None
    return False


@transaction.atomic(durable=True)
def _ask(row_id: int, *, now: datetime) -> bool:
    for waiting in _locked(_BY_ID_SQL, row_id):
        case = conflicts.Case(
            reason=ConflictReason.ORDER_NOT_FOUND,
            subject=waiting.subject,
            expected=expected_side(None, waiting.payee),
            received=received_side(waiting.payment, waiting.payee),
            transaction_id=waiting.id,
        )
        opened = conflicts.open_conflict(
            case,
            merchant_id=waiting.payee.merchant_id,
            merchant_code=waiting.payee.merchant_code,
            now=now,
        )
        return opened is not None
    return False


def _ids(sql: str, *parameters: object) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [row[0] for row in cursor.fetchall()]


def _locked(sql: str, *parameters: object) -> list[Parked]:
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
