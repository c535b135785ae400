"""Who runs a key without having committed yet, and with which meaning.

`claims.py` takes two advisory locks with each claim: one of the key, and one whose number is part
of the digest of the meaning. They are read here, and never waited for.
"""

from typing import Final

from django.db import connection

from idempotency.keys import Intent

_HOLDER_SQL: Final = """
    SELECT meaning.objid = %(meaning)s::bigint
      FROM pg_locks AS key
      LEFT JOIN pg_locks AS meaning
             ON meaning.locktype = 'advisory' AND meaning.pid = key.pid AND meaning.objsubid = 2
            AND meaning.database = key.database AND meaning.classid = %(of_key)s::bigint
            AND meaning.granted
     WHERE key.locktype = 'advisory' AND key.granted AND key.objsubid = 1
       AND key.classid = %(high)s::bigint AND key.objid = %(low)s::bigint
       AND key.pid <> pg_backend_pid()
       AND key.database = (SELECT oid FROM pg_database WHERE datname = current_database())
     LIMIT 1
"""


def find(intent: Intent) -> tuple[bool | None] | None:
    """Whether the key's holder has the same meaning, as far as it is seen; None if none holds."""
    lock, (of_key, meaning) = intent.lock_key, intent.meaning_lock
    values = {
        "high": (lock >> 32) & 0xFFFFFFFF,
        "low": lock & 0xFFFFFFFF,
        "of_key": of_key & 0xFFFFFFFF,
        "meaning": meaning & 0xFFFFFFFF,
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOLDER_SQL, values)
        row: tuple[bool | None] | None = cursor.fetchone()
    return row
