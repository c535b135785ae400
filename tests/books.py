"""What the service has written: enough to say that something changed nothing."""

from typing import NamedTuple

from django.db import connection
from django.db.backends.utils import CursorWrapper

TABLES = (
    *("orders_merchant", "orders_apikey", "orders_order"),
    *("payments_provideraccount", "payments_accountkey"),
    *("payments_delivery", "payments_providertransaction", "payments_conflict"),
    *("payments_refund", "payments_confirmation", "payments_proposal", "payments_conflictpolicy"),
    "outbox_event",
)


class Book(NamedTuple):
    """A table: how many rows it has, and a digest of all that is in them."""

    rows: int
    digest: str


def books() -> dict[str, Book]:
    """Every table that says something about money, or about who may speak of it."""
    with connection.cursor() as cursor:
        return {table: _book(cursor, table) for table in TABLES}


def growth(before: dict[str, Book], after: dict[str, Book]) -> dict[str, int]:
    """How many rows each table has gained, without those that have gained none."""
    gained = {table: after[table].rows - before[table].rows for table in TABLES}
    return {table.partition("_")[2]: rows for table, rows in gained.items() if rows}


def _book(cursor: CursorWrapper, table: str) -> Book:
    cursor.execute(
        "SELECT count(*), md5(coalesce(string_agg(md5(t::text), '' ORDER BY t.id), ''))"  # noqa: S608
        f" FROM {table} t"
    )
    rows, digest = cursor.fetchone()
    return Book(rows, digest)
