"""Refunds and chargebacks in the ledger: each number once, and how much of it counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from orders.money import Money
from payments.ledger import MoneyMoved
from payments.models import Disposition, ProviderTransaction, TransactionKind
from payments.settle import Payee

#: Where money that went back may come to stand, and from where: HELD is what waits for room, or for
#: a person; RETURNED is a refund that failed, until it is told as done again.
ENTERED_FROM: Final[Mapping[Disposition, frozenset[Disposition]]] = {
    Disposition.PARKED: frozenset(),
    Disposition.APPLIED: frozenset({Disposition.PARKED, Disposition.HELD, Disposition.RETURNED}),
    Disposition.HELD: frozenset({Disposition.APPLIED}),
    Disposition.RETURNED: frozenset({Disposition.PARKED, Disposition.APPLIED, Disposition.HELD}),
}

_INSERT_SQL: Final = """
    INSERT INTO payments_providertransaction
           (account_id, merchant_id, kind, txn_no, reverses_id, reverses_no, order_no,
            stated_account_no, amount_minor, currency, occurred_at, occurred_at_is_stated,
            disposition, is_total, failed_at, failure_told_at, recorded_at,
            counted_minor, refund_reserved_minor, refunded_minor, charged_back_minor, version)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 0, 0, 0, 0, 0)
        ON CONFLICT (account_id, kind, txn_no) DO NOTHING
 RETURNING id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Money that went back, or came back, as the provider told it of a payment."""

    kind: TransactionKind
    txn_no: str
    money: Money
    reverses_no: str = ""
    order_no: str = ""
    stated_account_no: str = ""
    occurred_at: datetime
    occurred_at_is_stated: bool = True
    is_total: bool = False
    failed_at: datetime | None = None
    failure_told_at: datetime | None = None

    @property
    def stated_at(self) -> datetime | None:
        """When it happened, if the provider said so."""
        return self.occurred_at if self.occurred_at_is_stated else None


def insert(
    fact: Fact,
    *,
    account_id: int,
    merchant_id: int,
    payment: ProviderTransaction | None,
    disposition: Disposition,
    now: datetime,
) -> int | None:
    """Write the fact, which counts nothing yet; its row's id, or None if its number is known."""
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_SQL,
            [
                *(account_id, merchant_id, fact.kind, fact.txn_no),
                *(payment.pk if payment else None, fact.reverses_no, fact.order_no),
                *(fact.stated_account_no, fact.money.amount_minor, fact.money.currency),
                *(fact.occurred_at, fact.occurred_at_is_stated),
                *(disposition, fact.is_total, fact.failed_at, fact.failure_told_at, now),
            ],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def find_locked(account_id: int, kind: TransactionKind, txn_no: str) -> ProviderTransaction | None:
    """The row of that number, which is ours until the transaction ends."""
    rows = ProviderTransaction.objects.select_for_update(no_key=True)
    return rows.filter(account_id=account_id, kind=kind, txn_no=txn_no).first()


def of_payment(payment: ProviderTransaction) -> list[ProviderTransaction]:
    """All rows that reverse the payment, oldest first, which are ours until then too."""
    rows = ProviderTransaction.objects.select_for_update(no_key=True)
    return list(rows.filter(reverses=payment).order_by("pk"))


def agrees(row: ProviderTransaction, payment: ProviderTransaction) -> bool:
    """Whether the row can be money of the payment: its currency, and its account if it names one.

    What does not agree waits for a person and counts nothing.
    """
    accounts = ("", payment.account.account_no)
    return row.currency == payment.currency and row.stated_account_no in accounts


def set_(row: ProviderTransaction, **values: Any) -> None:
    """Change what may change of a row that we hold. Raises MoneyMoved."""
    present, target = (
        Disposition(row.disposition),
        Disposition(values.get("disposition", row.disposition)),
    )
    if target is not present and present not in ENTERED_FROM[target]:
        raise MoneyMoved(f"transaction {row.pk} cannot become {target}")
    changed = {name: value for name, value in values.items() if getattr(row, name) != value}
    if changed:
        ProviderTransaction.objects.filter(pk=row.pk).update(**changed)
        for name, value in changed.items():
            setattr(row, name, value)


def hear_success(row: ProviderTransaction, at: datetime | None) -> bool:
    """Note that the provider said so at that time; whether that is its latest word so far."""
    if at is None or (row.occurred_at_is_stated and at <= row.occurred_at):
        return False
    set_(row, occurred_at=at, occurred_at_is_stated=True)
    return True


def hear_failure(row: ProviderTransaction, at: datetime | None, *, told_at: datetime) -> bool:
    """Note that the provider said the refund failed at that time, and when we were told.

    The latest time counts. One that was told without a time may be later than any, so no time is
    kept then, whatever else is told. Returns whether anything was new about it.
    """
    known_at = row.failure_told_at
    if known_at is not None:
        at = max(at, row.failed_at) if at and row.failed_at else None
        told_at = min(told_at, known_at)
    is_new = (at, told_at) != (row.failed_at, known_at)
    set_(row, failed_at=at, failure_told_at=told_at)
    return is_new


def has_failed(row: ProviderTransaction) -> bool:
    """Whether the failure is the last word: unless it is stated to be older than the success."""
    if row.failure_told_at is None:
        return False
    if row.failed_at is None or not row.occurred_at_is_stated:
        return True
    return row.failed_at >= row.occurred_at


def payee_of(payment: ProviderTransaction) -> Payee:
    """Whom the payment pays."""
    return Payee(
        merchant_id=payment.merchant_id,
        merchant_code=payment.merchant.code,
        account_no=payment.account.account_no,
        endpoint=payment.account.endpoint,
    )
