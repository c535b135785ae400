"""The simulator's books: one SQLite file, so that a restart forgets nothing."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

Row = sqlite3.Row

_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS payments (
        txn_no TEXT PRIMARY KEY, account TEXT NOT NULL, attempt TEXT NOT NULL,
        order_no TEXT NOT NULL, amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
        currency TEXT NOT NULL, status TEXT NOT NULL, created_at TEXT NOT NULL,
        settled_at TEXT NOT NULL, hidden_until REAL NOT NULL,
        UNIQUE (account, attempt));
    CREATE INDEX IF NOT EXISTS payments_of_order ON payments (account, order_no);
    CREATE TABLE IF NOT EXISTS refunds (
        number TEXT PRIMARY KEY, account TEXT NOT NULL, refund_no TEXT, txn_no TEXT NOT NULL,
        amount_minor INTEGER NOT NULL CHECK (amount_minor > 0), currency TEXT NOT NULL,
        status TEXT NOT NULL, created_at TEXT NOT NULL, settled_at TEXT NOT NULL,
        hidden_until REAL NOT NULL,
        UNIQUE (account, refund_no));
    CREATE INDEX IF NOT EXISTS refunds_of_payment ON refunds (txn_no);
    CREATE TABLE IF NOT EXISTS refund_calls (
        account TEXT NOT NULL, refund_no TEXT NOT NULL,
        asked INTEGER NOT NULL DEFAULT 0, executed INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (account, refund_no));
    CREATE TABLE IF NOT EXISTS disputes (
        number TEXT PRIMARY KEY, account TEXT NOT NULL, txn_no TEXT NOT NULL,
        amount_minor INTEGER NOT NULL CHECK (amount_minor > 0), currency TEXT NOT NULL,
        status TEXT NOT NULL, created_at TEXT NOT NULL, settled_at TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS disputes_of_payment ON disputes (txn_no);
    CREATE TABLE IF NOT EXISTS moves (
        id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, number TEXT NOT NULL,
        status TEXT NOT NULL, given TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS callbacks (
        id INTEGER PRIMARY KEY, account TEXT NOT NULL, txn_no TEXT NOT NULL,
        subject TEXT NOT NULL, type TEXT NOT NULL, body BLOB NOT NULL, forged INTEGER NOT NULL,
        due_at REAL NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
        answer TEXT NOT NULL DEFAULT '');
    CREATE INDEX IF NOT EXISTS callbacks_due ON callbacks (due_at) WHERE state = 'DUE';
    CREATE INDEX IF NOT EXISTS callbacks_of_payment ON callbacks (txn_no);
    CREATE TABLE IF NOT EXISTS scenarios (
        account TEXT NOT NULL, operation TEXT NOT NULL, given TEXT NOT NULL,
        times INTEGER NOT NULL, PRIMARY KEY (account, operation));
"""


class Store:
    """The file, for all threads of one process; other processes may read it meanwhile."""

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        self._lock = threading.RLock()
        self._session = sqlite3.connect(
            path, check_same_thread=False, isolation_level=None, timeout=10
        )
        self._session.row_factory = sqlite3.Row
        self._session.execute("PRAGMA journal_mode = WAL")
        self._session.executescript(_SCHEMA)

    @contextmanager
    def writing(self) -> Iterator["Store"]:
        """One transaction: all of it or nothing; nested ones are part of the outermost."""
        with self._lock:
            if self._session.in_transaction:
                yield self
                return
            self._session.execute("BEGIN IMMEDIATE")
            try:
                yield self
            except BaseException:
                self._session.execute("ROLLBACK")
                raise
            self._session.execute("COMMIT")

    def run(self, sql: str, *values: Any) -> int:
        """Run one statement; how many rows it changed."""
        with self._lock, closing(self._session.execute(sql, values)) as cursor:
            return cursor.rowcount

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """All rows that the statement gives."""
        with self._lock, closing(self._session.execute(sql, values)) as cursor:
            return cursor.fetchall()

    def row(self, sql: str, *values: Any) -> Row | None:
        """The first of them."""
        return next(iter(self.rows(sql, *values)), None)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._session.close()
