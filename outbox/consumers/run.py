"""The loop of a consumer: connect, hear, settle, and begin again after whatever went wrong."""

import threading
import time
from typing import Final

import structlog
from django.db import DatabaseError, InterfaceError, connection

from outbox.consumers.attend import Never, NotNow, attend
from outbox.consumers.port import Delivery, Source, Subscription, Unavailable, Unreadable
from outbox.inbox import Heard

POLL_SECONDS: Final = 1.0
PAUSE_SECONDS_MAX: Final = 30.0
#: How long a delivery is held while the database cannot: under the half hour after which RabbitMQ
#: takes it away, which would count as one of its deliveries.
HELD_SECONDS_MAX: Final = 600.0

log = structlog.get_logger(__name__)


def run(source: Source, subscription: Subscription, stopped: threading.Event) -> None:
    """Hear until `stopped` is set; then settle what was taken, and return.

    No trouble of the broker or the database ends it: it waits, and says so.
    """
    failures = 0
    while not stopped.is_set():
        try:
            _reach_database()
            source.open()
            log.info("consumer_hears", consumer=subscription.name, types=subscription.types)
            failures = 0
            _serve(source, subscription, stopped)
        except (Unavailable, NotNow) as error:
            log.warning("consumer_waits", consumer=subscription.name, reason=str(error))
            stopped.wait(min(PAUSE_SECONDS_MAX, 2.0**failures))
            failures = min(failures + 1, 10)
        finally:
            source.close()


def _reach_database() -> None:
    """Nothing is taken from the broker while it could not be handled. Raises NotNow."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError) as error:
        connection.close()
        raise NotNow(f"no database: {type(error).__name__}") from error


def _serve(source: Source, subscription: Subscription, stopped: threading.Event) -> None:
    while not stopped.is_set():
        delivery = source.next(POLL_SECONDS)
        if delivery is not None:
            _settle(source, subscription, delivery, stopped)
    source.take_no_more()
    while (delivery := source.next(0)) is not None:
        _settle(source, subscription, delivery, stopped)


def _settle(
    source: Source, subscription: Subscription, delivery: Delivery, stopped: threading.Event
) -> None:
    verdict = _verdict(source, subscription, delivery, stopped)
    if not isinstance(verdict, Never):
        source.done(delivery)
        return
    event_id = "" if isinstance(delivery.event, Unreadable) else delivery.event.id
    log.error("event_buried", consumer=subscription.name, event_id=event_id, reason=verdict.reason)
    source.bury(delivery, verdict.reason)


def _verdict(
    source: Source, subscription: Subscription, delivery: Delivery, stopped: threading.Event
) -> Heard | Never | None:
    """What became of it; None if it is of a type that we do not hear."""
    if isinstance(delivery.event, Unreadable):
        return Never(str(delivery.event))
    if delivery.event.type not in subscription.types:
        return None
    give_up_at = time.monotonic() + HELD_SECONDS_MAX
    while True:
        try:
            return attend(delivery.event, subscription, stopped)
        except NotNow as error:
            if stopped.is_set() or time.monotonic() > give_up_at:
                raise
            log.warning("consumer_waits", consumer=subscription.name, reason=str(error))
            stopped.wait(POLL_SECONDS)
            source.still_here(delivery)
