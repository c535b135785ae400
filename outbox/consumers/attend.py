"""What becomes of one delivery: handled, a duplicate, not now, or never."""

import threading
from dataclasses import dataclass
from typing import Final

import structlog
from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, connection

from outbox.consumers.port import HeardEvent, Subscription, Unreadable
from outbox.inbox import Heard, UnfitName, consume

#: How often a handler that fails is run before its event is buried, and the wait between.
TRIES_MAX: Final = 3
TRY_WAIT_SECONDS: Final = 0.2

log = structlog.get_logger(__name__)


class NotNow(Exception):
    """The database cannot do it at the moment: no fault of the event, however long it lasts."""


@dataclass(frozen=True, slots=True)
class Never:
    """The event cannot be handled, for this reason: a person must see it."""

    reason: str


def attend(
    event: HeardEvent, subscription: Subscription, stopped: threading.Event
) -> Heard | Never:
    """Handle the event once. Raises NotNow.

    The loser of a race waits for the winner and is then a duplicate; if it waits too long, it is
    NotNow like every other trouble of the database, and never the event's fault.
    """
    for tries_left in reversed(range(TRIES_MAX)):
        try:
            return consume(event, group=subscription.group, handler=subscription.handler)
        except (Unreadable, UnfitName) as error:
            return Never(str(error))
        except (DataError, IntegrityError) as error:
            failure: Exception = error
        except (DatabaseError, InterfaceError) as error:
            # Away, locked, read-only, not yet migrated ..: whatever it is, the next event would
            # meet it too.
            connection.close()
            raise NotNow(f"{type(error).__name__}: {error}") from error
        except Exception as error:  # noqa: BLE001 - a handler may fail in any way
            failure = error
        if tries_left:
            stopped.wait(TRY_WAIT_SECONDS)
    log.error("consumer_failed", consumer=subscription.name, event_id=event.id, exc_info=failure)
    return Never(f"{type(failure).__name__}: {failure}")
