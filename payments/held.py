"""Hold a payment that only a weak signature tells, until the provider's API confirms it."""

from datetime import datetime
from typing import Any, Final

from django.db import connection

from payments.callback import Callback, Outcome
from payments.decision import Decision

#: Anybody may send hints, so their number is bounded, for each account by itself. What is signed is
#: never refused for it.
WAITING_MAX: Final = 10_000

_HOLD_SQL: Final = """
    INSERT INTO payments_confirmation AS c
           (account_id, merchant_id, txn_no, order_no, status, told_count,
            first_told_at, last_told_at, waiting_since)
    SELECT %(account)s::bigint, %(merchant)s::bigint, %(txn_no)s::text, %(order_no)s::text,
           'WAITING', 1, %(now)s::timestamptz, %(now)s::timestamptz, %(now)s::timestamptz
     WHERE %(limit)s::bigint IS NULL
        OR (SELECT count(*) FROM (SELECT FROM payments_confirmation
                                   WHERE account_id = %(account)s AND status = 'WAITING'
                                   LIMIT %(limit)s::bigint) AS waiting) < %(limit)s::bigint
        OR EXISTS (SELECT FROM payments_confirmation
                    WHERE account_id = %(account)s AND txn_no = %(txn_no)s AND status <> 'REFUTED')
        ON CONFLICT (account_id, txn_no) DO UPDATE
       SET told_count = c.told_count + 1, last_told_at = EXCLUDED.last_told_at,
           status = CASE c.status WHEN 'REFUTED' THEN 'WAITING' ELSE c.status END,
           waiting_since = CASE c.status WHEN 'REFUTED' THEN EXCLUDED.waiting_since
                                         ELSE c.waiting_since END,
           refuted_at = NULL
 RETURNING status
"""


class TooManyHeld(RuntimeError):
    """So many hints wait for confirmation that one more would be lost among them."""


def hold(
    callback: Callback,
    *,
    account_id: int,
    merchant_id: int,
    now: datetime,
    limit: int | None,
) -> Decision:
    """Remember the claim; a payment that was confirmed before is a duplicate.

    One that was refuted and is told again waits again: it may have been paid since.
    Raises TooManyHeld where that many of the account's wait, so that it is sent again later;
    None is no limit.
    """
    values: dict[str, Any] = {
        "account": account_id,
        "merchant": merchant_id,
        "txn_no": callback.txn_no,
        "order_no": callback.order_no or "",
        "now": now,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(_HOLD_SQL, values)
        row = cursor.fetchone()
    if row is None:
        raise TooManyHeld(TooManyHeld.__doc__)
    if row[0] == "CONFIRMED":
        return Decision(outcome=Outcome.DUPLICATE)
    return Decision(outcome=Outcome.HELD, reason="UNCONFIRMED")
