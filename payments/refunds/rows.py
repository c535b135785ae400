"""Refunds and chargebacks in the ledger: each number once, and how much of it counts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

from orders.money import Money
from payments.models import Disposition, ProviderTransaction, TransactionKind
from payments.settle import Payee

_INSERT_SQL: Final = """
    INSERT INTO payments_providertransaction
           (account_id, merchant_id, kind, txn_no, reverses_id, reverses_no, order_no,
            stated_account_no, amount_minor, currency, occurred_at, occurred_at_is_stated,
            disposition, is_total, counted_minor,
            refund_reserved_minor, refunded_minor, charged_back_minor, version, recorded_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 0, 0, 0, 0, %s)
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


def insert(
    fact: Fact,
    *,
    account_id: int,
    merchant_id: int,
    payment: ProviderTransaction | None,
    disposition: Disposition,
    counted_minor: int,
    now: datetime,
) -> int | None:
    """Write the fact; its row's id, or None if the ledger has its number already."""
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_SQL,
            [
                *(account_id, merchant_id, fact.kind, fact.txn_no),
                *(payment.pk if payment else None, fact.reverses_no, fact.order_no),
                *(fact.stated_account_no, fact.money.amount_minor, fact.money.currency),
                *(fact.occurred_at, fact.occurred_at_is_stated),
                *(disposition, fact.is_total, counted_minor, now),
            ],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])


def find_locked(account_id: int, kind: TransactionKind, txn_no: str) -> ProviderTransaction | None:
    """The row of that number, which is ours until the transaction ends."""
    rows = ProviderTransaction.objects.select_for_update(no_key=True)
    return rows.filter(account_id=account_id, kind=kind, txn_no=txn_no).first()


def count(
    row: ProviderTransaction,
    counted_minor: int,
    disposition: Disposition,
    *,
    payment: ProviderTransaction | None = None,
) -> None:
    """Say how much of a row that we hold counts in its payment, and where it stands."""
    row.counted_minor, row.disposition = counted_minor, disposition
    if payment is not None:
        row.reverses_id = payment.pk
    ProviderTransaction.objects.filter(pk=row.pk).update(
        counted_minor=counted_minor, disposition=disposition, reverses_id=row.reverses_id
    )


def payee_of(payment: ProviderTransaction) -> Payee:
    """Whom the payment pays."""
    return Payee(
        merchant_id=payment.merchant_id,
        merchant_code=payment.merchant.code,
        account_no=payment.account.account_no,
        endpoint=payment.account.endpoint,
    )
