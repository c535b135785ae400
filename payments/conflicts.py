"""Conflicts: cases that no rule may decide, handed to a person with both sides of the story."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from outbox.event_types import EventType
from outbox.events import emit
from payments.conflict_events import (
    CONFLICT_OPENED,
    CONFLICT_RESOLVED,
    ConflictOpenedPayload,
    ConflictResolvedPayload,
)
from payments.models import ConflictReason, ConflictStatus, Severity

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

#: Each status, and the statuses it may be entered from.
ENTERED_FROM: Final[Mapping[ConflictStatus, frozenset[ConflictStatus]]] = {
    ConflictStatus.OPEN: frozenset({ConflictStatus.PROPOSED}),
    ConflictStatus.PROPOSED: frozenset({ConflictStatus.OPEN}),
    ConflictStatus.RESOLVED: frozenset({ConflictStatus.OPEN, ConflictStatus.PROPOSED}),
    ConflictStatus.DISMISSED: frozenset({ConflictStatus.OPEN}),
}

_OPEN_SQL: Final = """
    INSERT INTO payments_conflict
           (merchant_id, reason, subject, severity, order_id, transaction_id, delivery_id,
            expected, received, status, opened_at, due_at, resolution, version)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s::jsonb, 'OPEN', %s, %s, '', 1)
        ON CONFLICT (reason, subject) DO NOTHING
 RETURNING id
"""
_ANSWERED_SQL: Final = """
    UPDATE payments_conflict
       SET status = 'RESOLVED', resolved_at = %s, resolution = %s, version = version + 1
     WHERE reason = %s AND subject = %s AND status = ANY(%s)
 RETURNING id, version
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
    _tell(CONFLICT_OPENED, conflict_id=row[0], seq=1, payload=payload, now=now)
    return int(row[0])


def answered_by_fact(
    reason: ConflictReason, subject: str, *, resolution: str, merchant_code: str, now: datetime
) -> None:
    """Resolve a conflict whose question has answered itself, if it is still undecided."""
    undecided = [str(status) for status in ENTERED_FROM[ConflictStatus.RESOLVED]]
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERED_SQL, [now, resolution, reason, subject, undecided])
        row = cursor.fetchone()
    if row is not None:
        conflict_id, version = row
        payload = ConflictResolvedPayload(
            conflict_id=str(conflict_id),
            merchant=merchant_code,
            reason=reason,
            resolution=resolution,
        )
        _tell(CONFLICT_RESOLVED, conflict_id=conflict_id, seq=version, payload=payload, now=now)


def _tell(
    event: EventType, *, conflict_id: int, seq: int, payload: Mapping[str, Any], now: datetime
) -> None:
    emit(
        aggregate_id=str(conflict_id),
        seq=seq,
        payload=payload,
        at=now,
        tenant=payload["merchant"],
        **event.names,
    )
