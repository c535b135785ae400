"""The rows of an evidence pack as plain values: docs/console.md describes each member."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from audit.models import AuditEntry
from config.console import csv_cells, evidence, masking, text
from orders.models import Order
from outbox.models import Event
from payments.models import Conflict, Delivery, ProviderTransaction, Refund

_ONE_OF_MANY: Final = "the request told of other payments too: they are no part of this"
_NO_TEXT: Final = "it is no text that could be looked through for what is personal"
_ELSEWHERE: Final = "kept once, with the first delivery of the request"


def moment(at: datetime | None) -> str | None:
    """ISO 8601 in UTC."""
    return csv_cells.cell(at) if at is not None else None


def money(amount_minor: int, currency: str) -> dict[str, Any]:
    """In major units as text, null if the currency has no exponent, and in minor ones."""
    return {
        "amount": csv_cells.major(amount_minor, currency) or None,
        "amount_minor": amount_minor,
        "currency": currency,
    }


def order(row: Order) -> dict[str, Any]:
    """What was owed, and what became of it."""
    return {
        "merchant": row.merchant.code,
        "order_no": row.order_no,
        "status": row.status,
        "owed": money(row.amount_minor, row.currency),
        "refunded": money(row.refunded_minor, row.currency),
        "paid_txn_no": row.paid_txn_no or None,
        "created_at": moment(row.created_at),
        "paid_at": moment(row.paid_at),
        "closed_at": moment(row.closed_at),
    }


def payment(row: ProviderTransaction) -> dict[str, Any]:
    """A money fact as the provider stated it."""
    return {
        "id": row.pk,
        "account": row.account.endpoint,
        "kind": row.kind,
        "txn_no": row.txn_no,
        "order_no": row.order_no or None,
        "disposition": row.disposition,
        "money": money(row.amount_minor, row.currency),
        "reverses": row.reverses_no or None,
        "occurred_at": moment(row.occurred_at),
        "occurred_at_is_stated": row.occurred_at_is_stated,
        "recorded_at": moment(row.recorded_at),
    }


def refund(row: Refund) -> dict[str, Any]:
    """A refund that was asked for."""
    return {
        "refund_no": row.refund_no,
        "provider_refund_no": row.provider_refund_no or None,
        "account": row.account.endpoint,
        "payment": row.payment.txn_no,
        "status": row.status,
        "money": money(row.amount_minor, row.currency),
        "reason": row.reason or None,
        "why": row.why or None,
        "requested_at": moment(row.requested_at),
        "sent_at": moment(row.sent_at),
        "finished_at": moment(row.finished_at),
    }


def conflict(row: Conflict) -> dict[str, Any]:
    """A question, its two sides, and how it was decided."""
    return {
        "id": row.pk,
        "reason": row.reason,
        "severity": row.severity,
        "status": row.status,
        "expected": row.expected,
        "received": row.received,
        "opened_at": moment(row.opened_at),
        "due_at": moment(row.due_at),
        "resolved_at": moment(row.resolved_at),
        "decision": row.decision or None,
        "decided_as": row.decided_as or None,
        "decided_by": row.decided_by.get_username() if row.decided_by else None,
        "proposed_by": row.proposed_by.get_username() if row.proposed_by else None,
        "resolution": row.resolution or None,
        "why": row.why or None,
    }


def delivery(row: Delivery, *, batch_length: int) -> dict[str, Any]:
    """A callback as it came, its verdict, and the key that verified it, by its id."""
    return {
        "id": row.pk,
        "received_at": moment(row.received_at),
        "account": row.account.endpoint,
        "event_id": row.event_id or None,
        "event_type": row.event_type or None,
        "kind": row.kind or None,
        "txn_no": row.txn_no or None,
        "order_no": row.order_no or None,
        "outcome": row.outcome,
        "reason": row.reason or None,
        "verified_with": row.key_id,
        "assurance": row.assurance,
        "replay_of": row.replay_of_id,
        "headers": [[name, evidence.masked(name, value)] for name, value in _pairs(row)],
        "body": _body(row, batch_length=batch_length),
    }


def event(row: Event) -> dict[str, Any]:
    """What was told of it."""
    return {
        "id": str(row.pk),
        "type": row.type,
        "about": f"{row.aggregate_type} {row.aggregate_id}",
        "seq": row.seq,
        "created_at": moment(row.created_at),
        "payload": row.payload,
    }


def entry(row: AuditEntry) -> dict[str, Any]:
    """Who did what, and the hash by which the audit's chain holds it."""
    return {
        "seq": row.seq,
        "at": moment(row.at),
        "actor_kind": row.actor_kind,
        "actor": row.actor or None,
        "action": row.action,
        "object": f"{row.object_type}:{row.object_id}",
        "why": row.why or None,
        "hash": bytes(row.hash).hex(),
    }


def _pairs(row: Delivery) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in row.headers]


def _body(row: Delivery, *, batch_length: int) -> Mapping[str, Any]:
    digest = bytes(row.body_sha256).hex()
    if row.body is None or batch_length > 1:
        why = _ELSEWHERE if row.body is None else _ONE_OF_MANY
        return {"sha256": digest, "bytes": None, "text": None, "cut": False, "left_out": why}
    raw = bytes(row.body)
    known = {"sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    shown = masking.masked(raw)
    if not shown:
        return known | {"text": None, "cut": False, "left_out": _NO_TEXT}
    kept = shown[: text.TEXT_BYTES_MAX]
    return known | {"text": kept, "cut": len(kept) < len(shown), "left_out": None}


def now(at: datetime) -> str:
    """The time of the pack itself."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
