"""Clean up after a test that committed: take away only what it has left behind.

Django empties every table anew and makes all permissions and roles again, which costs more than
most tests do. That remains the way where a test has changed what is always there, or left much.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import pytest
from django.db import Error, connection
from django.test import TransactionTestCase

#: Where Django does it; the stubs do not know it.
_DJANGOS: Final = "_fixture_teardown"
#: The rows that are there before the first test, and stay: what `migrate` makes.
_KEPT: Final = {
    "django_migrations": "true",
    "django_content_type": "true",
    "auth_permission": "true",
    "auth_group": "true",
    "auth_group_permissions": "true",
    "outbox_destination": "code = 'bus'",
}
#: It refuses DELETE, and nothing refers to it.
_AUDIT: Final = "audit_auditentry"
#: Tables that have grown beyond this together are sooner thrown away than emptied row by row.
_BYTES_MAX: Final = 4 * 1024**2

#: Says whether that was enough. The lock waits for whoever still writes, as TRUNCATE would. In the
#: part of a replica there are no foreign keys, and no triggers but the audit's.
_FUNCTION_SQL: Final = """
    CREATE OR REPLACE FUNCTION tests_clean(known text) RETURNS boolean LANGUAGE plpgsql
    SET session_replication_role = replica AS $$
    BEGIN
        LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE;
        IF known IS DISTINCT FROM ({state}) OR {size} > {size_max} THEN
            RETURN false;
        END IF;
        {removals}
        RETURN true;
    END $$
"""
_REMOVAL_SQL: Final = "IF EXISTS (SELECT FROM {rows}) THEN {verb} {rows}; END IF;"
#: How many rows, and who wrote last: any change to them changes this.
_STATE_SQL: Final = "SELECT count(*) || ' ' || max(xmin::text::bigint) FROM {table} WHERE {kept}"


@contextmanager
def only_what_was_left() -> Iterator[None]:
    """Have tests cleaned up after in this way, on the database as it is now."""
    everything = getattr(TransactionTestCase, _DJANGOS)
    state_sql = " || '; ' || ".join(
        f"({_STATE_SQL.format(table=table, kept=kept)})" for table, kept in _KEPT.items()
    )
    _make_function(state_sql)
    known = _ask(f"SELECT {state_sql}")

    def clean(test: TransactionTestCase) -> None:
        nonlocal known
        with suppress(Error):  # Then it is met again, or is none.
            if _ask("SELECT tests_clean(%s)", known):
                _forget_session()
                return
        connection.close()
        everything(test)
        known = _ask(f"SELECT {state_sql}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, _DJANGOS, clean)
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda _: False)
        yield


def _make_function(state_sql: str) -> None:
    tables = sorted(connection.introspection.table_names())
    removals = [
        _REMOVAL_SQL.format(verb="DELETE FROM", rows=f"{table} WHERE NOT {_KEPT[table]}")
        if table in _KEPT
        else _REMOVAL_SQL.format(verb="TRUNCATE" if table == _AUDIT else "DELETE FROM", rows=table)
        for table in tables
    ]
    function_sql = _FUNCTION_SQL.format(
        tables=", ".join(tables),
        state=state_sql,
        size=" + ".join(f"pg_relation_size('{table}')" for table in tables),
        size_max=_BYTES_MAX,
        removals=" ".join(removals),
    )
    with connection.cursor() as cursor:
        cursor.execute(function_sql)


def _ask(sql: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return cursor.fetchone()[0]


def _forget_session() -> None:
    """Leave to the next test a connection as good as new; making one costs more than most tests."""
    with connection.cursor() as cursor:
        cursor.execute("RESET ALL")
        cursor.execute("SELECT pg_advisory_unlock_all()")
