"""Tell the world: publish what waits for a destination, at least once, in order per aggregate.

Claim (one short statement), publish (outside any transaction), mark (with the fence). Any number of
relays may run at once; whatever happens to one of them, its leases end and another carries on.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Final

import structlog
from django.db import connection

from outbox import claims, retries
from outbox.claims import Claim, Setback
from outbox.destinations.port import Destination, Unavailable
from outbox.marking import mark
from outbox.models import DispatchState
from outbox.publishing import Round, publish

BATCH: Final = 100
LEASE: Final = timedelta(seconds=30)
#: A message begun at the last moment still ends, by its destination's timeouts, within the lease.
PUBLISH_SECONDS_MAX: Final = 10.0
#: Every so many rounds the newest events go first, so that a backlog does not hold them up.
ROUNDS_TO_NEWEST: Final = 4


logger = structlog.stdlib.get_logger(__name__)


class InTransaction(RuntimeError):
    """The relay was called inside a transaction, which would stay open while the network waits."""


@dataclass(slots=True)
class Figures:
    """What became of the events of one or several rounds; `failure` says what stopped them."""

    claimed: int = 0
    published: int = 0
    refused: int = 0
    dead: int = 0
    released: int = 0
    stale: int = 0
    failure: str = ""

    def add(self, other: "Figures") -> None:
        """Count another round in; of failures the last one counts."""
        for each in fields(self):
            if each.name != "failure":
                setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))
        self.failure = other.failure or self.failure


def drain(
    destination: Destination,
    destination_id: int,
    *,
    seconds_max: float,
    batch: int = BATCH,
    stopped: Callable[[], bool] = lambda: False,
) -> Figures:
    """Relay until nothing is left that may go out now, the destination fails, or time is up."""
    stop_at = time.monotonic() + seconds_max
    total = Figures()
    rounds = 0
    while True:
        rounds += 1
        figures = relay_once(
            destination,
            destination_id,
            batch=batch,
            newest_first=rounds % ROUNDS_TO_NEWEST == 0,
        )
        total.add(figures)
        if not figures.claimed or figures.failure or time.monotonic() >= stop_at or stopped():
            return total


def relay_once(
    destination: Destination,
    destination_id: int,
    *,
    batch: int = BATCH,
    lease: timedelta = LEASE,
    publish_seconds_max: float = PUBLISH_SECONDS_MAX,
    newest_first: bool = False,
) -> Figures:
    """Claim a batch, publish it, and write down what became of each dispatch.

    Raises InTransaction inside a transaction. A destination that fails is told in the figures.
    """
    if connection.in_atomic_block:
        raise InTransaction("publishing must not hold a transaction open")
    try:
        destination.ready()
    except Unavailable as error:
        logger.warning("events_wait", destination_id=destination_id, reason=str(error))
        return Figures(failure=str(error))
    began = time.monotonic()
    held = claims.claim_heads(destination_id, batch=batch, lease=lease, newest_first=newest_first)
    done = publish(destination, held, began + publish_seconds_max)
    return _settle(destination_id, held, done, until=began + lease.total_seconds())


def _settle(destination_id: int, held: Sequence[Claim], done: Round, *, until: float) -> Figures:
    published = mark(lambda again: claims.published(done.sent, again=again), until=until)
    refused = mark(
        lambda _again: claims.refused(done.refused, attempts_max=retries.ATTEMPTS_MAX), until=until
    )
    released = mark(lambda _again: claims.released(done.released), until=until)
    for setback in done.refused:
        if setback.claim.id in refused:
            _log_refusal(destination_id, setback, refused[setback.claim.id])
    stale = [claim for claim in held if claim.id not in published | set(refused) | released]
    for claim in stale:
        # Somebody else holds it by now and will publish it, again perhaps: the id is the same.
        logger.warning(
            "event_claim_lost", event_id=str(claim.event_id), destination_id=destination_id
        )
    if done.failure:
        logger.warning(
            "events_wait",
            destination_id=destination_id,
            reason=done.failure,
            events=len(released),
        )
    return Figures(
        claimed=len(held),
        published=len(published),
        refused=len(refused),
        dead=sum(state == DispatchState.DEAD for state in refused.values()),
        released=len(released),
        stale=len(stale),
        failure=done.failure,
    )


def _log_refusal(destination_id: int, setback: Setback, state: DispatchState) -> None:
    log = logger.error if state == DispatchState.DEAD else logger.warning
    log(
        "event_dead" if state == DispatchState.DEAD else "event_refused",
        event_id=str(setback.claim.event_id),
        destination_id=destination_id,
        attempts=setback.claim.attempts + 1,
        reason=setback.reason,
    )
