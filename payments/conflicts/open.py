"""Open a conflict: a case that no rule may decide, with both sides of the story."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from payments.conflict_events import CONFLICT_OPENED, ConflictOpenedPayload
from payments.conflicts import lifecycle
from payments.models import ConflictReason, Severity

#: How loudly each reason asks, and so how soon a person should have answered.
SEVERITY: Final[Mapping[ConflictReason, Severity]] = {
    ConflictReason.AMOUNT_MISMATCH: Severity.PAGE,
    ConflictReason.CURRENCY_MISMATCH: Severity.PAGE,
    ConflictReason.MERCHANT_MISMATCH: Severity.PAGE,
    ConflictReason.TRANSACTION_ALTERED: Severity.PAGE,
    ConflictReason.LATE_PAYMENT: Severity.TICKET,
    ConflictReason.DUPLICATE_PAYMENT: Severity.TICKET,
    ConflictReason.ORDER_NOT_FOUND: Severity.TICKET,
    ConflictReason.PAYMENT_NOT_FOUND: Severity.TICKET,
    ConflictReason.EXTERNAL_REFUND: Severity.TICKET,
    ConflictReason.REFUND_REVERSED: Severity.TICKET,
    ConflictReason.REFUND_IN_DOUBT: Severity.PAGE,
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: Severity.PAGE,
    ConflictReason.PERHAPS_TOLD_TWICE: Severity.TICKET,
    ConflictReason.UNCONFIRMED_PAYMENTS: Severity.TICKET,
    ConflictReason.UNKNOWN_KEY: Severity.PAGE,
}
DUE_IN: Final[Mapping[Severity, timedelta]] = {
    Severity.PAGE: timedelta(hours=1),
    Severity.TICKET: timedelta(days=1),
}

_OPEN_SQL: Final = """
    INSERT INTO payments_conflict
           (merchant_id, reason, subject, severity, order_id, transaction_id, delivery_id,
            expected, received, amount_minor, currency, status, opened_at, due_at, resolution,
            version)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s::jsonb, %s, %s, 'OPEN', %s, %s, '', 1)
        ON CONFLICT (reason, subject) DO NOTHING
 RETURNING id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What a conflict is about: the reason, the two sides, and the rows that prove them."""

    reason: ConflictReason
    subject: str
    expected: Mapping[str, Any]
    received: Mapping[str, Any]
    order_id: int | None = None
    transaction_id: int | None = None
    delivery_id: int | None = None

    @property
    def came(self) -> tuple[int | None, str]:
        """The money that was stated, as lists look for it; none where it was no money."""
        amount, currency = self.received.get("amount_minor"), self.received.get("currency")
        if type(amount) is int and isinstance(currency, str):
            return amount, currency
        return None, ""


def open_conflict(case: Case, *, merchant_id: int, merchant_code: str, now: datetime) -> int | None:
    """Open a conflict and tell it, in the caller's transaction.

    Returns its id, or None if the same case was opened before: a fact told twice asks once.
    """
    severity = SEVERITY[case.reason]
    with connection.cursor() as cursor:
        cursor.execute(
            _OPEN_SQL,
            [
                merchant_id,
                case.reason,
                case.subject,
                severity,
                case.order_id,
                case.transaction_id,
                case.delivery_id,
                json.dumps(case.expected),
                json.dumps(case.received),
                *case.came,
                now,
                now + DUE_IN[severity],
            ],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    payload = ConflictOpenedPayload(
        conflict_id=str(row[0]),
        merchant=merchant_code,
        reason=case.reason,
        severity=severity,
        expected=case.expected,
        received=case.received,
    )
    lifecycle.tell(CONFLICT_OPENED, row[0], seq=1, payload=payload, now=now)
    return int(row[0])
