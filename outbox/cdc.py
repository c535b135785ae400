"""Change data capture: the events leave through PostgreSQL's log instead of the relay.

A publication has the inserts of the events' table and nothing else; a slot is the place of the one
who reads them. Debezium reads both: docs/cdc.md.
"""

from typing import Final, LiteralString

from django.conf import settings
from django.db import connection
from psycopg import sql

from outbox.slots import Slot, published, slots

_TABLE: Final = "outbox_event"
_FOLLOWS_FAILOVER_FROM: Final = 170000
_CREATE_PUBLICATION: Final = "CREATE PUBLICATION {} FOR TABLE {} WITH (publish = 'insert')"
_DROP_SLOT_SQL: Final = "SELECT pg_drop_replication_slot(%s)"
#: What one transaction has not been read of: a row that begins with I is an insert.
#: https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html
_UNREAD_SQL: Final = """
    SELECT EXISTS (
        SELECT FROM pg_logical_slot_peek_binary_changes(
               %(slot)s, NULL, 1, 'proto_version', '1', 'publication_names', %(publication)s)
         WHERE get_byte(data, 0) = ascii('I'))
"""


class NotLogical(RuntimeError):
    """The server keeps too little in its log for others to read changes from it."""


class InUse(RuntimeError):
    """The slot still has a reader, or events that nobody has read."""


def setup() -> list[str]:
    """Make the publication and the slot where they are missing; what was made.

    A slot that has lost its place is made anew. From then on it holds back the log, so its reader
    should follow soon. Raises NotLogical.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('wal_level'), current_setting('server_version_num')::int"
        )
        level, version = cursor.fetchone()
        if level != "logical":
            raise NotLogical(
                f"wal_level is {level}. Set wal_level = logical in postgresql.conf, and "
                "max_slot_wal_keep_size too, then restart the server."
            )
        made = []
        if not published():
            _run(_CREATE_PUBLICATION, settings.CDC_PUBLICATION, _TABLE)
            made.append(f"publication {settings.CDC_PUBLICATION}")
        slot = _slot()
        if slot is not None and slot.wal_status == "lost":
            cursor.execute(_DROP_SLOT_SQL, [slot.name])
            slot = None
        if slot is None:
            # A slot that does not follow a failover would leave out what was told meanwhile.
            failover = version >= _FOLLOWS_FAILOVER_FROM
            cursor.execute(
                "SELECT pg_create_logical_replication_slot(%s, 'pgoutput'"
                + (", failover => true)" if failover else ")"),
                [settings.CDC_SLOT],
            )
            made.append(f"slot {settings.CDC_SLOT}")
    return made


def unread() -> bool:
    """Whether the slot has events that nobody has confirmed to have read."""
    names = {"slot": settings.CDC_SLOT, "publication": settings.CDC_PUBLICATION}
    with connection.cursor() as cursor:
        cursor.execute(_UNREAD_SQL, names)
        (some,) = cursor.fetchone()
    return bool(some)


def drop(*, force: bool = False) -> list[str]:
    """Drop the slot and the publication; what was dropped. With `force`, unread events are lost.

    Raises InUse while the settings say that events leave this way, while the slot is being read,
    and, without `force`, while there are events that nobody has read.
    """
    if settings.RELAY == "cdc":
        raise InUse("RELAY is cdc: set RELAY=polling and restart everything first.")
    slot = _slot()
    dropped = []
    if slot is not None:
        if slot.active:
            raise InUse(f"Slot {slot.name} is being read: stop the connector first.")
        if not force and slot.wal_status != "lost" and unread():
            raise InUse(
                f"Slot {slot.name} has events that nobody has read: let the connector finish, or "
                "say --force to lose them."
            )
        with connection.cursor() as cursor:
            cursor.execute(_DROP_SLOT_SQL, [slot.name])
        dropped.append(f"slot {slot.name}")
    if published():
        _run("DROP PUBLICATION {}", settings.CDC_PUBLICATION)
        dropped.append(f"publication {settings.CDC_PUBLICATION}")
    return dropped


def _slot() -> Slot | None:
    return next((slot for slot in slots() if slot.name == settings.CDC_SLOT), None)


def _run(statement: LiteralString, *names: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
