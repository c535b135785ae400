"""The clock's errand, from a conflict to the message, over real HTTP."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from payments.models import Level, NotificationKind
from payments.notifications import recipients
from payments.tasks import notify
from tests.factories import ConflictFactory
from tests.outbox.webhooks.receiver import Receiver


@pytest.mark.django_db(transaction=True)
def test_a_conflict_is_told_by_the_clock_once(receiver: Receiver) -> None:
    now = datetime.fromtimestamp(time.time(), UTC)
    hour = timedelta(hours=1)
    recipients.add(
        NotificationKind.SLACK, receiver.url, least=Level.PAGE, merchant=None, now=now - hour
    )
    conflict = ConflictFactory.create(opened_at=now - hour / 2, due_at=now + hour)

    notify()
    notify()

    (told,) = receiver.received
    assert f"/admin/payments/conflict/{conflict.pk}/change/" in told.document["text"]
