"""One order number, one at a time: the lock under which a number becomes an order or is awaited.

The order of a number that nobody has used is a row that does not exist, so no row lock can keep
two transactions apart that ask for it. Whoever creates an order, and whoever is about to park a
payment because there is no such order, takes this lock first: the later of the two sees what the
earlier has committed.
"""

import hashlib

from django.db import connection


class NoTransaction(RuntimeError):
    """The lock was asked for outside a transaction, where it would be let go at once."""


def lock_order_number(merchant_id: int, order_no: str) -> None:
    """Hold this merchant's order number until the transaction ends.

    Take it before any row lock. Waits for whoever holds it, within the connection's
    `lock_timeout`. Raises NoTransaction outside a transaction: a programming error.
    """
    if not connection.in_atomic_block:
        raise NoTransaction("lock_order_number() lasts until the transaction ends: open one first")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [lock_key(merchant_id, order_no)])


def lock_key(merchant_id: int, order_no: str) -> int:
    """The number's lock as PostgreSQL names it: 64 bits with a sign, the same in every process.

    Two numbers that share a key by chance merely wait for each other.
    """
    # The id is digits only, so its colon ends it whatever the order number contains.
    digest = hashlib.sha256(f"order_no:{merchant_id}:{order_no}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
