"""Readers of the write-ahead log: PostgreSQL's own ways of telling what was committed."""

import select
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import connection
from psycopg import pq

from tests.processes import database_url

#: Between 1970, where Unix begins to count, and 2000, where PostgreSQL does.
_EPOCH_SECONDS = 946_684_800


@contextmanager
def text_slot(name: str) -> Iterator[None]:
    """A slot that tells every change of every table as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_create_logical_replication_slot(%s, 'test_decoding')", [name])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_drop_replication_slot(%s)", [name])


def decoded(slot: str) -> list[list[UUID]]:
    """The events that each transaction wrote, in the order of their commits; each is told once."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT data FROM pg_logical_slot_get_changes(%s, NULL, NULL)", [slot])
        lines = [row[0] for row in cursor.fetchall()]
    transactions: list[list[UUID]] = []
    for line in lines:
        if line.startswith("BEGIN"):
            transactions.append([])
        elif line.startswith("table public.outbox_event: INSERT:"):
            transactions[-1].append(UUID(line.partition("id[uuid]:'")[2][:36]))
    return [events for events in transactions if events]


class Subscriber:
    """Reads the publication as Debezium does: START_REPLICATION with pgoutput.

    https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
    """

    def __init__(self) -> None:
        address = f"{database_url()}?replication=database"
        self._connection = pq.PGconn.connect(address.encode())
        assert self._connection.status == pq.ConnStatus.OK, self._connection.get_error_message()
        started = self._connection.exec_(
            f"START_REPLICATION SLOT {settings.CDC_SLOT} LOGICAL 0/0"
            f" (proto_version '1', publication_names '{settings.CDC_PUBLICATION}')".encode()
        )
        assert started.status == pq.ExecStatus.COPY_BOTH, started.get_error_message()
        self.columns: list[str] = []
        self.operations: set[str] = set()

    def transactions(self, count: int, *, seconds_max: float = 20) -> list[list[dict[str, str]]]:
        """The next so many transactions, each with its rows, once all of them have come."""
        done: list[list[dict[str, str]]] = []
        rows: list[dict[str, str]] = []
        deadline = time.monotonic() + seconds_max
        while len(done) < count:
            message = self._next(deadline)
            if message[:1] == b"R":
                self.columns = _columns(message)
            elif message[:1] == b"B":
                rows = []
            elif message[:1] == b"C":
                done.append(rows)
                self._end = struct.unpack_from("!q", message, 10)[0]
            else:
                self.operations.add(message[:1].decode())
                rows.append(dict(zip(self.columns, _values(message), strict=True)))
        return done

    def confirm(self) -> None:
        """Say that everything up to the last transaction is kept, and wait until that is known."""
        self._reply(self._end)
        with connection.cursor() as cursor:
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                cursor.execute(
                    "SELECT confirmed_flush_lsn >= %s::text::pg_lsn FROM pg_replication_slots"
                    " WHERE slot_name = %s",
                    [f"{self._end >> 32:X}/{self._end & 0xFFFFFFFF:X}", settings.CDC_SLOT],
                )
                if cursor.fetchone()[0]:
                    return
                time.sleep(0.02)
        raise AssertionError("the server does not know what was confirmed")

    def close(self) -> None:
        """Go away without a word, as a connector that was killed."""
        self._connection.finish()
        with connection.cursor() as cursor:
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                cursor.execute(
                    "SELECT active FROM pg_replication_slots WHERE slot_name = %s",
                    [settings.CDC_SLOT],
                )
                if not cursor.fetchone()[0]:
                    return
                time.sleep(0.02)
        raise AssertionError("the slot is still in use")

    def _next(self, deadline: float) -> bytes:
        """The next message of pgoutput. Keepalives are passed over: no test lasts that long."""
        while True:
            length, data = self._connection.get_copy_data(1)
            if length == 0:
                wait = max(0.0, deadline - time.monotonic())
                ready, _, _ = select.select([self._connection.socket], [], [], wait)
                assert ready, "nothing more came"
                self._connection.consume_input()
                continue
            assert length > 0, self._connection.get_error_message()
            message = bytes(data)
            if message[:1] == b"w":
                return message[25:]

    def _reply(self, position: int) -> None:
        at = int((time.time() - _EPOCH_SECONDS) * 1_000_000)
        self._connection.put_copy_data(
            struct.pack("!cqqqqB", b"r", position, position, position, at, 0)
        )
        self._connection.flush()


def _columns(relation: bytes) -> list[str]:
    """The names of the columns, from a message that describes a table."""
    at = 5
    for _ in range(2):  # schema, table
        at = relation.index(b"\0", at) + 1
    (count,) = struct.unpack_from("!h", relation, at + 1)
    at += 3
    names = []
    for _ in range(count):
        end = relation.index(b"\0", at + 1)
        names.append(relation[at + 1 : end].decode())
        at = end + 9
    return names


def _values(insert: bytes) -> list[str]:
    """The values of an inserted row, as text; what is null is empty."""
    assert insert[5:6] == b"N", insert[:6]
    (count,) = struct.unpack_from("!h", insert, 6)
    at = 8
    values = []
    for _ in range(count):
        kind, at = insert[at : at + 1], at + 1
        text = ""
        if kind == b"t":
            (length,) = struct.unpack_from("!i", insert, at)
            text = insert[at + 4 : at + 4 + length].decode()
            at += 4 + length
        values.append(text)
    return values
