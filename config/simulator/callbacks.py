"""The callbacks that are to be sent: what, when, how often, and what was answered."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from config.simulator import documents
from config.simulator.scenario import Scenario
from config.simulator.store import Row, Store

#: Tried again while the answer is not 2xx, this many seconds after the first, second .. try.
RETRY_AFTER_SECONDS: Final = (1, 2, 4, 8, 15, 30, 60, 60, 60, 60)

_ABOUT: Final[Mapping[str, Callable[[Store, Row], dict[str, Any]]]] = {
    "payment": documents.payment,
    "refund": lambda _, row: documents.refund(row),
    "dispute": lambda _, row: documents.dispute(row),
}


def tell(store: Store, kind: str, row: Row, wanted: Scenario, *, now: datetime) -> None:
    """Queue the callbacks about a thing's status, with what the scenario does to them."""
    number = row["txn_no"] if kind == "payment" else row["number"]
    about = _ABOUT[kind](store, row)
    due = now.timestamp() + wanted.delay

    def queue(status: str, due_at: float, *, forged: bool = False) -> None:
        body = documents.event_bytes(
            kind, status, {**about, "status": status}, account=row["account"], at=row["settled_at"]
        )
        for _ in range(1 if forged else 1 + wanted.duplicates):
            store.run(
                "INSERT INTO callbacks"
                " (account, txn_no, subject, type, body, forged, due_at, state)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                *(row["account"], row["txn_no"], number, f"{kind}.{status}", body, forged, due_at),
                "DROPPED" if wanted.drop_callback else "DUE",
            )

    if wanted.forged:
        queue(row["status"], due, forged=True)
    queue(row["status"], due)
    if wanted.reorder and row["status"] != "pending":
        # The older news comes last.
        queue("pending" if kind != "dispute" else "opened", due + 1)


def due(store: Store, *, now: datetime, limit: int) -> list[Row]:
    """What is to be sent now, the oldest first."""
    return store.rows(
        "SELECT * FROM callbacks WHERE state = 'DUE' AND due_at <= ? ORDER BY due_at, id LIMIT ?",
        *(now.timestamp(), limit),
    )


def answered(store: Store, callback: Row, answer: str, *, done: bool, now: datetime) -> None:
    """Write down an answer; what was not taken is sent again, until that is given up."""
    attempts = callback["attempts"] + 1
    state, due_at = "DONE", callback["due_at"]
    if not done:
        state = "GIVEN_UP"
        if attempts <= len(RETRY_AFTER_SECONDS) and not callback["forged"]:
            state = "DUE"
            due_at = now.timestamp() + RETRY_AFTER_SECONDS[attempts - 1]
    store.run(
        "UPDATE callbacks SET state = ?, due_at = ?, attempts = ?, answer = ? WHERE id = ?",
        *(state, due_at, attempts, answer, callback["id"]),
    )
