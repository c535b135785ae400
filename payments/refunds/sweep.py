"""Match refunds and chargebacks to payments that arrived meanwhile, and ask about the rest.

A payment applies what waits for it when it is entered. Two transactions that cannot see each other
may miss that; this finds what they missed.
"""

from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from payments import conflicts
from payments.models import ConflictReason, Disposition, ProviderTransaction
from payments.refunds import room, rows, waiting

SWEEP_MAX: Final = 500

_MATCHABLE_SQL: Final = """
    SELECT DISTINCT p.id FROM payments_providertransaction w
      JOIN payments_providertransaction p
        ON p.account_id = w.account_id AND p.kind = 'PAYMENT' AND p.txn_no = w.reverses_no
     WHERE w.disposition = 'PARKED' AND w.kind <> 'PAYMENT' AND w.reverses_no <> ''
       AND p.currency = w.currency
     UNION
    SELECT p.id FROM payments_providertransaction w
      JOIN orders_order o ON o.merchant_id = w.merchant_id AND o.order_no = w.order_no
      JOIN payments_providertransaction p
        ON p.order_id = o.id AND p.account_id = w.account_id AND p.kind = 'PAYMENT'
     WHERE w.disposition = 'PARKED' AND w.kind <> 'PAYMENT' AND w.reverses_no = ''
       AND w.order_no <> '' AND p.currency = w.currency
     LIMIT %s
"""
_OVERDUE_SQL: Final = """
    SELECT t.id FROM payments_providertransaction t
     WHERE t.disposition = 'PARKED' AND t.kind <> 'PAYMENT' AND t.recorded_at <= %s
       AND NOT EXISTS (SELECT FROM payments_conflict c WHERE c.reason = 'PAYMENT_NOT_FOUND'
                          AND c.subject = 'transaction:' || t.id)
  ORDER BY t.id LIMIT %s
"""


def sweep(*, now: datetime, grace: timedelta, limit: int = SWEEP_MAX) -> tuple[int, int]:
    """How many payments were matched to what waits for them, and how many became questions."""
    matched = [_match(payment_id, now=now) for payment_id in _ids(_MATCHABLE_SQL, limit)]
    asked = [ask(row_id, now=now) for row_id in _ids(_OVERDUE_SQL, now - grace, limit)]
    return len(matched), sum(asked)


@transaction.atomic(durable=True)
def _match(payment_id: int, *, now: datetime) -> None:
    waiting.apply_to(payment_id, rows.payee_of(room.lock(payment_id)), now=now)


@transaction.atomic(durable=True)
def ask(row_id: int, *, now: datetime) -> bool:
    """Open the question about what waits for its payment, whatever time it has left; once."""
    found = ProviderTransaction.objects.select_related("merchant", "account")
    row = (
        found.select_for_update(no_key=True, of=("self",))
        .filter(pk=row_id, disposition=Disposition.PARKED)
        .first()
    )
    if row is None:
        return False
    case = conflicts.Case(
        reason=ConflictReason.PAYMENT_NOT_FOUND,
        subject=f"transaction:{row.pk}",
        expected={"merchant": row.merchant.code, "payment": row.reverses_no},
        received={
            "endpoint": row.account.endpoint,
            "kind": row.kind,
            "txn_no": row.txn_no,
            "order_no": row.order_no,
            "amount_minor": row.amount_minor,
            "currency": row.currency,
        },
        transaction_id=row.pk,
    )
    opened = conflicts.open_conflict(
        case, merchant_id=row.merchant_id, merchant_code=row.merchant.code, now=now
    )
    return opened is not None


def _ids(sql: str, *parameters: datetime | int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [row[0] for row in cursor.fetchall()]
