"""The worker's part in the relay: beat wakes it, the table says what there is to do."""

import socket
from multiprocessing.sharedctypes import RawValue
from typing import Any, Final

import structlog
from celery import shared_task
from celery.signals import celeryd_after_setup, worker_shutting_down
from django.conf import settings

from outbox import inbox_retention
from outbox.drains import Drains
from outbox.only_one import only_one
from outbox.retention import BEGINNING, Position, forget
from outbox.slots import problems
from outbox.webhooks import housekeeping
from outbox.webhooks.relay import WebhookRelay, from_settings

#: How long the one task that waits for events stays; far below the time limit of a task and the
#: visibility timeout of a broker that is a Redis.
LINGER_SECONDS: Final = 20.0
#: How long a task stays that was woken beside it: others wait for this worker.
VISIT_SECONDS: Final = 3.0
#: How long webhooks are sent; what is in flight then is waited for, 16 seconds more at most.
WEBHOOKS_SECONDS: Final = 10.0
#: Whoever has this lock waits for events. It saves work and decides nothing: without it, or
#: beside somebody who sleeps with it, every task still publishes what it finds.
LINGERER_LOCK: Final = 5_047_001
#: Whoever has this one, for his machine, sends webhooks: slow endpoints take one slot at most.
WEBHOOKS_LOCK: Final = 5_047_002

# Written by the worker's first process, read by its children; without a lock, which a killed child
# could take with it.
_stopping = RawValue("b", 0)
#: How many tasks this worker runs at once; 0 where there is no worker.
_slots = RawValue("i", 0)

logger = structlog.stdlib.get_logger(__name__)


class _Process:
    """What this process of the worker keeps from task to task: connected drains, its place."""

    drains: Drains | None = None
    #: Where retention goes on, so that it gets past what may not go yet, however much that is.
    forgotten_to: Position = BEGINNING
    webhook_relay: WebhookRelay | None = None


@shared_task(name="outbox.relay")
def relay(**_from_newer_publishers: object) -> None:
    """Publish what waits in the outbox. Any number of these may run at once."""
    if _Process.drains is None:
        _Process.drains = Drains()
    with only_one(LINGERER_LOCK) as alone:
        # Who waits in a worker's only slot lets every other task wait.
        lingers = alone and _slots.value != 1
        _Process.drains.run(
            seconds_max=LINGER_SECONDS if lingers else VISIT_SECONDS,
            lingers=lingers,
            stopped=lambda: bool(_stopping.value),
        )


@shared_task(name="outbox.deliver_webhooks")
def deliver_webhooks(**_from_newer_publishers: object) -> None:
    """Bring events to merchants' endpoints; only one of these runs at a time on a machine."""
    with only_one(WEBHOOKS_LOCK, socket.gethostname()) as alone:
        if not alone:
            return
        if _Process.webhook_relay is None:
            _Process.webhook_relay = from_settings()
        _Process.webhook_relay.drain(seconds_max=WEBHOOKS_SECONDS)


@shared_task(name="outbox.tidy_webhooks")
def tidy_webhooks(**_from_newer_publishers: object) -> None:
    """Take away what waits for endpoints that were removed, and what is old."""
    housekeeping.tidy()


@celeryd_after_setup.connect
def _count_slots(instance: Any, **_: object) -> None:
    _slots.value = instance.concurrency


@worker_shutting_down.connect
def _stop_lingering(**_: object) -> None:
    _stopping.value = 1


@shared_task(name="outbox.forget_published")
def forget_published(**_from_newer_publishers: object) -> None:
    """Delete events that all their destinations have had for long enough."""
    forgotten, _Process.forgotten_to = forget(
        kept=settings.OUTBOX_KEPT, start=_Process.forgotten_to
    )
    if forgotten:
        logger.info("events_forgotten", events=forgotten)


@shared_task(name="outbox.check_slots")
def check_slots(**_from_newer_publishers: object) -> None:
    """Say aloud what a replication slot holds back before the disk is full."""
    for problem in problems():
        logger.error("replication_slot", slot=problem.slot, reason=problem.reason)


@shared_task(name="outbox.forget_marks")
def forget_marks(**_from_newer_publishers: object) -> None:
    """Delete marks of the inbox that are past their horizon."""
    forgotten = inbox_retention.forget(horizon=settings.INBOX_KEPT)
    if forgotten:
        logger.info("inbox_marks_forgotten", forgotten=forgotten)
