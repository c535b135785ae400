"""A day's statement, in UTC: everything whose money moved, as CSV."""

import csv
import io
from datetime import date
from typing import Final

from config.simulator.store import Store

COLUMNS: Final = (
    *("type", "number", "payment", "order_no", "refund_no"),
    *("amount_minor", "currency", "occurred_at"),
)
_SQL: Final = """
    SELECT 'payment', txn_no, txn_no, order_no, '', amount_minor, currency, settled_at AS at
      FROM payments WHERE account = ?1 AND status = 'succeeded' AND substr(settled_at, 1, 10) = ?2
 UNION ALL
    SELECT 'refund', r.number, r.txn_no, p.order_no, coalesce(r.refund_no, ''), -r.amount_minor,
           r.currency, r.settled_at
      FROM refunds r JOIN payments p ON p.txn_no = r.txn_no
     WHERE r.account = ?1 AND r.status = 'succeeded' AND substr(r.settled_at, 1, 10) = ?2
 UNION ALL
    SELECT 'chargeback', d.number, d.txn_no, p.order_no, '', -d.amount_minor, d.currency,
           d.created_at
      FROM disputes d JOIN payments p ON p.txn_no = d.txn_no
     WHERE d.account = ?1 AND substr(d.created_at, 1, 10) = ?2
 UNION ALL
    SELECT 'chargeback_reversal', d.number, d.txn_no, p.order_no, '', d.amount_minor, d.currency,
           d.settled_at
      FROM disputes d JOIN payments p ON p.txn_no = d.txn_no
     WHERE d.account = ?1 AND d.status = 'won' AND substr(d.settled_at, 1, 10) = ?2
  ORDER BY at
"""


def statement(store: Store, account: str, day: date) -> str:
    """A line of names, then one line for each movement; what went back is negative."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(COLUMNS)
    lines.writerows(tuple(row) for row in store.rows(_SQL, account, day.isoformat()))
    return written.getvalue()
