"""Things change their status now, or at a time that was set: each change is told."""

import json
from datetime import datetime

from config.simulator import callbacks
from config.simulator.scenario import Scenario, scenario
from config.simulator.store import Row, Store


def settle(
    store: Store, kind: str, number: str, status: str, wanted: Scenario, *, now: datetime
) -> None:
    """Move one thing to its new status and tell it."""
    key = "txn_no" if kind == "payment" else "number"
    store.run(
        f"UPDATE {kind}s SET status = ?, settled_at = ? WHERE {key} = ?",  # noqa: S608 - our names
        *(status, stamp(now), number),
    )
    row = one(store, f"SELECT * FROM {kind}s WHERE {key} = ?", number)  # noqa: S608
    callbacks.tell(store, kind, row, wanted, now=now)


def plan(
    store: Store,
    kind: str,
    number: str,
    status: str,
    *,
    seconds: float,
    wanted: Scenario,
    now: datetime,
) -> None:
    """Have it settle so many seconds from now."""
    store.run(
        "INSERT INTO moves (at, kind, number, status, given) VALUES (?, ?, ?, ?, ?)",
        *(now.timestamp() + seconds, kind, number, status, json.dumps(dict(wanted.given))),
    )


def make(store: Store, *, now: datetime) -> None:
    """Make the moves whose time has come."""
    due = "SELECT * FROM moves WHERE at <= ? ORDER BY at, id"
    for row in store.rows(due, now.timestamp()):
        with store.writing():
            store.run("DELETE FROM moves WHERE id = ?", row["id"])
            wanted = scenario(json.loads(row["given"]))
            settle(store, row["kind"], row["number"], row["status"], wanted, now=now)


def stamp(now: datetime) -> str:
    """A time as it is written everywhere here."""
    return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def one(store: Store, sql: str, *values: str) -> Row:
    """A row that must be there."""
    row = store.row(sql, *values)
    assert row is not None  # noqa: S101 - written just now, in the same transaction
    return row
