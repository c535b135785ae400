"""Who is told what: each conflict once at each level, in one message every few minutes."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError

from payments.models import (
    Conflict,
    ConflictStatus,
    Level,
    Notification,
    NotificationMessage,
    Recipient,
    Severity,
)
from payments.notifications.collect import SETTLES_IN, queue, write_messages
from tests.factories import CREATED_AT, ConflictFactory, MerchantFactory, RecipientFactory

pytestmark = pytest.mark.django_db

EVERY = timedelta(minutes=5)
OPENED_AT = CREATED_AT + timedelta(hours=1)
NOW = OPENED_AT + timedelta(minutes=1)


def conflict(severity: Severity = Severity.PAGE, **values: Any) -> Conflict:
    due_at = OPENED_AT + timedelta(hours=2)
    return ConflictFactory.create(
        **{"severity": severity, "opened_at": OPENED_AT, "due_at": due_at} | values
    )


def told() -> list[tuple[str, Level]]:
    rows = Notification.objects.order_by("pk").values_list("recipient__shown", "level")
    return [(shown, Level(level)) for shown, level in rows]


@pytest.mark.parametrize(
    ("severity", "overdue", "level"),
    [
        (Severity.TICKET, False, Level.TICKET),
        (Severity.TICKET, True, Level.PAGE),
        (Severity.PAGE, False, Level.PAGE),
        (Severity.PAGE, True, Level.OVERDUE_PAGE),
    ],
)
@pytest.mark.parametrize("least", Level)
def test_everybody_is_told_from_his_level_on(
    severity: Severity, overdue: bool, level: Level, least: Level
) -> None:
    RecipientFactory.create(shown="a@example.org", least=least)
    conflict(severity, due_at=NOW if overdue else NOW + timedelta(seconds=1))

    queue(now=NOW)

    assert told() == ([("a@example.org", level)] if level >= least else [])


def test_a_conflict_is_told_once_at_each_level_however_often_it_is_looked_at() -> None:
    RecipientFactory.create(shown="a@example.org")
    conflict()
    late = NOW + timedelta(hours=3)

    assert [queue(now=at) for at in (NOW, NOW, late, late)] == [1, 0, 1, 0]
    assert [level for _, level in told()] == [Level.PAGE, Level.OVERDUE_PAGE]
    queued = Notification.objects.first()
    assert queued is not None
    with pytest.raises(IntegrityError, match="notification_once_per_level"):
        Notification.objects.create(
            recipient=queued.recipient,
            conflict=queued.conflict,
            level=queued.level,
            queued_at=NOW,
        )


def test_a_recipient_of_one_merchant_hears_of_no_other() -> None:
    mine = MerchantFactory.create()
    RecipientFactory.create(shown="mine@example.org", merchant=mine)
    RecipientFactory.create(shown="stopped@example.org", active=False)
    conflict()
    own = conflict(merchant=mine)

    queue(now=NOW)

    assert [row.conflict for row in Notification.objects.all()] == [own]


def test_what_came_before_the_recipient_or_is_decided_or_may_settle_itself_is_no_news() -> None:
    RecipientFactory.create(created_at=OPENED_AT + timedelta(seconds=1))
    conflict()
    conflict(opened_at=NOW - SETTLES_IN + timedelta(seconds=1))
    conflict(opened_at=NOW - SETTLES_IN, status=ConflictStatus.RESOLVED, resolved_at=NOW)

    assert queue(now=NOW) == 0


def test_one_run_queues_no_more_than_its_limit_and_the_next_takes_the_rest() -> None:
    RecipientFactory.create()
    for _ in range(3):
        conflict()

    assert [queue(now=NOW, most=2) for _ in range(3)] == [2, 1, 0]


def messages(recipient: Recipient) -> list[int]:
    """How many conflicts are in each of his messages."""
    return [
        message.notifications.count()
        for message in NotificationMessage.objects.filter(recipient=recipient).order_by("made_at")
    ]


def tick(at: datetime) -> None:
    queue(now=at)
    write_messages(every=EVERY, now=at)


@pytest.mark.django_db(transaction=True)
def test_what_comes_within_minutes_is_one_message_and_waits_for_the_one_before() -> None:
    recipient = RecipientFactory.create()
    conflict()
    tick(NOW)
    for _ in range(3):
        conflict()
    tick(NOW + EVERY)  # the first is not through
    assert messages(recipient) == [1]

    NotificationMessage.objects.update(sent_at=NOW)
    tick(NOW + EVERY - timedelta(seconds=1))
    assert messages(recipient) == [1]
    tick(NOW + EVERY)
    assert messages(recipient) == [1, 3]


@pytest.mark.django_db(transaction=True)
def test_what_was_decided_meanwhile_is_not_told_and_is_if_it_opens_again() -> None:
    recipient = RecipientFactory.create()
    decided = conflict()
    queue(now=NOW)
    Conflict.objects.update(status=ConflictStatus.RESOLVED, resolved_at=NOW)
    write_messages(every=EVERY, now=NOW)
    assert messages(recipient) == []

    Conflict.objects.filter(pk=decided.pk).update(status=ConflictStatus.OPEN, resolved_at=None)
    tick(NOW)
    assert messages(recipient) == [1]
