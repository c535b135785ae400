"""What must be true of the books after anything, as SQL: usable at the end of any test.

Each check selects the rows that break it. All are asked in one statement, so they see one
snapshot and hold at every moment, also while others write.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from django.db import connection

#: What the checks count: an order's events are found by the name `orders/events.py` gives it.
_VIEWS_SQL: Final = """
    WITH orders_told AS (
    SELECT o.id, o.status, o.version, o.paid_txn_no, count(e.id) AS told, max(e.seq) AS last,
           count(e.id) FILTER (WHERE e.type = 'order.paid') AS told_paid,
           count(e.id) FILTER (WHERE e.type = 'order.paid'
                                 AND e.payload ->> 'paid_txn_no' = o.paid_txn_no) AS told_txn
      FROM orders_order o
      JOIN orders_merchant m ON m.id = o.merchant_id
      LEFT JOIN outbox_event e ON e.aggregate_type = 'order'
                              AND e.aggregate_id = m.code || '/' || o.order_no
  GROUP BY o.id
    ),
    orders_applied AS (
    SELECT o.id, o.status, count(t.id) AS applied
      FROM orders_order o
      LEFT JOIN payments_providertransaction t
             ON t.order_id = o.id AND t.kind = 'PAYMENT' AND t.disposition = 'APPLIED'
  GROUP BY o.id
    ),
    conflicts_told AS (
    SELECT c.id, c.version, count(e.id) AS told, max(e.seq) AS last,
           count(e.id) FILTER (WHERE e.type = 'conflict.opened' AND e.seq = 1) AS opened
      FROM payments_conflict c
      LEFT JOIN outbox_event e ON e.aggregate_type = 'conflict' AND e.aggregate_id = c.id::text
  GROUP BY c.id
    ),
    refunds_told AS (
    SELECT r.id, r.version, r.status, count(e.id) AS told, max(e.seq) AS last,
           count(e.id) FILTER (WHERE e.type = 'refund.succeeded') AS succeeded,
           count(e.id) FILTER (WHERE e.type = 'refund.failed') AS failed
      FROM payments_refund r
      JOIN orders_merchant m ON m.id = r.merchant_id
      LEFT JOIN outbox_event e ON e.aggregate_type = 'refund'
                              AND e.aggregate_id = m.code || '/' || r.refund_no
  GROUP BY r.id
    ),
    rooms AS (
    SELECT p.id, p.refund_reserved_minor AS reserved, p.refunded_minor AS refunded,
           p.charged_back_minor AS charged_back,
           coalesce((SELECT sum(w.counted_minor) FROM payments_providertransaction w
                      WHERE w.reverses_id = p.id AND w.kind = 'REFUND'), 0) AS refunds,
           coalesce((SELECT sum(CASE w.kind WHEN 'CHARGEBACK' THEN w.counted_minor
                                            ELSE -w.counted_minor END)
                       FROM payments_providertransaction w
                      WHERE w.reverses_id = p.id
                        AND w.kind IN ('CHARGEBACK', 'CHARGEBACK_REVERSAL')), 0) AS chargebacks,
           coalesce((SELECT sum(w.counted_minor) FROM payments_providertransaction w
                      WHERE w.reverses_id = p.id AND w.is_total), 0) AS totals,
           coalesce((SELECT sum(r.amount_minor) FROM payments_refund r
                      WHERE r.payment_id = p.id AND r.status IN ('REQUESTED', 'PROCESSING')), 0)
               AS under_way
      FROM payments_providertransaction p WHERE p.kind = 'PAYMENT'
    ),
    -- Accepted; the refund of the excess has failed since, and the question stands again.
    opened_again AS (
    SELECT c.id FROM payments_conflict c
      JOIN outbox_event e ON e.aggregate_type = 'conflict' AND e.aggregate_id = c.id::text
     WHERE e.payload ->> 'how' = 'ACCEPT_OWED' AND e.type = 'conflict.resolved'
       AND c.version > e.seq
    ),
    transactions_told AS (
    SELECT t.id, t.kind, t.disposition, count(d.id) AS told,
           (SELECT count(*) FROM payments_conflict c
             WHERE c.transaction_id = t.id
               AND (c.decision IN ('ACCEPT', 'ACCEPT_RECEIVED', 'ACCEPT_OWED', 'MATCH')
                    OR c.id IN (SELECT id FROM opened_again))) AS accepted,
           count(d.id) FILTER (WHERE d.outcome = 'APPLIED' AND d.kind = 'PAID') AS applied,
           count(d.id) FILTER (WHERE d.outcome = 'PARKED') AS parked,
           count(d.id) FILTER (WHERE d.outcome = 'APPLIED' OR d.outcome = 'PARKED'
                                  OR d.outcome = 'CONFLICT' AND d.reason <> 'TRANSACTION_ALTERED')
               AS decided
      FROM payments_providertransaction t
      LEFT JOIN payments_delivery d ON d.transaction_id = t.id
     WHERE t.kind = 'PAYMENT'
       AND NOT EXISTS (SELECT FROM payments_manualpayment m WHERE m.transaction_id = t.id)
  GROUP BY t.id
    )
"""

CHECKS: Final[Mapping[str, str]] = {
    "an order is paid if and only if exactly one transaction is applied to it": """
        SELECT id FROM orders_applied o
         WHERE applied <> (status IN ('PAID', 'REFUNDED'))::int""",
    "an order is paid if and only if exactly one event says so, and by which transaction": """
        SELECT id FROM orders_told o
         WHERE told_paid <> (status IN ('PAID', 'REFUNDED'))::int OR told_txn <> told_paid""",
    "an order's moves are told without a gap": """
        SELECT id FROM orders_told o WHERE told <> version OR coalesce(last, 0) <> told""",
    "what is applied is what the order asks for": """
        SELECT t.id FROM payments_providertransaction t JOIN orders_order o ON o.id = t.order_id
         WHERE t.disposition = 'APPLIED' AND t.kind = 'PAYMENT'
           AND ((t.merchant_id, t.amount_minor, t.currency, t.txn_no, t.occurred_at)
             <> (o.merchant_id, o.amount_minor, o.currency, o.paid_txn_no, o.paid_at)
             OR t.order_no <> o.order_no AND NOT EXISTS (
                SELECT FROM payments_conflict c
                 WHERE c.transaction_id = t.id AND c.decision = 'MATCH'))""",
    "only a payment that is applied has an order": """
        SELECT id FROM payments_providertransaction
         WHERE (kind = 'PAYMENT' AND disposition = 'APPLIED') <> (order_id IS NOT NULL)""",
    "a payment has refunded what the ledger counts, and no more is promised than is left": """
        SELECT id FROM rooms
         WHERE refunded <> refunds OR charged_back <> chargebacks
            OR reserved < refunded OR reserved - refunded > under_way
            OR reserved + totals < refunded + under_way""",
    "nothing waits for room while there is any": """
        SELECT w.id FROM payments_providertransaction w
          JOIN payments_providertransaction p ON p.id = w.reverses_id
          JOIN payments_provideraccount a ON a.id = p.account_id
         WHERE w.kind IN ('REFUND', 'CHARGEBACK') AND w.disposition IN ('APPLIED', 'HELD')
           AND w.counted_minor < CASE WHEN w.is_total THEN (w.disposition = 'HELD')::int
                                                      ELSE w.amount_minor END
           AND w.currency = p.currency AND w.stated_account_no IN ('', a.account_no)
           AND p.amount_minor > p.refund_reserved_minor + p.charged_back_minor""",
    "what waits for room asks a person, and what has it asks nobody any more": """
        SELECT w.id FROM payments_providertransaction w
          JOIN payments_providertransaction p ON p.id = w.reverses_id AND p.currency = w.currency
          JOIN payments_provideraccount a ON a.id = p.account_id
         WHERE w.kind IN ('REFUND', 'CHARGEBACK') AND NOT w.is_total
           AND w.stated_account_no IN ('', a.account_no)
           AND CASE WHEN w.disposition <> 'RETURNED' AND w.counted_minor < w.amount_minor
                    THEN NOT EXISTS (SELECT FROM payments_conflict c
                                      WHERE c.reason = 'REVERSAL_EXCEEDS_PAYMENT'
                                        AND c.transaction_id = w.id)
                    ELSE EXISTS (SELECT FROM payments_conflict c
                                  WHERE c.reason = 'REVERSAL_EXCEEDS_PAYMENT'
                                    AND c.transaction_id = w.id AND c.status = 'OPEN') END""",
    "an order has refunded what the payment that paid it has": """
        SELECT o.id FROM orders_order o
         WHERE o.refunded_minor <> coalesce((
               SELECT sum(p.refunded_minor) FROM payments_providertransaction p
                WHERE p.order_id = o.id AND p.disposition = 'APPLIED'), 0)""",
    "a refund succeeded if and only if the ledger has it, for its payment and its amount": """
        SELECT r.id FROM payments_refund r
          LEFT JOIN payments_providertransaction t ON t.id = r.transaction_id
         WHERE (r.status = 'SUCCEEDED' OR r.status = 'FAILED' AND EXISTS (
                   SELECT FROM payments_conflict c
                    WHERE c.reason = 'REFUND_REVERSED' AND c.transaction_id = t.id)
               AND t.counted_minor = r.amount_minor) <> coalesce(
               t.kind = 'REFUND' AND t.disposition = 'APPLIED' AND t.reverses_id = r.payment_id
               AND (t.account_id, t.amount_minor, t.currency, t.counted_minor)
                 = (r.account_id, r.amount_minor, r.currency, r.amount_minor), false)""",
    "a refund's moves are told without a gap, and its end as it is": """
        SELECT id FROM refunds_told
         WHERE told <> version OR last <> version OR succeeded > 1
            OR status = 'SUCCEEDED' AND (succeeded <> 1 OR failed <> 0)
            OR status = 'FAILED' AND failed <> 1
            OR status IN ('REQUESTED', 'PROCESSING') AND succeeded + failed <> 0""",
    "money that goes back was told by a provider, or asked for": """
        SELECT t.id FROM payments_providertransaction t
         WHERE t.kind <> 'PAYMENT'
           AND NOT EXISTS (SELECT FROM payments_delivery d WHERE d.transaction_id = t.id)
           AND NOT EXISTS (SELECT FROM payments_refund r WHERE r.transaction_id = t.id)""",
    "no order's event is invented": """
        SELECT e.id FROM outbox_event e
         WHERE e.aggregate_type = 'order' AND NOT EXISTS (
               SELECT FROM orders_order o JOIN orders_merchant m ON m.id = o.merchant_id
                WHERE e.aggregate_id = m.code || '/' || o.order_no)""",
    "no conflict's event is invented": """
        SELECT e.id FROM outbox_event e
         WHERE e.aggregate_type = 'conflict' AND NOT EXISTS (
               SELECT FROM payments_conflict c WHERE c.id::text = e.aggregate_id)""",
    "a conflict is told when it opens, and at each move": """
        SELECT id FROM conflicts_told c
         WHERE opened <> 1 OR told <> version OR last <> version""",
    "an event is published only after those before it": """
        SELECT later.id FROM outbox_dispatch later
          JOIN outbox_dispatch earlier USING (destination_id, aggregate_type, aggregate_id)
         WHERE earlier.seq < later.seq
           AND later.published_at IS NOT NULL AND earlier.published_at IS NULL""",
    "every event is on its way to all who wanted it, and as itself": """
        SELECT e.id FROM outbox_event e
         WHERE NOT EXISTS (
               SELECT FROM outbox_dispatch d JOIN outbox_destination b ON b.id = d.destination_id
                WHERE d.event_id = e.id AND b.code = 'bus')
            OR EXISTS (
               SELECT FROM outbox_dispatch d
                WHERE d.event_id = e.id
                  AND (d.aggregate_type, d.aggregate_id, d.seq, d.created_at)
                   <> (e.aggregate_type, e.aggregate_id, e.seq, e.created_at))""",
    "each transaction was delivered, decided, and applied at most once": """
        SELECT id FROM transactions_told t
         WHERE decided = 0 OR applied > 1
            OR disposition = 'APPLIED' AND applied + parked + accepted = 0
            OR disposition <> 'APPLIED' AND applied > 0
            OR disposition = 'PARKED' AND parked <> 1""",
    "a manual payment is what paid its order, and nobody delivered it": """
        SELECT m.id FROM payments_manualpayment m
          JOIN payments_providertransaction t ON t.id = m.transaction_id
         WHERE t.disposition <> 'APPLIED'
            OR (t.order_id, t.amount_minor, t.currency)
            <> (m.order_id, m.amount_minor, m.currency)
            OR EXISTS (SELECT FROM payments_delivery d WHERE d.transaction_id = t.id)""",
    "money that is held asks a person": """
        SELECT t.id FROM payments_providertransaction t
         WHERE t.disposition = 'HELD' AND NOT EXISTS (
               SELECT FROM payments_conflict c WHERE c.transaction_id = t.id)""",
    "a delivery has the evidence of its outcome": """
        SELECT d.id FROM payments_delivery d
         WHERE CASE d.outcome
               WHEN 'CONFLICT' THEN NOT EXISTS (
                   SELECT FROM payments_conflict c
                    WHERE c.reason = d.reason
                      AND (c.transaction_id = d.transaction_id OR d.transaction_id IS NULL))
               WHEN 'APPLIED' THEN d.transaction_id IS NULL
               WHEN 'PARKED' THEN d.transaction_id IS NULL
               WHEN 'DUPLICATE' THEN d.transaction_id IS NULL
               ELSE d.transaction_id IS NOT NULL END""",
    "only a decision opens a closed order again, or takes another amount": """
        SELECT o.id FROM orders_order o
         WHERE o.status IN ('PAID', 'REFUNDED')
           AND (o.closed_at IS NOT NULL OR o.placed_minor IS NOT NULL)
           AND NOT EXISTS (
               SELECT FROM payments_conflict c
                 JOIN payments_providertransaction t ON t.id = c.transaction_id
                WHERE t.order_id = o.id
                  AND (c.decision IN ('ACCEPT', 'ACCEPT_RECEIVED', 'ACCEPT_OWED', 'MATCH')
                       OR c.id IN (SELECT id FROM opened_again)))""",
    "a payment is decided about once": """
        SELECT transaction_id FROM payments_conflict
         WHERE decision IN ('ACCEPT', 'ACCEPT_RECEIVED', 'ACCEPT_OWED', 'MATCH')
      GROUP BY transaction_id HAVING count(*) > 1""",
    "a decision that needs two has an approved proposal of another": """
        SELECT c.id FROM payments_conflict c
         WHERE c.needs_two AND NOT EXISTS (
               SELECT FROM payments_proposal p
                WHERE p.conflict_id = c.id AND p.status = 'APPROVED'
                  AND (p.resolution, p.proposed_by_id, p.decided_by_id)
                    = (c.decision, c.proposed_by_id, c.decided_by_id))""",
    "a conflict waits for a second person if and only if a proposal does": """
        SELECT c.id FROM payments_conflict c
         WHERE (c.status = 'PROPOSED') AND NOT EXISTS (
               SELECT FROM payments_proposal p
                WHERE p.conflict_id = c.id AND p.status = 'PENDING')""",
    "a batch is stored whole, its bytes once": """
        SELECT min(id) FROM payments_delivery GROUP BY batch_id
        HAVING count(*) <> max(item_no) + 1 OR count(body) <> 1""",
    "nothing belongs to two merchants": """
        SELECT t.id FROM payments_providertransaction t
          JOIN payments_provideraccount a ON a.id = t.account_id
          LEFT JOIN orders_order o ON o.id = t.order_id
          LEFT JOIN payments_delivery d ON d.transaction_id = t.id
         WHERE t.merchant_id <> a.merchant_id OR t.merchant_id <> o.merchant_id
            OR (t.merchant_id, t.account_id) <> (d.merchant_id, d.account_id)""",
}
_ALL_SQL: Final = _VIEWS_SQL + " UNION ALL ".join(
    f"SELECT %s, broken.id::text FROM ({sql}) AS broken (id)"  # noqa: S608 - constants only
    for sql in CHECKS.values()
)
_OUTCOMES_SQL: Final = """
    SELECT trim(outcome || ' ' || reason), count(*) FROM payments_delivery GROUP BY 1
"""


def broken_rules() -> dict[str, list[str]]:
    """Each rule that does not hold, with the ids of the rows that break it."""
    broken: dict[str, list[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_ALL_SQL, list(CHECKS))
        for name, row_id in cursor.fetchall():
            broken.setdefault(name, []).append(row_id)
    return broken


def outcomes() -> Counter[str]:
    """How many deliveries ended how: "APPLIED", "CONFLICT LATE_PAYMENT" .."""
    with connection.cursor() as cursor:
        cursor.execute(_OUTCOMES_SQL)
        return Counter(dict(cursor.fetchall()))


def assert_books_balance(*, deliveries: int | None = None) -> None:
    """Every rule holds; and as many deliveries are kept as were acknowledged, if that is known."""
    assert broken_rules() == {}
    if deliveries is not None:
        assert outcomes().total() == deliveries
