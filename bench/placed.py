"""Orders that wait to be paid, and what must be true of them once they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db import connection

from orders.models import Merchant

MERCHANT: Final = "bench"
AMOUNT_MINOR: Final = 1099
CURRENCY: Final = "USD"
#: Every number has nine digits, so that all rounds send and store the same lengths.
FIRST_NUMBER: Final = 100_000_000

_PLACE_SQL: Final = """
    INSERT INTO orders_order (merchant_id, order_no, amount_minor, currency, status,
                              payable_through, paid_txn_no, refunded_minor, version, created_at)
    SELECT %s, 'B' || number, %s, %s, 'WAIT_PAY', '', '', 0, 0, clock_timestamp()
      FROM generate_series(%s::bigint, %s::bigint) AS number
"""
_CHECK_SQL: Final = """
    SELECT (SELECT count(*) FROM orders_order
             WHERE order_no BETWEEN %(first)s AND %(last)s AND status = 'PAID'),
           (SELECT count(*) FROM payments_providertransaction
             WHERE order_no BETWEEN %(first)s AND %(last)s AND disposition = 'APPLIED'),
           (SELECT count(*) FROM payments_delivery
             WHERE order_no BETWEEN %(first)s AND %(last)s),
           (SELECT count(*) FROM outbox_event
             WHERE aggregate_id BETWEEN %(merchant)s || '/' || %(first)s
                                    AND %(merchant)s || '/' || %(last)s),
           (SELECT count(DISTINCT aggregate_id) FROM outbox_event
             WHERE type = 'order.paid'
               AND aggregate_id BETWEEN %(merchant)s || '/' || %(first)s
                                    AND %(merchant)s || '/' || %(last)s),
           (SELECT count(*) FROM payments_conflict)
"""


class NotExactlyOnce(AssertionError):
    """What was measured is not what was promised, so its speed is worth nothing."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """A range of order numbers that nobody else uses."""

    first: int
    count: int

    def __iter__(self) -> "map[int]":
        return map(int, range(self.first, self.first + self.count))


class Orders:
    """Places orders and hands them out, each once."""

    def __init__(self, merchant: Merchant) -> None:
        self._merchant = merchant
        self._next = FIRST_NUMBER

    def place(self, count: int) -> Numbers:
        """Place this many orders, and let the database settle before it is timed."""
        numbers = Numbers(self._next, count)
        self._next += count
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute(
                _PLACE_SQL,
                [
                    *(self._merchant.pk, AMOUNT_MINOR, CURRENCY),
                    *(numbers.first, numbers.first + count - 1),
                ],
            )
            cursor.execute("VACUUM ANALYZE orders_order")
            cursor.execute("CHECKPOINT")
        return numbers


def check_paid(numbers: Numbers) -> None:
    """Every order is PAID, by one transaction, told by one delivery and one event.

    Raises NotExactlyOnce with the figures that differ.
    """
    values: Mapping[str, str] = {
        "first": order_no(numbers.first),
        "last": order_no(numbers.first + numbers.count - 1),
        "merchant": MERCHANT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_CHECK_SQL, values)
        found = cursor.fetchone()
    names = ("paid", "transactions", "deliveries", "events", "orders told", "conflicts")
    expected = (*[numbers.count] * 5, 0)
    if found != expected:
        differing = [
            f"{name}: {is_} instead of {should}"
            for name, is_, should in zip(names, found, expected, strict=True)
            if is_ != should
        ]
        raise NotExactlyOnce("; ".join(differing))


def order_no(number: int) -> str:
    """How the number is written as an order's."""
    return f"B{number}"
