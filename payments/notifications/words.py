"""What a message says: which conflicts wait, how loudly, and where to decide them.

Nothing of payers, orders and amounts: mail and chats are read by others, and kept elsewhere.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.urls import reverse

from payments.models import Level, Notification, NotificationMessage
from payments.notifications.collect import NAMED_MAX

#: The type of the event that webhooks get.
EVENT_TYPE: Final = "conflicts.waiting"
_LEVELS: Final[Mapping[Level, str]] = {
    Level.TICKET: "to decide within a day",
    Level.PAGE: "urgent",
    Level.OVERDUE_PAGE: "urgent and overdue",
}


class Told(NamedTuple):
    """One conflict, as it is told."""

    level: Level
    reason: str
    merchant: str
    opened_at: datetime
    due_at: datetime
    link: str


class Words(NamedTuple):
    """A message: what it is about in one line, the conflicts, and how many more there are."""

    subject: str
    told: Sequence[Told]
    more: int
    link: str


def of(message: NotificationMessage) -> Words:
    """What the message says; the same whenever it is sent."""
    named = message.notifications.select_related("conflict__merchant").order_by("-level", "pk")
    count = message.notifications.count()
    told = [_told(notification) for notification in named[:NAMED_MAX]]
    return Words(_subject(told, count), told, count - len(told), _address("changelist"))


def as_text(words: Words) -> str:
    """For people: mail, and chats, which make links of addresses by themselves."""
    lines = [words.subject]
    for told in words.told:
        due = f"{told.due_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        lines.append(
            f"- {told.reason} of {told.merchant}, {_LEVELS[told.level]}, due {due}: {told.link}"
        )
    if words.more:
        lines.append(f"- and {words.more} more")
    return "\n".join([*lines, f"All of them: {words.link}"])


def as_event(words: Words, *, at: datetime) -> bytes:
    """For machines: the envelope of Standard Webhooks."""
    conflicts = [
        {
            "level": told.level.name,
            "reason": told.reason,
            "merchant": told.merchant,
            "opened_at": told.opened_at.isoformat(),
            "due_at": told.due_at.isoformat(),
            "url": told.link,
        }
        for told in words.told
    ]
    data: dict[str, Any] = {"conflicts": conflicts, "more": words.more, "url": words.link}
    return json.dumps({"type": EVENT_TYPE, "timestamp": at.isoformat(), "data": data}).encode()


def _subject(told: Sequence[Told], count: int) -> str:
    if not told:
        return "Paidonce: a test, nothing is to be decided"
    conflicts = "1 conflict waits" if count == 1 else f"{count} conflicts wait"
    return f"Paidonce: {conflicts} for a decision, {_LEVELS[told[0].level]}"


def _told(notification: Notification) -> Told:
    conflict = notification.conflict
    return Told(
        level=Level(notification.level),
        reason=conflict.reason,
        merchant=conflict.merchant.code,
        opened_at=conflict.opened_at,
        due_at=conflict.due_at,
        link=_address("change", conflict.pk),
    )


def _address(page: str, *args: int) -> str:
    return settings.PUBLIC_URL + reverse(f"admin:payments_conflict_{page}", args=args)
