"""Somebody who looks at the database, or meddles with it, while others are at work."""

import json
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from django.db import connection, connections

from orders.models import Merchant

#: All that is kept about one merchant, without the ids and names that differ between merchants.
_FACTS_SQL: Final = """
    SELECT jsonb_build_object(
        'orders', (
            SELECT jsonb_agg(jsonb_build_array(order_no, status, paid_txn_no, version)
                             ORDER BY order_no)
              FROM orders_order WHERE merchant_id = m.id),
        'ledger', (
            SELECT jsonb_agg(jsonb_build_array(txn_no, order_no, disposition) ORDER BY txn_no)
              FROM payments_providertransaction WHERE merchant_id = m.id),
        'conflicts', (
            SELECT jsonb_agg(jsonb_build_array(reason, status, version) ORDER BY reason, id)
              FROM payments_conflict WHERE merchant_id = m.id),
        'events', (
            SELECT jsonb_agg(jsonb_build_array(type, seq) ORDER BY type, seq)
              FROM outbox_event WHERE payload ->> 'merchant' = m.code),
        'deliveries', (
            SELECT jsonb_agg(jsonb_build_array(outcome, reason) ORDER BY id)
              FROM payments_delivery WHERE merchant_id = m.id))
      FROM orders_merchant m WHERE m.id = %s
"""

Facts = dict[str, list[list[Any]]]


class Onlooker:
    """A thread with a database connection of its own."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)

    def facts(self, merchant: Merchant) -> Facts:
        """What is committed about a merchant at this moment."""
        facts: Facts = self.do(lambda: json.loads(query(_FACTS_SQL, merchant.pk)))
        return {name: rows or [] for name, rows in facts.items()}

    def begin(self, work: Callable[[], Any]) -> Future[Any]:
        """Let him do something meanwhile."""
        return self._thread.submit(work)

    def do(self, work: Callable[[], Any]) -> Any:
        """Have him do something, and wait for it."""
        return self.begin(work).result(30)

    def close(self) -> None:
        """Send him home."""
        self.do(connections.close_all)
        self._thread.shutdown()


def query(sql: str, *parameters: Any) -> Any:
    """The one value that a statement gives, on this thread's connection."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        row = cursor.fetchone()
    assert row is not None
    return row[0]
