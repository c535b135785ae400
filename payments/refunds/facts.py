"""What refunds and disputes have in common: the fact as stated, and its row in the ledger."""

import hashlib
from dataclasses import replace
from datetime import datetime
from typing import Any

from orders.money import Money
from payments import conflicts
from payments.callback import Callback, Kind, Outcome
from payments.decision import Decision
from payments.models import (
    ConflictReason,
    Delivery,
    Disposition,
    ProviderTransaction,
    TransactionKind,
)
from payments.refunds import questions, rows
from payments.refunds.rows import Fact
from payments.settle import Payee


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


def is_single(fact: Fact) -> bool:
    """Whether it is one refund, and not a total or a dispute."""
    return fact.kind == TransactionKind.REFUND and not fact.is_total


def enter(
    fact: Fact,
    payment: ProviderTransaction,
    *,
    disposition: Disposition = Disposition.APPLIED,
    now: datetime,
) -> ProviderTransaction | None:
    """Write the fact into the ledger of its payment; None if its number is there already."""
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=disposition,
        now=now,
    )
    return None if row_id is None else known(fact, account_id=payment.account_id)


def known(fact: Fact, *, account_id: int) -> ProviderTransaction:
    """The row that has the fact's number, which is ours until the transaction ends."""
    row = rows.find_locked(account_id, fact.kind, fact.txn_no)
    assert row is not None  # noqa: S101 - the caller's insert has met it or made it
    return row


def earlier_failure(account_id: int, txn_no: str) -> datetime | None:
    """When a failure under this number was told first, if it was before the ledger had a row.

    It stated no money, and its delivery keeps no time either.
    """
    told = Delivery.objects.filter(account_id=account_id, txn_no=txn_no)
    told = told.filter(kind=Kind.REFUND_FAILED, outcome=Outcome.RECORDED, reason="")
    return told.order_by("received_at").values_list("received_at", flat=True).first()


def hear_earlier_failure(row: ProviderTransaction) -> bool:
    """Note a failure that was told before the ledger had a row for it; whether there was one.

    It counts as told without a time.
    """
    first = earlier_failure(row.account_id, row.txn_no)
    if first is None:
        return False
    rows.hear_failure(row, None, told_at=first)
    return True


def park(fact: Fact, payee: Payee, *, account_id: int, now: datetime) -> Decision:
    """The payment is not known yet: kept, and counted when it arrives."""
    row_id = rows.insert(
        fact,
        account_id=account_id,
        merchant_id=payee.merchant_id,
        payment=None,
        disposition=Disposition.PARKED,
        now=now,
    )
    row = known(fact, account_id=account_id)
    if row_id is not None:
        if is_single(fact):
            hear_earlier_failure(row)
        return Decision(outcome=Outcome.PARKED, transaction_id=row_id)
    if Money(row.amount_minor, row.currency) != fact.money:
        return altered(row, fact)
    if fact.kind == TransactionKind.REFUND and fact.failure_told_at is None:
        rows.hear_success(row, fact.stated_at)
    return Decision(outcome=Outcome.DUPLICATE, transaction_id=row.pk)


def conflict(case: conflicts.Case) -> Decision:
    """The decision that a person must decide."""
    return Decision(
        outcome=Outcome.CONFLICT,
        reason=case.reason,
        transaction_id=case.transaction_id,
        case=case,
    )


def disagreeing(
    fact: Fact, payment: ProviderTransaction, row: ProviderTransaction, reason: ConflictReason
) -> Decision:
    """A fact of another account or currency than its payment's is asked about."""
    told: dict[str, Any] = {"txn_no": fact.txn_no, "account_no": fact.stated_account_no}
    sides = questions.sides(payment, fact.money.amount_minor, **told)
    sides["received"]["currency"] = fact.money.currency
    case = conflicts.Case(
        reason=reason,
        subject=questions.subject(row.pk),
        **sides,
        order_id=payment.order_id,
        transaction_id=row.pk,
    )
    return conflict(case)


def altered(row: ProviderTransaction, fact: Fact) -> Decision:
    """The number was told before, with other money or of another payment."""
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
