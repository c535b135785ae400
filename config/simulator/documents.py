"""What the simulator says of its books: the same objects in answers and in callbacks."""

import json
import uuid
from typing import Any

from config.simulator.store import Row, Store

Document = dict[str, Any]


def new_number(prefix: str) -> str:
    """A number that nothing else has."""
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def payment(store: Store, row: Row) -> Document:
    """A payment, with what has gone back of it."""
    back = given_back(store, row["txn_no"])
    return {
        "id": row["txn_no"],
        "order_no": row["order_no"],
        "amount_minor": row["amount_minor"],
        "currency": row["currency"],
        "status": row["status"],
        "refunded_minor": back["succeeded"],
        "disputed_minor": back["disputed"],
        "created_at": row["created_at"],
    }


def refund(row: Row) -> Document:
    """A refund; `refund_no` is null if it was made by hand in the dashboard."""
    return {
        "id": row["number"],
        "refund_no": row["refund_no"],
        "payment": row["txn_no"],
        "amount_minor": row["amount_minor"],
        "currency": row["currency"],
        "status": row["status"],
        "created_at": row["created_at"],
    }


def dispute(row: Row) -> Document:
    """A dispute; its money is taken while it is open and when it was lost."""
    return {
        "id": row["number"],
        "payment": row["txn_no"],
        "amount_minor": row["amount_minor"],
        "currency": row["currency"],
        "status": row["status"],
        "created_at": row["created_at"],
    }


def payment_state(store: Store, row: Row) -> Document:
    """A payment as an event without an id: what a callback would say of it now."""
    return {
        "type": f"payment.{row['status']}",
        "created_at": row["settled_at"],
        "account": row["account"],
        "live": False,
        "payment": payment(store, row),
    }


def event_bytes(kind: str, status: str, about: Document, *, account: str, at: str) -> bytes:
    """A callback's body; each call makes another event."""
    event = {
        "id": new_number("evt"),
        "type": f"{kind}.{status}",
        "created_at": at,
        "account": account,
        "live": False,
        kind: about,
    }
    return json.dumps(event).encode()


def given_back(store: Store, txn_no: str) -> dict[str, int]:
    """Minor units of a payment that were refunded, are about to be, and are disputed."""
    row = store.row(
        """
        SELECT (SELECT coalesce(sum(amount_minor), 0) FROM refunds
                 WHERE txn_no = ?1 AND status = 'succeeded') AS succeeded,
               (SELECT coalesce(sum(amount_minor), 0) FROM refunds
                 WHERE txn_no = ?1 AND status = 'pending') AS pending,
               (SELECT coalesce(sum(amount_minor), 0) FROM disputes
                 WHERE txn_no = ?1 AND status IN ('opened', 'lost')) AS disputed
        """,
        txn_no,
    )
    return dict(row) if row else {}


def left(store: Store, payment_row: Row) -> int:
    """What could still be refunded or disputed, in minor units."""
    back = given_back(store, payment_row["txn_no"])
    return int(payment_row["amount_minor"]) - sum(back.values())
