"""The sweep: match parked payments that their order's creation missed, and ask about the rest."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from django.db import DatabaseError, connection, transaction

from orders import lookup
from payments import conflicts, told_twice
from payments.models import ConflictReason
from payments.parked import SELECT, locked, settle_parked
from payments.settle import expected_side, received_side

log = structlog.get_logger(__name__)

#: How many payments one sweep looks at; the next tick takes the rest.
SWEEP_MAX: Final = 500

_BY_ID_SQL: Final = f"""
    {SELECT}
     WHERE t.id = %s AND t.kind = 'PAYMENT' AND t.disposition = 'PARKED'
       FOR NO KEY UPDATE OF t SKIP LOCKED
"""
_MATCHABLE_SQL: Final = """
    SELECT t.id FROM payments_providertransaction t
      JOIN orders_order o ON o.merchant_id = t.merchant_id AND o.order_no = t.order_no
     WHERE t.kind = 'PAYMENT' AND t.disposition = 'PARKED' ORDER BY t.id LIMIT %s
"""
# A payment that could not be matched just now waits for the next tick: its order is not missing.
_OVERDUE_SQL: Final = """
    SELECT t.id FROM payments_providertransaction t
     WHERE t.kind = 'PAYMENT' AND t.disposition = 'PARKED' AND t.recorded_at <= %s
       AND NOT EXISTS (SELECT FROM orders_order o
                        WHERE o.merchant_id = t.merchant_id AND o.order_no = t.order_no)
       AND NOT EXISTS (SELECT FROM payments_conflict c
                        WHERE c.reason IN ('ORDER_NOT_FOUND', 'PERHAPS_TOLD_TWICE')
                          AND c.subject = 'transaction:' || t.id)
  ORDER BY t.id LIMIT %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What one sweep did."""

    applied: int
    conflicts: int


def sweep(*, now: datetime, grace: timedelta, limit: int = SWEEP_MAX) -> Swept:
    """Match parked payments to orders that exist by now; after `grace`, ask a person.

    Each payment is one transaction, so that one waits for no other; at most `limit` of both.
    """
    matched = [_alone(_match, row_id, now) for row_id in _ids(_MATCHABLE_SQL, limit)]
    overdue = [_alone(ask, row_id, now) for row_id in _ids(_OVERDUE_SQL, now - grace, limit)]
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
    for waiting in locked(_BY_ID_SQL, row_id):
        order = lookup.find(waiting.payee.merchant_id, waiting.payment.order_no)
        if order is not None:
            return settle_parked(waiting, order, now=now) is None
    return False


@transaction.atomic(durable=True)
def ask(row_id: int, *, now: datetime) -> bool:
    """Open the question about a payment that waits, whatever time it has left; once."""
    for waiting in locked(_BY_ID_SQL, row_id):
        payee = waiting.payee
        twin = told_twice.twin(waiting.payment, payee.merchant_id, payee.endpoint)
        known = {"order_no": twin.order_no, "paid_txn_no": twin.txn_no} if twin else {}
        reason = ConflictReason.PERHAPS_TOLD_TWICE if twin else ConflictReason.ORDER_NOT_FOUND
        case = conflicts.Case(
            reason=reason,
            subject=waiting.subject,
            expected={**expected_side(None, payee), **known},
            received=received_side(waiting.payment, payee),
            transaction_id=waiting.id,
        )
        opened = conflicts.open_conflict(
            case,
            merchant_id=payee.merchant_id,
            merchant_code=payee.merchant_code,
            now=now,
        )
        return opened is not None
    return False


def _ids(sql: str, *parameters: datetime | int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [row[0] for row in cursor.fetchall()]
