"""Tell the world: publish what waits for a destination, at least once, in order per aggregate.

Claim (one short statement), publish (outside any transaction), mark (with the fence). Any number of
relays may run at once; whatever happens to one of them, its leases end and another carries on.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import Final

import structlog
from django.db import connection

from outbox import claims, retries
from outbox.claims import Claim, Setback
from outbox.destinations.port import PAYLOAD_BYTES_MAX, Destination, Message, Refused, Unavailable
from outbox.models import DispatchState

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


@dataclass(slots=True)
class _Round:
    """The dispatches of one round, sorted by what became of them."""

    sent: list[Claim] = field(default_factory=list)
    refused: list[Setback] = field(default_factory=list)
    released: list[Setback] = field(default_factory=list)
    failure: str = ""


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
    stop_at = time.monotonic() + publish_seconds_max
    held = claims.claim_heads(destination_id, batch=batch, lease=lease, newest_first=newest_first)
    return _settle(destination_id, held, _publish(destination, held, stop_at))


def _publish(destination: Destination, held: Sequence[Claim], stop_at: float) -> _Round:
    done = _Round()
    waiting: list[tuple[Claim, Message]] = []
    for claim in held:
        if claim.message is None:
            done.refused.append(
                retries.after_refusal(claim, f"larger than {PAYLOAD_BYTES_MAX} bytes")
            )
        else:
            waiting.append((claim, claim.message))
    told = 0
    try:
        for result in _results(destination, [message for _, message in waiting]):
            claim = waiting[told][0]
            told += 1
            if isinstance(result, Refused):
                done.refused.append(retries.after_refusal(claim, result.reason))
            else:
                done.sent.append(claim)
            if time.monotonic() >= stop_at:
                break
    except Unavailable as error:
        done.failure = str(error)
    done.released = retries.after_failure([claim for claim, _ in waiting[told:]], done.failure)
    return done


def _results(destination: Destination, messages: Sequence[Message]) -> Iterator[Refused | None]:
    """What the destination says of each; where its own code fails, the message is found out.

    An error that is not Unavailable may be one message's fault: each that was not told of is
    tried alone, and those that fail then have had an attempt. If all of several fail, the fault is
    the destination's, and they are not blamed. Raises Unavailable.
    """
    told = 0
    try:
        for result in destination.publish(messages):
            told += 1
            yield result
    except Unavailable:
        raise
    except Exception as error:
        logger.exception("destination_failed")
        destination.close()
        yield from _one_by_one(destination, messages[told:], error)


def _one_by_one(
    destination: Destination, messages: Sequence[Message], error: Exception
) -> Iterator[Refused | None]:
    failed: list[Refused | None] = []
    for message in messages:
        try:
            destination.ready()
            result = next(iter(destination.publish([message])))
        except Unavailable:
            raise
        except Exception as again:  # noqa: BLE001 - it was logged when it first came
            destination.close()
            failed.append(Refused(f"it cannot be sent: {type(again).__name__}: {again}"))
            continue
        # One got through, so the destination works, and those before it are to blame themselves.
        yield from failed
        failed.clear()
        yield result
    if len(failed) == len(messages) > 1:
        raise Unavailable(f"{type(error).__name__}: {error}")
    yield from failed


def _settle(destination_id: int, held: Sequence[Claim], done: _Round) -> Figures:
    published = claims.published(done.sent)
    refused = claims.refused(done.refused, attempts_max=retries.ATTEMPTS_MAX)
    released = claims.released(done.released)
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
