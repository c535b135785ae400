"""Write down what became of an errand: attempt, dispatch and breaker, in one transaction."""

from datetime import timedelta
from typing import Final

import structlog
from django.db import transaction

from outbox import claims
from outbox.claims import Claim, Setback
from outbox.models import Destination, DispatchState
from outbox.webhooks import attempts, breaker, endpoints, schedule
from outbox.webhooks.errand import Errand, Run
from outbox.webhooks.exchange import Reply

_GONE: Final = 410
#: Those whose Retry-After counts.
_BUSY: Final = frozenset((429, 503))

logger = structlog.stdlib.get_logger(__name__)


@transaction.atomic(durable=True)
def settle(errand: Errand, run: Run, *, again: bool = False) -> DispatchState | None:
    """The dispatch's state after it; None if it was not ours any more, or there is none.

    `again`: it may have been written down already, by a COMMIT whose answer was lost.

    Any 2xx delivers, whatever is wrong with the answer's body. 410 disables the endpoint, whoever
    asked for the attempt, and costs the event nothing. All else, 3xx too, is a failure: the event
    waits by the schedule.
    """
    if again and attempts.is_recorded(errand, run):
        return attempts.state_of(errand)
    outcome = run.exchange.outcome
    status = outcome.status if isinstance(outcome, Reply) else None
    delivered = status is not None and 200 <= status < 300  # noqa: PLR2004
    state = None
    if errand.claim is not None:
        state = _move(errand, errand.claim, run, status=status, delivered=delivered)
    elif status == _GONE:
        _disable(errand)
    attempts.record(errand, run)
    if delivered:
        if breaker.worked(errand.destination):
            logger.info("webhook_endpoint_works_again", destination=errand.code)
    elif errand.claim is not None:
        _tell(errand, run, state)
        if status != _GONE and not run.too_large:
            _count_failure(errand)
    return state


def _move(
    errand: Errand, claim: Claim, run: Run, *, status: int | None, delivered: bool
) -> DispatchState | None:
    if delivered:
        return DispatchState.PUBLISHED if claims.published([claim]) else None
    outcome = run.exchange.outcome
    reason = f"HTTP {status}" if isinstance(outcome, Reply) else outcome.reason
    retry_after = outcome.retry_after if isinstance(outcome, Reply) and status in _BUSY else ""
    wait = schedule.pause_after(claim.attempts + 1, retry_after=retry_after, now=run.at)
    setback = Setback(claim=claim, reason=reason, wait=wait)
    if status == _GONE:
        if not _disable(errand):
            setback = Setback(claim=claim, reason=reason, wait=timedelta())
        return DispatchState.PENDING if claims.released([setback]) else None
    attempts_max = 1 if run.too_large else schedule.ATTEMPTS_MAX
    return claims.refused([setback], attempts_max=attempts_max).get(claim.id)


def _disable(errand: Errand) -> bool:
    """Whether what is gone is where the endpoint is now: it may have moved meanwhile."""
    destination = Destination.objects.select_for_update(no_key=True).get(pk=errand.destination)
    if destination.config["url"] != errand.url:
        return False
    endpoints.gone(destination)
    return True


def _count_failure(errand: Errand) -> None:
    failing = breaker.failed(errand.destination)
    if failing.open_until is not None:
        logger.warning(
            "webhook_endpoint_rests",
            destination=errand.code,
            failures=failing.failures,
            until=failing.open_until.isoformat(),
        )


def _tell(errand: Errand, run: Run, state: DispatchState | None) -> None:
    dead = state == DispatchState.DEAD
    outcome = run.exchange.outcome
    (logger.error if dead else logger.warning)(
        "webhook_dead" if dead else "webhook_failed",
        destination=errand.code,
        event_id=str(errand.message.id) if errand.message else None,
        status=outcome.status if isinstance(outcome, Reply) else None,
        # What an endpoint wrote is kept with the attempt, and is in no log.
        reason=None if isinstance(outcome, Reply) else outcome.reason,
        milliseconds=run.exchange.milliseconds,
    )
