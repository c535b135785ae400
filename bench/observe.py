"""Watch the database while real callbacks come in, to learn what they send."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from django.db import connection

from bench import load, statements
from bench.placed import Numbers, order_no
from bench.provider import PretendStripe
from bench.statements import Rows

CALLBACKS_MAX: Final = 200
#: Keys that no other number in a statement looks like.
_FIRST_KEYS: Final = {"orders_order": 710_000_001, "payments_providertransaction": 720_000_001}


class NothingObserved(RuntimeError):
    """Callbacks were sent and their statements are not in the log."""


def distinct_keys() -> None:
    """Give the rows keys that can be found again in the text of a statement."""
    with connection.cursor() as cursor:
        for table, key in _FIRST_KEYS.items():
            cursor.execute(f"ALTER TABLE {table} ALTER COLUMN id RESTART WITH {key}")


def one_callback(log: Path, stripe: PretendStripe, numbers: Numbers) -> tuple[list[str], Rows]:
    """The statements of one callback for one of these orders, and the keys of its rows."""
    begin = log.stat().st_size
    with _logged_statements():
        for number in numbers:
            request = stripe.request(number, now=int(time.time()))
            load.send_all(stripe.port, [request], connections=1)
            with log.open("rb") as file:
                file.seek(begin)
                text = file.read().decode()
            if found := statements.of_one_callback(text):
                return found, _rows(order_no(statements.number_in(found)))
    raise NothingObserved(re.sub(r"\s+", " ", text)[-500:])


@contextmanager
def _logged_statements() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("ALTER SYSTEM SET log_statement = 'all'")
        cursor.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            cursor.execute("ALTER SYSTEM RESET log_statement")
            cursor.execute("SELECT pg_reload_conf()")


def _rows(number: str) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT paid.order_id, paid.id FROM payments_providertransaction AS paid"
            " WHERE paid.order_no = %s",
            [number],
        )
        found = cursor.fetchone()
    if found is None:
        raise NothingObserved(f"order {number} was not paid")
    return Rows(order_id=found[0], transaction_id=found[1])
