"""The ledger of money facts: insert once, compare for ever."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from django.db import connection

from orders.money import Money
from payments.models import Disposition

#: Where money may come to stand, and from where. APPLIED to HELD happens only inside the
#: transaction that wrote the row: the order turned out to be taken. HELD to APPLIED is a decision
#: about a conflict. RETURNED is held money that was refunded, and a refund whose money came back
#: to us.
ENTERED_FROM: Final[Mapping[Disposition, frozenset[Disposition]]] = {
    Disposition.PARKED: frozenset(),
    Disposition.APPLIED: frozenset({Disposition.PARKED, Disposition.HELD}),
    Disposition.HELD: frozenset({Disposition.PARKED, Disposition.APPLIED, Disposition.RETURNED}),
    Disposition.RETURNED: frozenset({Disposition.HELD, Disposition.APPLIED, Disposition.PARKED}),
}

_INSERT_SQL: Final = """
    INSERT INTO payments_providertransaction
           (account_id, merchant_id, kind, txn_no, order_no, order_id, stated_account_no,
            amount_minor, currency, occurred_at, occurred_at_is_stated, disposition,
            refund_reserved_minor, refunded_minor, charged_back_minor, recorded_at,
            reverses_no, is_total, counted_minor, version)
    VALUES (%s, %s, 'PAYMENT', %s, %s, %s, %s, %s, %s, %s, %s, %s, 0, 0, 0, %s, '', false, 0, 0)
        ON CONFLICT (account_id, kind, txn_no) DO NOTHING
 RETURNING id, EXISTS (
               SELECT FROM payments_providertransaction w
                WHERE w.disposition = 'PARKED' AND w.kind <> 'PAYMENT'
                  AND w.account_id = payments_providertransaction.account_id
                  AND w.reverses_no = payments_providertransaction.txn_no)
            OR EXISTS (
               SELECT FROM payments_providertransaction w
                WHERE w.disposition = 'PARKED' AND w.kind <> 'PAYMENT' AND w.reverses_no = ''
                  AND w.merchant_id = payments_providertransaction.merchant_id
                  AND w.order_no = payments_providertransaction.order_no AND w.order_no <> '')
               AS is_awaited
"""
_COLUMNS: Final = """
    id, txn_no, order_no, stated_account_no, amount_minor, currency, occurred_at, disposition
"""
_LOCK_SQL: Final = f"""
    SELECT {_COLUMNS} FROM payments_providertransaction
     WHERE account_id = %s AND kind = 'PAYMENT' AND txn_no = %s
       FOR NO KEY UPDATE
"""  # noqa: S608 - constants only
_PLACE_SQL: Final = """
    UPDATE payments_providertransaction SET disposition = %s, order_id = %s
     WHERE id = %s AND disposition = ANY(%s)
"""
_NAME_ORDER_SQL: Final = """
    UPDATE payments_providertransaction SET order_no = %s WHERE id = %s AND order_no = ''
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """A payment as its provider stated it. Empty text: the provider did not say."""

    txn_no: str
    order_no: str
    stated_account_no: str
    money: Money
    occurred_at: datetime
    occurred_at_is_stated: bool = True

    def contradicts(self, known: "Payment", *, account_no: str) -> bool:
        """Whether this cannot be the fact already known of a transaction of that account.

        What only one of the two states is no contradiction; a foreign account always is.
        """
        return (
            self.money != known.money
            or bool(self.order_no and known.order_no and self.order_no != known.order_no)
            or (self.stated_account_no or account_no) != (known.stated_account_no or account_no)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """A payment in the ledger, and where its money stands."""

    id: int
    payment: Payment
    disposition: Disposition


class Inserted(NamedTuple):
    """The row of a new payment; `is_awaited`: a refund or chargeback of it came before."""

    id: int
    is_awaited: bool


class MoneyMoved(RuntimeError):
    """A ledger row was not where its holder took it to be: a fault of ours; nothing is written."""


def insert(
    payment: Payment,
    *,
    account_id: int,
    merchant_id: int,
    order_id: int | None,
    disposition: Disposition,
    now: datetime,
) -> Inserted | None:
    """Write the payment, and return its row, or None if the ledger has its number already.

    If another transaction is inserting the same number, this waits for its end.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_SQL,
            [
                account_id,
                merchant_id,
                payment.txn_no,
                payment.order_no,
                order_id,
                payment.stated_account_no,
                payment.money.amount_minor,
                payment.money.currency,
                payment.occurred_at,
                payment.occurred_at_is_stated,
                disposition,
                now,
            ],
        )
        row = cursor.fetchone()
    return None if row is None else Inserted(*row)


def find_locked(account_id: int, txn_no: str) -> LedgerRow | None:
    """The payment's row, which nobody else can change until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK_SQL, [account_id, txn_no])
        row = cursor.fetchone()
    if row is None:
        return None
    row_id, number, order_no, stated_account_no, amount_minor, currency, occurred_at, place = row
    return LedgerRow(
        id=row_id,
        payment=Payment(
            txn_no=number,
            order_no=order_no,
            stated_account_no=stated_account_no,
            money=Money(amount_minor, currency),
            occurred_at=occurred_at,
        ),
        disposition=Disposition(place),
    )


def place(row_id: int, disposition: Disposition, *, order_id: int | None) -> None:
    """Say where the money stands now, and which order it is applied to.

    The caller holds the row. Raises MoneyMoved if it does not stand where it may come from.
    """
    allowed = [str(present) for present in ENTERED_FROM[disposition]]
    with connection.cursor() as cursor:
        cursor.execute(_PLACE_SQL, [disposition, order_id, row_id, allowed])
        if cursor.rowcount != 1:
            raise MoneyMoved(f"transaction {row_id} cannot become {disposition}")


def name_order(row_id: int, order_no: str) -> None:
    """Add the order number that the first callback of this payment did not state."""
    with connection.cursor() as cursor:
        cursor.execute(_NAME_ORDER_SQL, [order_no, row_id])
