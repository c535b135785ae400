"""The list of destinations: what is added to it, what rests and what works again."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import structlog
from django.db import connection, transaction
from django.utils.translation import gettext as _

from outbox.destinations import choice
from outbox.events import TENANT, TYPE
from outbox.models import (
    BUS,
    CODE_LENGTH_MAX,
    REASON_LENGTH_MAX,
    TYPE_LENGTH_MAX,
    Destination,
    DestinationKind,
    DestinationState,
    Endpoint,
    Party,
)
from outbox.webhooks import endpoints

#: Each state, and the states it may be entered from.
ENTERED_FROM: Final[Mapping[DestinationState, frozenset[DestinationState]]] = {
    DestinationState.ACTIVE: frozenset({DestinationState.PAUSED, DestinationState.DISABLED}),
    DestinationState.PAUSED: frozenset({DestinationState.ACTIVE, DestinationState.DISABLED}),
    DestinationState.DISABLED: frozenset({DestinationState.ACTIVE, DestinationState.PAUSED}),
}
FILLING: Final = "being filled with earlier events"

_CODE: Final = re.compile(r"[a-z0-9][a-z0-9_-]*")
# The same choice as that of `outbox.events.emit`, seen from the destination. It waits for whoever
# locked the row, and finds each event that was emitted before the row was there.
_FILL_SQL: Final = r"""
    INSERT INTO outbox_dispatch (event_id, destination_id, aggregate_type, aggregate_id, seq,
                                 created_at, state, attempts, fence, last_error)
    SELECT event.id, destination.id, event.aggregate_type, event.aggregate_id, event.seq,
           event.created_at, 'PENDING', 0, 0, ''
      FROM outbox_event AS event, outbox_destination AS destination
     WHERE destination.id = %(id)s AND event.created_at >= %(since)s
       AND destination.tenant IN ('', event.tenant)
       AND (destination.event_types = '{}' OR event.type = ANY (destination.event_types)
            OR EXISTS (SELECT FROM unnest(destination.event_types) AS wanted (name)
                        WHERE right(wanted.name, 2) = '.*'
                          AND starts_with(event.type, left(wanted.name, -1))))
        ON CONFLICT (event_id, destination_id) DO NOTHING
"""

logger = structlog.stdlib.get_logger(__name__)


class Refused(ValueError):
    """The list cannot be changed like this; the message says why."""


def add(
    code: str,
    kind: DestinationKind,
    *,
    tenant: str = "",
    event_types: Sequence[str] = (),
    config: Mapping[str, Any] | None = None,
    since: datetime | None = None,
) -> Destination:
    """A new destination, which gets the events that are emitted from now on.

    With `since`, also those that happened from then on; until it has them it is PAUSED. Raises
    Refused, and Misconfigured if nothing could be connected to.
    """
    _check(code, kind, tenant, event_types)
    destination = Destination(
        code=code, kind=kind, tenant=tenant, event_types=list(event_types), config=config or {}
    )
    choice.check(destination)
    if since is not None:
        destination.state, destination.reason = DestinationState.PAUSED, FILLING
        destination.rested_by = Party.OPERATOR
    with transaction.atomic(durable=True):
        if since is not None:
            # When this lock is granted, whoever emits without knowing the new row has committed.
            with connection.cursor() as cursor:
                cursor.execute("LOCK TABLE outbox_event IN SHARE ROW EXCLUSIVE MODE")
        if Destination.objects.filter(code=code).exists():
            raise Refused(f"there is a destination {code} already")
        destination.save(force_insert=True)
    logger.info("destination_added", destination=code, kind=str(kind))
    if since is not None:
        fill(code, since=since)
        destination.refresh_from_db()
    return destination


def fill(code: str, *, since: datetime) -> int:
    """Give a destination that has published nothing yet the earlier events, and let it work.

    Returns how many. Raises Refused if it is not PAUSED, or if anything was ever claimed for it
    and so may have been published: earlier events would then arrive after later ones.
    """
    with transaction.atomic(durable=True), connection.cursor() as cursor:
        destination = Destination.objects.select_for_update(no_key=True).filter(code=code).first()
        if destination is None:
            raise Refused(f"there is no destination {code}")
        if destination.state != DestinationState.PAUSED:
            raise Refused(f"{code} is {destination.state}; only one that is PAUSED can be filled")
        if destination.dispatches.filter(fence__gt=0).exists():
            raise Refused(f"{code} may have published events: earlier ones would come after them")
        cursor.execute("SET LOCAL statement_timeout = 0")
        cursor.execute(_FILL_SQL, {"id": destination.pk, "since": since})
        filled = int(cursor.rowcount)
        destination.state, destination.reason = DestinationState.ACTIVE, ""
        destination.rested_by = ""
        destination.save(update_fields=["state", "reason", "rested_by"])
    logger.info("destination_filled", destination=code, events=filled)
    return filled


def pause(code: str, *, reason: str, seen: str = "", by: str = "") -> None:
    """Let nothing leave for it until somebody resumes it; its events are kept. Raises Refused.

    `seen` is the state that whoever decides took it to be in: in any other it stays as it is.
    `by` says who it was, for the log.
    """
    _enter(DestinationState.PAUSED, code, reason, seen, by)


def disable(code: str, *, reason: str, seen: str = "", by: str = "") -> None:
    """The same, for a destination that is not expected to come back. Raises Refused."""
    if code == BUS:
        raise Refused("the bus takes every event and cannot be disabled; it can be paused")
    _enter(DestinationState.DISABLED, code, reason, seen, by)


def resume(code: str, *, seen: str = "", by: str = "") -> None:
    """Let its events leave again, the oldest first, whoever let it rest.

    What a webhook failed at before is forgotten: all that waits is tried at once. Raises Refused.
    """
    _enter(DestinationState.ACTIVE, code, "", seen, by)


@transaction.atomic
def _enter(state: DestinationState, code: str, reason: str, seen: str, by: str) -> None:
    if state != DestinationState.ACTIVE and not reason.strip():
        raise Refused(_("say why, for whoever finds it resting"))
    endpoint = Endpoint.objects.filter(destination__code=code)
    if endpoint.filter(removed_at__isnull=False).exists():
        raise Refused(_("%(destination)s was removed") % {"destination": code})
    rows = Destination.objects.filter(code=code)
    allowed = ENTERED_FROM[state] & {seen} if seen else ENTERED_FROM[state]
    reason = reason.strip()[:REASON_LENGTH_MAX]
    works = state == DestinationState.ACTIVE
    moved = rows.filter(state__in=allowed).update(
        state=state, reason=reason, rested_by="" if works else Party.OPERATOR
    )
    if moved == 1:
        if works and endpoint.exists():
            endpoints.begin_anew(rows.get())
        logger.info("destination_moved", destination=code, state=str(state), reason=reason, by=by)
        return
    found = rows.first()
    if found is None:
        raise Refused(f"there is no destination {code}")
    named = {"destination": code, "state": found.state}
    if found.state == state:
        raise Refused(_("%(destination)s is %(state)s already") % named)
    raise Refused(_("%(destination)s is %(state)s by now") % named)


def _check(code: str, kind: DestinationKind, tenant: str, event_types: Sequence[str]) -> None:
    if len(code) > CODE_LENGTH_MAX or not _CODE.fullmatch(code):
        raise Refused(f"code must be 1-{CODE_LENGTH_MAX} of a-z, 0-9, _ and -: {code!r:.60}")
    if kind is DestinationKind.BUS:
        raise Refused("the bus is there already, and there is only one")
    if not TENANT.fullmatch(tenant):
        raise Refused(f"tenant must be a merchant's code: {tenant!r:.60}")
    for name in event_types:
        if len(name) > TYPE_LENGTH_MAX or not TYPE.fullmatch(name.removesuffix(".*")):
            raise Refused(f"an event type is a name like order.paid or order.*, not {name!r:.80}")
