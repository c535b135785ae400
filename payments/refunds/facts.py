"""What refunds and disputes have in common: the payment they are of, and where they do not fit."""

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import Final

from django.db import connection

from orders.money import Money
from payments import conflicts
from payments.callback import Callback, Outcome
from payments.decision import Decision
from payments.models import (
    ConflictReason,
    Disposition,
    ProviderTransaction,
    Refund,
    TransactionKind,
)
from payments.refunds import booking, room, rows, settling
from payments.refunds.rows import Fact
from payments.settle import Payee

# By number, in the order in which the numbers are trusted; else by the order that it paid.
_BY_NUMBER_SQL: Final = """
    SELECT id FROM payments_providertransaction
     WHERE account_id = %s AND kind = 'PAYMENT' AND txn_no = ANY(%s)
  ORDER BY array_position(%s::varchar[], txn_no) LIMIT 1
"""
_BY_ORDER_SQL: Final = """
    SELECT t.id FROM orders_order o JOIN payments_providertransaction t ON t.order_id = o.id
     WHERE o.merchant_id = %s AND o.order_no = %s AND t.account_id = %s
       AND t.kind = 'PAYMENT' AND t.disposition = 'APPLIED'
"""


def find_payment(
    callback: Callback, payee: Payee, *, account_id: int, refund: Refund | None = None
) -> ProviderTransaction | None:
    """The payment that is reversed, locked; None if we do not know it (yet)."""
    if refund is not None:
        return room.lock(refund.payment_id)
    numbers = [callback.reverses] if callback.reverses else [*callback.linked_nos, callback.txn_no]
    with connection.cursor() as cursor:
        cursor.execute(_BY_NUMBER_SQL, [account_id, numbers, numbers])
        row = cursor.fetchone()
        if row is None and not callback.reverses and callback.order_no:
            cursor.execute(_BY_ORDER_SQL, [payee.merchant_id, callback.order_no, account_id])
            row = cursor.fetchone()
    return None if row is None else room.lock(row[0])


def fact_of(
    callback: Callback, kind: TransactionKind, *, now: datetime, money: Money | None = None
) -> Fact | None:
    """The fact as stated, or None if it states no money; `money` is what it must be otherwise."""
    stated = callback.money or money
    if stated is None or stated.amount_minor <= 0:
        return None
    return Fact(
        kind=kind,
        txn_no=callback.txn_no,
        money=stated,
        reverses_no=callback.reverses,
        order_no=callback.order_no or "",
        stated_account_no=callback.account_no or "",
        occurred_at=callback.occurred_at or now,
        occurred_at_is_stated=callback.occurred_at is not None,
        is_total=callback.cumulative,
    )


def numbered_total(fact: Fact, length_max: int) -> Fact:
    """The total under a number of its own: what it is the total of, and how much."""
    number = fact.txn_no
    if len(number) > length_max:
        number = hashlib.sha256(number.encode()).hexdigest()
    return replace(fact, txn_no=f"{number}:{fact.money.amount_minor}")


def park(fact: Fact, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """The payment is not known yet: kept, and counted when it arrives."""
    row_id = rows.insert(
        fact,
        account_id=account_id,
        merchant_id=payee.merchant_id,
        payment=None,
        disposition=Disposition.PARKED,
        counted_minor=0,
        now=now,
    )
    if row_id is not None:
        return Decision(outcome=Outcome.PARKED, transaction_id=row_id)
    row = rows.find_locked(account_id, fact.kind, fact.txn_no)
    assert row is not None  # noqa: S101 - the insert has just met it
    if Money(row.amount_minor, row.currency) != fact.money:
        return _altered(row, fact)
    return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)


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
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.HELD,
        counted_minor=0,
        now=now,
    )
    if row_id is None:
        return told_again(fact, payment, now=now, counts=False)
    return conflict(_case(reason, row_id, payment, fact))


def does_not_fit(row: ProviderTransaction, payment: ProviderTransaction) -> Decision:
    """More went back than there was: entered, counted by nobody, and asked about."""
    received = {"txn_no": row.txn_no, "kind": row.kind}
    case = conflicts.Case(
        reason=ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
        subject=f"transaction:{row.pk}",
        **settling.sides(payment, row.amount_minor, **received),
        order_id=payment.order_id,
        transaction_id=row.pk,
    )
    return conflict(case)


def told_again(
    fact: Fact, payment: ProviderTransaction, *, now: datetime, counts: bool = True
) -> Decision:
    """The ledger has this number: the same fact, one that waited, or another one.

    `counts` is False for a fact that disagrees with the payment: it goes on waiting.
    """
    row = rows.find_locked(payment.account_id, fact.kind, fact.txn_no)
    assert row is not None  # noqa: S101 - the insert has just met it
    same_payment = row.reverses_id in (None, payment.pk)
    if not same_payment or Money(row.amount_minor, row.currency) != fact.money:
        return _altered(row, fact)
    if counts and row.disposition == Disposition.PARKED and fact.kind == TransactionKind.REFUND:
        adopt = booking.adopt_total if row.is_total else booking.adopt_item
        adopt(payment, row, now=now)
        return Decision(outcome=Outcome.APPLIED, transaction_id=row.pk)
    return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)


def conflict(case: conflicts.Case) -> Decision:
    """The decision that a person must decide."""
    return Decision(
        outcome=Outcome.CONFLICT,
        reason=case.reason,
        transaction_id=case.transaction_id,
        case=case,
    )


def _case(
    reason: ConflictReason, row_id: int, payment: ProviderTransaction, fact: Fact
) -> conflicts.Case:
    sides = settling.sides(
        payment,
        fact.money.amount_minor,
        txn_no=fact.txn_no,
        account_no=fact.stated_account_no,
    )
    sides["received"]["currency"] = fact.money.currency
    return conflicts.Case(
        reason=reason,
        subject=f"transaction:{row_id}",
        **sides,
        order_id=payment.order_id,
        transaction_id=row_id,
    )


def _altered(row: ProviderTransaction, fact: Fact) -> Decision:
    story = f"{fact.money}\0{fact.reverses_no}"
    digest = hashlib.sha256(story.encode()).hexdigest()[:16]
    case = conflicts.Case(
        reason=ConflictReason.TRANSACTION_ALTERED,
        subject=f"transaction:{row.pk}:{digest}",
        expected=_told(row.txn_no, row.reverses_no, row.amount_minor, row.currency),
        received=_told(fact.txn_no, fact.reverses_no, fact.money.amount_minor, fact.money.currency),
        transaction_id=row.pk,
    )
    return conflict(case)


def _told(txn_no: str, reverses: str, amount_minor: int, currency: str) -> dict[str, str | int]:
    return {
        "txn_no": txn_no,
        "reverses": reverses,
        "amount_minor": amount_minor,
        "currency": currency,
    }
