"""Django's `migrate`, one at a time: several machines may start a new release at once.

It may take as long as it needs: the limits on statements and on idle transactions are for requests.
The limit on waiting for locks stays, because who waits for a lock on a table makes all others wait.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from django.core.management.commands import migrate
from django.db import connections

#: Any number that no other program uses for an advisory lock in this database.
LOCK: Final = 7_243_311


class Command(migrate.Command):
    """Wait for whoever is migrating this database, then do what is left to do."""

    def handle(self, *args: Any, **options: Any) -> None:
        """As Django's."""
        with alone(options["database"]):
            super().handle(*args, **options)


@contextmanager
def alone(alias: str) -> Iterator[None]:
    """Hold this database, without the limits that are meant for requests."""
    with connections[alias].cursor() as cursor:
        while not _taken(cursor):  # not a blocking wait, which would meet the lock timeout
            time.sleep(0.2)
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
    try:
        yield
    finally:
        with connections[alias].cursor() as cursor:
            cursor.execute("RESET idle_in_transaction_session_timeout")
            cursor.execute("RESET statement_timeout")
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _taken(cursor: Any) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
    return bool(cursor.fetchone()[0])
