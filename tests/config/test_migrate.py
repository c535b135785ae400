"""What migrations may take, and what requests may not."""

import pytest
from django.db import connection

from config.management.commands.migrate import alone

LIMITS = ("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout")


def limits() -> list[str]:
    with connection.cursor() as cursor:
        found = []
        for name in LIMITS:
            cursor.execute(f"SHOW {name}")
            found.append(cursor.fetchone()[0])
        return found


@pytest.mark.django_db
def test_a_migration_may_take_as_long_as_it_needs_but_not_wait_for_locks() -> None:
    with alone("default"):
        assert limits() == ["0", "0", "2s"]

    assert limits() == ["5s", "5s", "2s"]
