"""Hear it once: the mark of an event and its effect, in one transaction.

Whatever delivers events delivers some of them again, to two consumers at once, or to one that dies
between the effect and its acknowledgement. The mark's primary key decides who was first: a second
transaction waits for the first, and is a duplicate if that one commits, the first if it rolls back.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from django.db import InternalError, connection, transaction
from django.db.transaction import TransactionManagementError

from outbox.models import CONSUMED_ID_LENGTH_MAX, CONSUMER_GROUP_LENGTH_MAX

_MARK_SQL: Final = """
    INSERT INTO outbox_consumedevent (consumer_group, event_id) VALUES (%s, %s)
    ON CONFLICT (consumer_group, event_id) DO NOTHING
"""
#: ROLLBACK TO a savepoint ends nothing.
_ENDS_TRANSACTION: Final = re.compile(r"(?is)\s*(commit|end|abort|rollback(?!.*\bto\b))\b")


class Identified(Protocol):
    """All that the inbox asks of an event, ours or anybody's."""

    @property
    def id(self) -> str | UUID:
        """Unlike that of every other event that the group hears of."""


class Heard(StrEnum):
    """What became of a delivery; both are acknowledged."""

    HANDLED = "HANDLED"
    DUPLICATE = "DUPLICATE"


class NoTransaction(RuntimeError):
    """A mark was asked for outside a transaction: it could outlive, or miss, its effect."""


class NotKept(RuntimeError):
    """What the handler did is undone, though it returned: a fault of the handler's."""


class UnfitName(ValueError):
    """A group or an id that cannot be kept: no event may be taken for another by being cut."""


_Event = TypeVar("_Event", bound=Identified)


def consume(event: _Event, *, group: str, handler: Callable[[_Event], None]) -> Heard:
    """Run the handler once for this event in this group, with its mark in one transaction.

    When it returns, the effect is committed, now or by somebody before: acknowledge, also a
    duplicate. When it raises, nothing has happened: leave the event unacknowledged. The loser of a
    race waits for the winner, within the connection's `lock_timeout` (then: OperationalError).

    `group` names the consumer and, where it has one, the version of its handler (`totals@2`):
    another version hears everything anew. An id must be unique among all that the group hears;
    CloudEvents promise that for each `source`, so a group that hears several puts it before.

    The handler must write through the default connection, and leave the transaction to us. Raises
    UnfitName, RuntimeError inside a transaction (what a caller acknowledges before his commit could
    be lost: see `first_time`), NotKept for a handler that ends the transaction by itself, or that
    swallows an error after which the database keeps nothing, and whatever the handler raises.
    """
    with transaction.atomic(durable=True):
        if not first_time(str(event.id), group=group):
            return Heard.DUPLICATE
        with connection.execute_wrapper(_refuse_to_end):
            handler(event)
        _expect_to_be_kept()
    return Heard.HANDLED


def first_time(event_id: str, *, group: str) -> bool:
    """Mark the event in the transaction at hand; whether nobody had.

    For callers with a transaction of their own, such as one for a whole batch: the effect belongs
    into the same one, and the acknowledgement after its commit. Raises NoTransaction, UnfitName.
    """
    if not connection.in_atomic_block:
        raise NoTransaction("an event's mark must share the transaction of its effect")
    for name, value, length_max in (
        ("a consumer group", group, CONSUMER_GROUP_LENGTH_MAX),
        ("an event's id", event_id, CONSUMED_ID_LENGTH_MAX),
    ):
        if not 1 <= len(value) <= length_max or "\0" in value:
            raise UnfitName(f"{name} has 1-{length_max} characters: {value!r:.80}")
    with connection.cursor() as cursor:
        cursor.execute(_MARK_SQL, [group, event_id])
        return bool(cursor.rowcount)


def _refuse_to_end(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
    """The mark would be kept before the whole of the effect is there."""
    if isinstance(sql, str) and _ENDS_TRANSACTION.match(sql):
        raise NotKept("the handler ends the transaction of its mark by itself")
    return execute(sql, *rest)


def _expect_to_be_kept() -> None:
    """After an error that somebody swallowed, COMMIT rolls back and says nothing."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (InternalError, TransactionManagementError) as error:
        raise NotKept("the handler returned after an error that undoes all of it") from error
