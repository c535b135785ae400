"""Endpoints of merchants: add, change, rest, remove. Each in the caller's transaction."""

import re
import secrets
from collections.abc import Sequence
from typing import Final

import structlog
from django.conf import settings
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from outbox.models import (
    REASON_LENGTH_MAX,
    TYPE_LENGTH_MAX,
    Destination,
    DestinationKind,
    DestinationState,
    Dispatch,
    DispatchState,
    Endpoint,
    Party,
)
from outbox.webhooks import target

#: Every event of a merchant is written once for each of his endpoints.
ENDPOINTS_MAX: Final = 10
TYPES_MAX: Final = 50
#: Wanted types of an endpoint that wants nothing any more: no event has such a type.
NOTHING: Final = ["-"]
TYPE_PATTERN: Final = r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(\.\*)?"

logger = structlog.stdlib.get_logger(__name__)


class TooManyEndpoints(ValueError):
    """The merchant has as many endpoints as he may: remove one first."""


class RestedByOperator(ValueError):
    """Whoever runs the service has let it rest: only they let it work again."""


class NoSuchTypes(ValueError):
    """Wanted types are names of events (`order.paid`) or beginnings of names (`order.*`)."""


def of_tenant(tenant: str) -> QuerySet[Destination]:
    """A merchant's endpoints, without those that were removed, oldest first."""
    return (
        Destination.objects.filter(
            kind=DestinationKind.WEBHOOK, tenant=tenant, endpoint__removed_at=None
        )
        .select_related("endpoint")
        .order_by("pk")
    )


def add(*, tenant: str, url: str, event_types: Sequence[str] = (), code: str = "") -> Destination:
    """A new endpoint, ACTIVE, with no secret yet: events wait until `secrets.rotate` gave it one.

    Without `event_types` it wants those of OUTBOX_WEBHOOK_TYPES.

    Raises BadTarget, NoSuchTypes, TooManyEndpoints, and IntegrityError for a code that is taken.
    """
    _one_after_another(tenant)
    if of_tenant(tenant).count() >= ENDPOINTS_MAX:
        raise TooManyEndpoints(f"{tenant or 'nobody in particular'} has {ENDPOINTS_MAX} endpoints")
    destination = Destination.objects.create(
        code=code or f"we_{secrets.token_hex(10)}",
        kind=DestinationKind.WEBHOOK,
        tenant=tenant,
        event_types=_checked_types(event_types),
        config={"url": _checked_url(url)},
    )
    Endpoint.objects.create(destination=destination)
    logger.info("webhook_endpoint_added", destination=destination.code, tenant=tenant)
    return destination


def change(
    destination: Destination,
    *,
    url: str | None = None,
    event_types: Sequence[str] | None = None,
) -> None:
    """Move it to another address, or let it want other types from now on.

    What waits for it goes to the new address, at once. Raises BadTarget, NoSuchTypes.
    """
    changed: list[str] = []
    if url is not None:
        destination.config = {"url": _checked_url(url)}
        changed.append("config")
        begin_anew(destination)
    if event_types is not None:
        destination.event_types = _checked_types(event_types)
        changed.append("event_types")
    # Only these: somebody else may be changing the rest.
    destination.save(update_fields=changed)
    logger.info("webhook_endpoint_changed", destination=destination.code)


def resume(destination: Destination) -> None:
    """Its merchant lets events leave for it again at once, those that were collected first.

    Raises RestedByOperator.
    """
    if not _enter(destination, DestinationState.ACTIVE):
        raise RestedByOperator(
            _("%(destination)s was let rest by whoever runs the service")
            % {"destination": destination}
        )
    begin_anew(destination)


def pause(destination: Destination, reason: str) -> None:
    """Its merchant keeps its events until he resumes it. Raises RestedByOperator."""
    if not _enter(destination, DestinationState.PAUSED, reason, by=Party.MERCHANT):
        raise RestedByOperator(
            _("%(destination)s was let rest by whoever runs the service")
            % {"destination": destination}
        )


def gone(destination: Destination) -> None:
    """Keep its events: it said itself that it does not want to hear of us."""
    reason = "it answered 410 Gone: resume it when it is back"
    _enter(destination, DestinationState.DISABLED, reason, by=Party.ENDPOINT)


def remove(destination: Destination, *, by: Party = Party.MERCHANT) -> None:
    """Send it nothing more, and collect nothing more for it.

    The relay then takes away what waits for it (`outbox/webhooks/housekeeping.py`); what was
    delivered stays on record until its retention ends.
    """
    destination.event_types = NOTHING
    destination.save(update_fields=["event_types"])
    _write(destination, Q(), DestinationState.DISABLED, "removed", by)
    Endpoint.objects.filter(pk=destination.pk).update(removed_at=Now())


def begin_anew(destination: Destination) -> None:
    """What it failed at before says nothing any more: neither rest nor schedule is waited for."""
    # In the order in which an attempt is written down: a dispatch, then its endpoint.
    Dispatch.objects.filter(
        destination=destination,
        published_at=None,
        dead_at=None,
        state=DispatchState.PENDING,
        next_attempt_at__isnull=False,
    ).update(next_attempt_at=None)
    Endpoint.objects.filter(pk=destination.pk).update(
        failures=0, failing_since=None, open_until=None
    )


def _enter(
    destination: Destination, state: DestinationState, reason: str = "", *, by: Party | None = None
) -> bool:
    """Whether it moved. The UPDATE itself decides, so nothing comes between."""
    return _write(destination, ~Q(rested_by=Party.OPERATOR), state, reason, by)


def _write(
    destination: Destination, allowed: Q, state: DestinationState, reason: str, by: Party | None
) -> bool:
    reason = reason[:REASON_LENGTH_MAX]
    rows = Destination.objects.filter(allowed, pk=destination.pk)
    if rows.update(state=state, reason=reason, rested_by=by or "") == 0:
        return False
    logger.info(
        "webhook_endpoint_state", destination=destination.code, state=state, reason=reason, by=by
    )
    return True


def _checked_url(url: str) -> str:
    return target.read(url, private=settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE).url


def _checked_types(event_types: Sequence[str]) -> list[str]:
    if not event_types:
        # Not simply all: what concerns only us is not for merchants unless it is named.
        return list(settings.OUTBOX_WEBHOOK_TYPES)
    for name in event_types:
        if len(name) > TYPE_LENGTH_MAX or not re.fullmatch(TYPE_PATTERN, name):
            raise NoSuchTypes(f"{name[:TYPE_LENGTH_MAX]!r} is no type of events")
    if len(event_types) > TYPES_MAX:
        raise NoSuchTypes(f"more than {TYPES_MAX} types")
    return sorted(set(event_types))


def _one_after_another(tenant: str) -> None:
    """Two that add an endpoint for one merchant at once could both be the last that he may have."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('outbox endpoints'), hashtext(%s))", [tenant]
        )
