"""Payments that wait for the provider's own word, because their signature vouches for too little.

`hold` remembers that somebody claimed a payment; nothing moves. When the provider's API has
answered, `confirmed` receives the answer like a callback, and that is the truth. `confirm_held`
goes and asks.
"""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection

from payments import asking
from payments.accounts import Endpoint
from payments.asking import Reached
from payments.callback import Callback, Kind, Outcome
from payments.clients.port import Answer
from payments.polling import BUDGET, STEPS
from payments.receive import Verdict

_CONFIRMED_SQL: Final = """
    UPDATE payments_confirmation SET status = 'CONFIRMED', confirmed_at = %s
     WHERE account_id = %s AND txn_no = %s AND status = 'WAITING'
"""
# Whoever moves the next question away asks this one.
_CLAIM_SQL: Final = """
    UPDATE payments_confirmation c
       SET asks = c.asks + 1,
           ask_at = %(now)s + (%(steps)s::interval[])[
               least(c.asks + 1, array_length(%(steps)s::interval[], 1))]
      FROM (SELECT id FROM payments_confirmation
             WHERE status = 'WAITING' AND account_id = ANY(%(accounts)s)
               AND (ask_at IS NULL OR ask_at <= %(now)s)
          ORDER BY coalesce(ask_at, first_told_at), id LIMIT 1
               FOR NO KEY UPDATE SKIP LOCKED) AS due
     WHERE c.id = due.id
 RETURNING c.account_id, c.txn_no, c.order_no
"""


class NotAPayment(ValueError):
    """The provider's answer is of no payment, or states no amount: it confirms nothing."""


def confirmed(
    endpoint: Endpoint, answer: Callback, *, raw: Mapping[str, Any], now: datetime
) -> Verdict:
    """Receive what the provider's API said about a payment, as its raw answer reads.

    Raises NotAPayment if it says anything else than what was paid: the claim then waits on, for
    a payment may still follow. Raises OperationalError as `receive` does.
    """
    if answer.kind is not Kind.PAID or answer.money is None:
        raise NotAPayment(NotAPayment.__doc__)
    verdict = asking.received(endpoint, answer, raw=json.dumps(raw).encode(), now=now)
    if verdict.outcome is not Outcome.QUARANTINED:
        _mark(endpoint.account_id, answer.txn_no, now=now)
    return verdict


def confirm_held(
    reachable: Mapping[int, Reached], *, now: datetime, budget: int = BUDGET
) -> Counter[str]:
    """Ask for the payments that were only claimed; how many were answered how.

    What the provider does not know stays a claim, and is asked for less and less often.
    """
    answered: Counter[str] = Counter()
    values: dict[str, Any] = {"now": now, "steps": list(STEPS), "accounts": list(reachable)}
    for _ in range(budget):
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM_SQL, values)
            row = cursor.fetchone()
        if row is None:
            break
        account_id, txn_no, order_no = row
        answer = asking.ask(reachable[account_id], txn_no=txn_no, order_no=order_no, now=now)
        if answer is Answer.SUCCEEDED:
            _mark(account_id, txn_no, now=now)
        answered[answer] += 1
    return answered


def _mark(account_id: int, txn_no: str, *, now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_CONFIRMED_SQL, [now, account_id, txn_no])
