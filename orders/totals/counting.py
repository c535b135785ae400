"""Count what events tell, each once, in whatever order they come.

An `order.refunded` tells all that is refunded by then, not the change. What it adds to its day is
therefore the difference to the event before it, by `seq`; one that comes late also takes its part
from the event after it, which had been counted with it.
"""

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from django.db import connection

from orders.totals import moves
from orders.totals.moves import Move
from outbox.consumers.port import HeardEvent

#: Our name in the inbox, with the version of what is counted: another version counts anew.
GROUP: Final = "totals@1"
#: Held shared by everybody who counts, and alone by who counts anew.
LOCK: Final = 7_243_312

_LOCK_SQL: Final = "SELECT pg_advisory_xact_lock_shared(%s), pg_advisory_xact_lock(%s)"

_ENTER_SQL: Final = """
    INSERT INTO orders_countedmove
           (merchant, order_no, seq, kind, currency, day, amount_minor)
    SELECT * FROM unnest(%(merchants)s::text[], %(order_nos)s::text[], %(seqs)s::int[],
                         %(kinds)s::text[], %(currencies)s::text[], %(days)s::date[],
                         %(amounts)s::bigint[])
    ON CONFLICT (merchant, order_no, seq) DO NOTHING
"""

# Every event of these orders is weighed again: most are as they were and change nothing.
_COUNT_SQL: Final = """
    WITH weighed AS (
        SELECT move.merchant, move.order_no, move.seq, move.counted_minor AS before,
               move.amount_minor - lag(move.amount_minor, 1, 0::bigint) OVER (
                   PARTITION BY move.merchant, move.order_no, move.kind ORDER BY move.seq) AS now
          FROM orders_countedmove AS move
          JOIN (SELECT DISTINCT merchant, order_no
                  FROM unnest(%(merchants)s::text[], %(order_nos)s::text[])
                       AS named (merchant, order_no)) AS told
            ON told.merchant = move.merchant AND told.order_no = move.order_no
    ), moved AS (
        UPDATE orders_countedmove AS move
           SET counted_minor = weighed.now
          FROM weighed
         WHERE move.merchant = weighed.merchant AND move.order_no = weighed.order_no
           AND move.seq = weighed.seq AND weighed.now IS DISTINCT FROM weighed.before
     RETURNING move.day, move.merchant, move.currency, move.kind,
               weighed.now - coalesce(weighed.before, 0) AS grown, weighed.before IS NULL AS is_new
    )
    INSERT INTO orders_dailytotal AS total
           (day, merchant, currency, paid_minor, refunded_minor, paid_count)
    SELECT day, merchant, currency,
           coalesce(sum(grown) FILTER (WHERE kind = 'PAID'), 0),
           coalesce(sum(grown) FILTER (WHERE kind = 'REFUNDED'), 0),
           count(*) FILTER (WHERE kind = 'PAID' AND is_new)
      FROM moved
  GROUP BY day, merchant, currency
  ORDER BY day, merchant, currency -- everybody locks the days in one order
    ON CONFLICT (day, merchant, currency) DO UPDATE
       SET paid_minor = total.paid_minor + excluded.paid_minor,
           refunded_minor = total.refunded_minor + excluded.refunded_minor,
           paid_count = total.paid_count + excluded.paid_count
"""


def hear(event: HeardEvent) -> None:
    """Count one event, in the transaction at hand. Raises Unreadable."""
    move = moves.read(event.type, event.data)
    with connection.cursor() as cursor:
        # Of two events of one order the later must see the earlier.
        cursor.execute(_LOCK_SQL, [LOCK, _order_lock(move)])
    count([move])


def count(told: Sequence[Move]) -> None:
    """Count the moves that are not counted yet.

    The caller holds the lock, shared with the lock of each order, or alone.
    """
    columns: dict[str, Any] = {
        "merchants": [move.merchant for move in told],
        "order_nos": [move.order_no for move in told],
        "seqs": [move.seq for move in told],
        "kinds": [move.kind.value for move in told],
        "currencies": [move.currency for move in told],
        "days": [move.day for move in told],
        "amounts": [move.amount_minor for move in told],
    }
    with connection.cursor() as cursor:
        cursor.execute(_ENTER_SQL, columns)
        if cursor.rowcount:
            cursor.execute(_COUNT_SQL, {name: columns[name] for name in ("merchants", "order_nos")})


def _order_lock(move: Move) -> int:
    # A merchant's code has no slash.
    digest = hashlib.sha256(f"totals:{move.merchant}/{move.order_no}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
