"""At most one run at a time, by a lock of the database that ends with its connection.

It saves work and decides nothing: whoever loses the lock without knowing runs beside another, which
claims allow.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def only_one(lock: int, where: str = "") -> Iterator[bool]:
    """Whether no other connection is within this lock, of which there is one for each `where`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_lock(%s::integer, hashtext(%s::text))", [lock, where]
        )
        alone = bool(cursor.fetchone()[0])
    try:
        yield alone
    finally:
        if alone:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_advisory_unlock(%s::integer, hashtext(%s::text))", [lock, where]
                )
