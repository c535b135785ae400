"""Ask for the payments that nobody has told us of, on growing steps and within a budget.

Callbacks get lost, and some providers give up. An order that waits is asked for at each account
that may be paid for it; before it expires its provider is asked once more. Providers that find no
payment by the order's number are not asked, and hold nothing back.
"""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from orders.models import Order
from payments import asking
from payments.asking import Reachable, Reached
from payments.clients.port import Answer, FoundBy

#: When a waiting order is asked for first, and how long after each question the next one comes;
#: the last step repeats.
FIRST_AFTER: Final = timedelta(minutes=2)
STEPS: Final = tuple(
    timedelta(minutes=minutes) for minutes in (2, 5, 10, 30, 60, 180, 360, 720, 1440)
)
#: How many questions one run asks: each may take seconds.
BUDGET: Final = 20
#: For so long an order that a provider will not speak of is kept open beyond its time.
PATIENCE: Final = timedelta(hours=24)

# Orders that wait longest for their question come first.
_DUE_SQL: Final = """
    SELECT o.id, o.order_no, a.id
      FROM orders_order o
      JOIN payments_provideraccount a
        ON a.merchant_id = o.merchant_id AND a.id = ANY(%(accounts)s)
       AND o.payable_through IN ('', a.provider || '/' || a.name)
      LEFT JOIN payments_inquiry i ON i.order_id = o.id AND i.account_id = a.id
     WHERE o.status = 'WAIT_PAY' AND o.created_at <= %(before)s
       AND (i.id IS NULL OR i.ask_at <= %(now)s)
  ORDER BY coalesce(i.ask_at, o.created_at), o.id, a.id LIMIT %(budget)s
"""
# Whoever writes this asks: the question is claimed before it is asked.
_CLAIM_SQL: Final = """
    INSERT INTO payments_inquiry AS i (order_id, account_id, asks, asked_at, ask_at, answer)
    VALUES (%(order)s, %(account)s, 1, %(now)s, %(now)s + (%(steps)s::interval[])[1], '')
        ON CONFLICT (order_id, account_id) DO UPDATE
       SET asks = i.asks + 1, asked_at = EXCLUDED.asked_at, answer = '',
           ask_at = %(now)s + (%(steps)s::interval[])[
               least(i.asks + 1, array_length(%(steps)s::interval[], 1))]
     WHERE i.ask_at <= %(now)s OR i.asked_at < %(unless_asked_since)s
 RETURNING i.id
"""
_ANSWER_SQL: Final = "UPDATE payments_inquiry SET answer = %s WHERE id = %s"
_ACCOUNTS_SQL: Final = """
    SELECT a.id, i.asked_at, i.answer FROM payments_provideraccount a
      LEFT JOIN payments_inquiry i ON i.account_id = a.id AND i.order_id = %s
     WHERE a.merchant_id = %s AND %s IN ('', a.provider || '/' || a.name)
  ORDER BY a.id
"""
_NO_PAYMENT: Final = frozenset({Answer.NOT_FOUND, Answer.REFUSED})


def poll(
    reachable: Reachable,
    *,
    now: datetime,
    first_after: timedelta = FIRST_AFTER,
    budget: int = BUDGET,
) -> Counter[str]:
    """Ask for the orders whose turn it is; how many were answered how."""
    answered: Counter[str] = Counter()
    reachable = asking.finding(reachable, FoundBy.ORDER_NO)
    values: dict[str, Any] = {
        "accounts": list(reachable),
        "before": now - first_after,
        "now": now,
        "budget": budget,
    }
    with connection.cursor() as cursor:
        cursor.execute(_DUE_SQL, values)
        due = cursor.fetchall()
    for order_id, order_no, account_id in due:
        answer = _ask(reachable[account_id], order_id, order_no, now=now)
        if answer is not None:
            answered[answer] += 1
    return answered


class BeforeClosing:
    """Says of an order whose time has passed whether it may be closed: its providers were asked.

    An instance asks within one budget; what it cannot ask any more waits for the next run.
    """

    def __init__(self, reachable: Reachable, *, now: datetime, budget: int = BUDGET) -> None:
        self._reachable = asking.finding(reachable, FoundBy.ORDER_NO)
        self._now = now
        self._budget = budget

    def __call__(self, order: Order) -> bool:
        """Whether no provider that could be asked may still have a payment for it."""
        assert order.expires_at is not None  # noqa: S101 - that is why it is asked about
        if self._now >= order.expires_at + PATIENCE:
            return True
        with connection.cursor() as cursor:
            cursor.execute(_ACCOUNTS_SQL, [order.pk, order.merchant_id, order.payable_through])
            accounts = [row for row in cursor.fetchall() if row[0] in self._reachable]
        return all(self._may_close(order, *row) for row in accounts)

    def _may_close(
        self, order: Order, account_id: int, asked_at: datetime | None, answer: str
    ) -> bool:
        assert order.expires_at is not None  # noqa: S101 - as above
        if asked_at is not None and asked_at >= order.expires_at and answer in _NO_PAYMENT:
            return True
        if self._budget <= 0:
            return False
        self._budget -= 1
        reached = self._reachable[account_id]
        said = _ask(reached, order.pk, order.order_no, now=self._now, since=order.expires_at)
        # What was paid has been received: the closing finds the order paid, or its money held.
        return said in _NO_PAYMENT or said is Answer.SUCCEEDED


def _ask(
    reached: Reached,
    order_id: int,
    order_no: str,
    *,
    now: datetime,
    since: datetime | None = None,
) -> Answer | None:
    """Ask, unless somebody else does or it is not its turn; `since`: or was not asked since."""
    values: dict[str, Any] = {
        "order": order_id,
        "account": reached.endpoint.account_id,
        "now": now,
        "steps": list(STEPS),
        "unless_asked_since": since or datetime.min.replace(tzinfo=now.tzinfo),
    }
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_SQL, values)
        row = cursor.fetchone()
    if row is None:
        return None
    answer = asking.ask(reached, txn_no="", order_no=order_no, now=now).answer
    with connection.cursor() as cursor:
        cursor.execute(_ANSWER_SQL, [answer, row[0]])
    return answer
