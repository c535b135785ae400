"""One order number, one at a time: the lock under which a number becomes an order or is awaited."""

import hashlib

from django.db import connection


def lock_order_number(merchant_id: int, order_no: str) -> None:
    """Hold this merchant's order number until the transaction ends.

    Taken before an order is created, and before a payment for an unknown order is parked, so
    that the two see each other. It saves a wait only: the sweep finds what slips through.
    Take it before any row lock.
    """
    digest = hashlib.sha256(f"order_no:{merchant_id}:{order_no}".encode()).digest()
    key = int.from_bytes(digest[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [key])
