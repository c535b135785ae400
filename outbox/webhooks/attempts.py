"""The attempts at endpoints: kept with what came back, and asked for by people."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, Final

import structlog
from django.db import connection
from django.db.models import Q
from django.db.models.functions import Now

from outbox.models import (
    ASKED_BY_LENGTH_MAX,
    ATTEMPT_ERROR_LENGTH_MAX,
    Attempt,
    Destination,
    Dispatch,
    DispatchState,
)
from outbox.redrive import redrive
from outbox.webhooks.errand import Errand, Run
from outbox.webhooks.exchange import Reply

# Only what nobody else has taken, and of dispatches only those that are through: the others go out
# in their line, and the attempt that is made there is the one that was asked for.
# Of each endpoint one at a time, so that many wishes at one that hangs leave threads to others.
CLAIM_SQL: Final = """
    WITH first AS (
        SELECT DISTINCT ON (asked.destination_id) asked.id
        FROM outbox_attempt AS asked
        JOIN outbox_endpoint AS endpoint ON endpoint.destination_id = asked.destination_id
        LEFT JOIN outbox_dispatch AS dispatch ON dispatch.id = asked.dispatch_id
        WHERE asked.at IS NULL AND endpoint.removed_at IS NULL
          AND (asked.lease_until IS NULL OR asked.lease_until <= clock_timestamp())
          AND (asked.dispatch_id IS NULL OR dispatch.state = 'PUBLISHED')
          AND asked.destination_id <> ALL (%(busy)s::bigint[])
        ORDER BY asked.destination_id, asked.asked_at
    )
    UPDATE outbox_attempt SET lease_until = clock_timestamp() + %(lease)s
    WHERE id = ANY(ARRAY(
        SELECT asked.id
        FROM outbox_attempt AS asked
        JOIN first ON first.id = asked.id
        WHERE asked.at IS NULL
          AND (asked.lease_until IS NULL OR asked.lease_until <= clock_timestamp())
        ORDER BY asked.asked_at
        LIMIT %(batch)s
        FOR NO KEY UPDATE OF asked SKIP LOCKED))
    RETURNING id
"""

logger = structlog.stdlib.get_logger(__name__)


class Forgotten(LookupError):
    """Retention has just taken the event away: there is nothing left to send."""


def of_dispatch(dispatch: Dispatch) -> list[Attempt]:
    """Its attempts, the newest first; one that is asked for and not made yet comes before all."""
    made = Attempt.objects.filter(dispatch=dispatch).select_related("dispatch__event")
    return list(made.order_by("-at", "-asked_at"))


def resend(dispatch: Dispatch, *, by: str) -> Attempt:
    """Ask for one more attempt, with an id of its own; the event keeps its id.

    A dispatch that was delivered is sent once more, whatever the state of its endpoint. One that
    waits, or is dead, goes out as soon as its line and its endpoint let it. Asked twice before it
    was made, it is one attempt. In the caller's transaction. Raises Forgotten.
    """
    if not Dispatch.objects.select_for_update(no_key=True).filter(pk=dispatch.pk).exists():
        raise Forgotten(f"event {dispatch.event_id} is no longer kept")
    asked, new = Attempt.objects.get_or_create(
        dispatch=dispatch,
        at=None,
        defaults={
            "destination": dispatch.destination,
            "asked_by": by[:ASKED_BY_LENGTH_MAX],
            "asked_at": Now(),
        },
    )
    redrive([dispatch.event_id], destination=dispatch.destination.code, by=by)
    Dispatch.objects.filter(pk=dispatch.pk, state=DispatchState.PENDING).update(
        next_attempt_at=None
    )
    _note(asked, new=new)
    return asked


def send_test(destination: Destination, *, by: str) -> Attempt:
    """Ask for a test message, `webhook.test`, whatever the state of the endpoint."""
    asked, new = Attempt.objects.get_or_create(
        destination=destination,
        dispatch=None,
        at=None,
        defaults={"asked_by": by[:ASKED_BY_LENGTH_MAX], "asked_at": Now()},
    )
    _note(asked, new=new)
    return asked


def claim_asked(*, batch: int, lease: timedelta, busy: Collection[int] = ()) -> Sequence[Attempt]:
    """Take attempts that were asked for and that the lines will not make; the oldest first.

    One of each endpoint at most, and none of those that are `busy`.
    """
    values: dict[str, Any] = {"batch": batch, "lease": lease, "busy": list(busy)}
    with connection.cursor() as cursor:
        cursor.execute(CLAIM_SQL, values)
        taken = [row[0] for row in cursor.fetchall()]
    found = Attempt.objects.filter(pk__in=taken) if taken else Attempt.objects.none()
    return list(found.select_related("destination", "dispatch__event").order_by("asked_at"))


def record(errand: Errand, run: Run) -> None:
    """Keep the attempt; one that a person asked for is filled in."""
    outcome = run.exchange.outcome
    made: dict[str, Any] = {"at": run.at, "milliseconds": run.exchange.milliseconds}
    if isinstance(outcome, Reply):
        made |= {"status": outcome.status, "reply": outcome.text}
    else:
        made |= {"error": outcome.reason[:ATTEMPT_ERROR_LENGTH_MAX]}
    if errand.claim is not None:
        # Gone with its endpoint, which was removed while the message was on its way.
        if not Dispatch.objects.select_for_update(no_key=True).filter(pk=errand.claim.id).exists():
            return
        was_asked = Q(dispatch_id=errand.claim.id, at=None, asked_at__lte=run.at)
        if not Attempt.objects.filter(was_asked).update(**made):
            Attempt.objects.create(
                destination_id=errand.destination, dispatch_id=errand.claim.id, **made
            )
    elif errand.asked is not None:
        Attempt.objects.filter(pk=errand.asked, at=None).update(**made)


def is_recorded(errand: Errand, run: Run) -> bool:
    """Whether this very attempt is on record: for whoever never heard whether it is."""
    which = Q(dispatch=errand.claim.id) if errand.claim else Q(pk=errand.asked)
    return Attempt.objects.filter(which, destination=errand.destination, at=run.at).exists()


def state_of(errand: Errand) -> DispatchState | None:
    """Of the dispatch that it is for; None if there is none."""
    if errand.claim is None:
        return None
    state = Dispatch.objects.filter(pk=errand.claim.id).values_list("state", flat=True).first()
    return DispatchState(state) if state else None


def _note(asked: Attempt, *, new: bool) -> None:
    if new:
        asked.refresh_from_db(fields=["asked_at"])
        logger.info("webhook_attempt_asked_for", attempt=str(asked.pk), by=asked.asked_by)
