"""Write an entry at the end of the chain."""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection, transaction

from audit.actors import Actor
from audit.models import WHY_LENGTH_MAX, AuditEntry

#: What comes before the first entry.
GENESIS: Final = bytes(32)
#: Any number that no other program uses for an advisory lock in this database.
LOCK: Final = 7_243_313

#: Names of values that do not belong here, whatever they hold.
_SECRET_NAME: Final = re.compile(r"password|secret|token|material|payer", re.IGNORECASE)
_OBJECT_ID_LENGTH_MAX: Final = 128

# The clock is read and the end is looked for after the lock is held: a statement of its own
# sees what the holder before has committed.
_END_SQL: Final = """
    SELECT clock_timestamp(), e.seq, e.hash
      FROM (SELECT 1) AS one
      LEFT JOIN (SELECT seq, hash FROM audit_auditentry ORDER BY seq DESC LIMIT 1) AS e ON true
"""


class UnfitEntry(ValueError):
    """An entry that must not or cannot be kept: a secret by its name, or a value without JSON."""


def record(
    *,
    by: Actor,
    action: str,
    object_type: str,
    object_id: str | int,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    why: str = "",
) -> int:
    """Append an entry, in the caller's transaction if there is one; returns its number.

    Make it the last statement: the chain is locked from here to the commit, so that its numbers
    have no gaps and every entry knows the one before. Callbacks write no entries and never wait
    for this. Raises UnfitEntry for what is no JSON or looks like a secret.
    """
    content: dict[str, Any] = {
        "actor_kind": str(by.kind),
        "actor": _clean(by.name),
        "actor_id": by.id,
        "origin": _clean(by.origin),
        "action": action,
        "object_type": object_type,
        "object_id": _clean(str(object_id))[:_OBJECT_ID_LENGTH_MAX],
        "before": _clean(dict(before or {})),
        "after": _clean(dict(after or {})),
        "why": _clean(why)[:WHY_LENGTH_MAX],
    }
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
            cursor.execute(_END_SQL)
            at, last, previous = cursor.fetchone()
        content |= {"seq": (last or 0) + 1, "at": at}
        previous = GENESIS if previous is None else bytes(previous)
        AuditEntry.objects.create(**content, previous=previous, hash=digest(previous, content))
    return int(content["seq"])


def content_of(entry: AuditEntry) -> dict[str, Any]:
    """All that an entry says, without what chains it."""
    return {
        name: getattr(entry, name)
        for name in (
            *("seq", "at", "actor_kind", "actor", "actor_id", "origin", "action"),
            *("object_type", "object_id", "before", "after", "why"),
        )
    }


def digest(previous: bytes, content: Mapping[str, Any]) -> bytes:
    """The hash of an entry with this content after that one."""
    return hashlib.sha256(previous + canonical(content)).digest()


def canonical(content: Mapping[str, Any]) -> bytes:
    """The content as the one JSON that says it: sorted names, no spaces, UTF-8, times in UTC."""
    text = json.dumps(
        content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_moment
    )
    return text.encode()


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    raise UnfitEntry(f"{type(value).__name__} is not kept in the audit")


def _clean(value: Any) -> Any:
    """The value as jsonb gives it back. Raises UnfitEntry for floats, secrets and what is no JSON.

    A float may be written in several ways, so it has no canonical form.
    """
    match value:
        case str():
            return value.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
        case None | bool() | int():
            return value
        case Mapping():
            for name in value:
                if _SECRET_NAME.search(str(name)):
                    raise UnfitEntry(f"{name} looks like a secret")
            return {str(name): _clean(part) for name, part in value.items()}
        case list() | tuple():
            return [_clean(part) for part in value]
        case datetime():
            return _moment(value)
        case _:
            raise UnfitEntry(f"{type(value).__name__} is not kept in the audit")
