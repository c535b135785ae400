"""Replication slots: what each keeps the server from deleting, and when that is too much.

A slot keeps the write-ahead log from where its reader stopped. A reader that was switched off and
forgotten fills the disk, and then the database stops for everybody. So every slot of the server is
watched, whoever made it.
"""

from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db import connection

_SLOTS_SQL: Final = """
    SELECT slot_name, coalesce(plugin, 'physical'), active, coalesce(wal_status, 'reserved'),
           coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::bigint
      FROM pg_replication_slots
     WHERE NOT temporary
  ORDER BY slot_name
"""
_RESERVED: Final = "reserved"
_PUBLISHED_SQL: Final = "SELECT FROM pg_publication WHERE pubname = %s"


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot: who reads it by which plugin, and how many bytes of log it holds back.

    `wal_status` is PostgreSQL's word: reserved, extended (past max_wal_size), unreserved (about
    to be lost), lost (https://www.postgresql.org/docs/current/view-pg-replication-slots.html).
    """

    name: str
    plugin: str
    active: bool
    wal_status: str
    retained_bytes: int


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a slot, and what to do."""

    slot: str
    reason: str


def slots() -> list[Slot]:
    """Every lasting slot of the server."""
    with connection.cursor() as cursor:
        cursor.execute(_SLOTS_SQL)
        return [Slot(*row) for row in cursor.fetchall()]


def problems() -> list[Problem]:
    """What somebody must look at now."""
    found = slots()
    concerns = [problem for slot in found for problem in _concerns(slot)]
    if settings.RELAY != "cdc":
        return concerns
    if settings.CDC_SLOT not in {slot.name for slot in found}:
        concerns.append(
            Problem(settings.CDC_SLOT, "is not there, and RELAY=cdc: nobody reads the events")
        )
    if not published():
        concerns.append(
            Problem(settings.CDC_SLOT, f"has nothing to read: no {settings.CDC_PUBLICATION}")
        )
    return concerns


def published() -> bool:
    """Whether the publication is there."""
    with connection.cursor() as cursor:
        cursor.execute(_PUBLISHED_SQL, [settings.CDC_PUBLICATION])
        return cursor.fetchone() is not None


def _concerns(slot: Slot) -> list[Problem]:
    if slot.wal_status == "lost":
        return [Problem(slot.name, "has lost its place: its reader has missed changes for good")]
    reader = "its reader lags" if slot.active else "nobody reads it"
    if slot.retained_bytes > settings.CDC_SLOT_BYTES_MAX:
        kept = f"{slot.retained_bytes} bytes, more than CDC_SLOT_BYTES_MAX"
        return [Problem(slot.name, f"holds back {kept}, and {reader}: mend the reader or drop it")]
    if slot.wal_status != _RESERVED:
        return [Problem(slot.name, f"is {slot.wal_status}, and {reader}")]
    return []
