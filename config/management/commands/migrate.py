"""Django's `migrate`, one at a time: several machines may start a new release at once."""

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
        with _alone(options["database"]):
            super().handle(*args, **options)


@contextmanager
def _alone(alias: str) -> Iterator[None]:
    with connections[alias].cursor() as cursor:
        while not _taken(cursor):  # not a blocking wait, which would meet the lock timeout
            time.sleep(0.2)
    try:
        yield
    finally:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def _taken(cursor: Any) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
    return bool(cursor.fetchone()[0])
