"""What shall be told to whom, and its messages: one in a few minutes, one at a time."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection, transaction

from payments.conflicts.lifecycle import UNDECIDED
from payments.models import Notification, NotificationMessage, Recipient, Severity

#: Conflicts younger than this are not told: what a policy decides within seconds is no news.
SETTLES_IN: Final = timedelta(seconds=20)
#: How much one run queues; the next tick takes the rest.
QUEUED_MAX: Final = 1000
RECIPIENTS_MAX: Final = 50
#: How many conflicts a message names; of more it says how many.
NAMED_MAX: Final = 20

_QUEUE_SQL: Final = """
    INSERT INTO payments_notification (recipient_id, conflict_id, level, queued_at)
    SELECT r.id, c.id, c.level, %(now)s
      FROM (SELECT id, merchant_id,
                   CASE severity WHEN %(page)s THEN 2 ELSE 1 END
                       + CASE WHEN due_at <= %(now)s THEN 1 ELSE 0 END AS level,
                   CASE WHEN due_at <= %(now)s THEN due_at ELSE opened_at END AS since
              FROM payments_conflict
             WHERE status IN ('OPEN', 'PROPOSED') AND opened_at <= %(settled)s) AS c
      JOIN payments_recipient AS r
        ON r.active AND r.least <= c.level AND r.created_at <= c.since
           AND (r.merchant_id IS NULL OR r.merchant_id = c.merchant_id)
     WHERE NOT EXISTS (SELECT FROM payments_notification AS n
                        WHERE n.recipient_id = r.id AND n.conflict_id = c.id
                          AND n.level = c.level)
  ORDER BY c.level DESC, c.id LIMIT %(most)s
        ON CONFLICT (recipient_id, conflict_id, level) DO NOTHING
"""
_READY_SQL: Final = """
    SELECT r.id FROM payments_recipient AS r
     WHERE r.active
       AND EXISTS (SELECT FROM payments_notification AS n
                    WHERE n.recipient_id = r.id AND n.message_id IS NULL)
       AND NOT EXISTS (SELECT FROM payments_notificationmessage AS m
                        WHERE m.recipient_id = r.id
                          AND (m.sent_at IS NULL OR m.made_at > %(since)s))
  ORDER BY r.id LIMIT %(most)s
"""


def queue(*, now: datetime, most: int = QUEUED_MAX) -> int:
    """Write down what shall be told: each conflict once to each recipient at each level.

    Of conflicts that came to a level before the recipient was added, nothing.
    """
    values: dict[str, Any] = {
        "now": now,
        "page": Severity.PAGE,
        "settled": now - SETTLES_IN,
        "most": most,
    }
    with connection.cursor() as cursor:
        cursor.execute(_QUEUE_SQL, values)
        return int(cursor.rowcount)


def write_messages(*, every: timedelta, now: datetime) -> int:
    """Put what waits into messages, at most one for each recipient `every` so often.

    While a message is not through, what comes waits for the next one.
    """
    values: dict[str, Any] = {"since": now - every, "most": RECIPIENTS_MAX}
    with connection.cursor() as cursor:
        cursor.execute(_READY_SQL, values)
        ready = [row[0] for row in cursor.fetchall()]
    return sum(_write(recipient_id, now=now) for recipient_id in ready)


@transaction.atomic(durable=True)
def _write(recipient_id: int, *, now: datetime) -> bool:
    """One recipient's message; his row is held, so that two workers do not write two."""
    held = Recipient.objects.select_for_update(no_key=True, skip_locked=True)
    recipient = held.filter(pk=recipient_id, active=True).first()
    if recipient is None or recipient.messages.filter(sent_at=None).exists():
        return False
    waiting = Notification.objects.filter(recipient=recipient, message=None)
    # Decided before it was told: nobody has to look any more, and if it opens again, it is told.
    waiting.exclude(conflict__status__in=UNDECIDED).delete()
    told = list(waiting.order_by("-level", "pk").values_list("pk", flat=True)[:QUEUED_MAX])
    if not told:
        return False
    message = NotificationMessage.objects.create(
        recipient=recipient, made_at=now, next_attempt_at=now
    )
    Notification.objects.filter(pk__in=told).update(message=message)
    return True
