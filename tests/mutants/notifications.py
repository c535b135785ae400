"""Who is told of conflicts, once and until it was taken."""

from typing import Final

from tests.mutants.mutant import mutant

QUEUE = "tests/payments/notifications/test_queue.py"
SEND = "tests/payments/notifications/test_send.py"
COLLECT = "payments/notifications/collect.py"

MUTANTS: Final = (
    mutant(
        "notifications: an overdue conflict is not louder",
        COLLECT,
        "+ CASE WHEN due_at <= %(now)s THEN 1 ELSE 0 END AS level",
        "AS level",
        QUEUE,
    ),
    mutant(
        "notifications: a merchant's recipient hears of all",
        COLLECT,
        "AND (r.merchant_id IS NULL OR r.merchant_id = c.merchant_id)",
        "",
        QUEUE,
    ),
    mutant(
        "notifications: what was decided meanwhile is told",
        COLLECT,
        "    waiting.exclude(conflict__status__in=UNDECIDED).delete()\n",
        "",
        QUEUE,
    ),
    mutant(
        "notifications: a message that failed is not tried again",
        "payments/notifications/send.py",
        '            "next_attempt_at": now + backoff(attempts),\n',
        '            "sent_at": now,\n',
        SEND,
    ),
    mutant(
        "notifications: whoever sends it holds no lease",
        "payments/notifications/send.py",
        "        message.next_attempt_at = now + LEASE\n",
        "",
        SEND,
    ),
)
