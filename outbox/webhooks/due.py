"""What there is to send now: endpoints that may be sent to, and errands ready for a thread."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from django.db import connection

from outbox import claims
from outbox.claims import Claim, Setback
from outbox.destinations.port import PAYLOAD_BYTES_MAX, Message
from outbox.models import Attempt
from outbox.webhooks import attempts
from outbox.webhooks.errand import Errand
from outbox.webhooks.secrets import Key, keys_of

TEST_TYPE: Final = "webhook.test"
#: How long events wait whose endpoint's secrets cannot be read.
LOCKED_OUT: Final = timedelta(minutes=1)

ENDPOINTS_SQL: Final = """
    SELECT destination.id, destination.code, destination.config ->> 'url', endpoint.failures,
           endpoint.open_until IS NOT NULL
    FROM outbox_destination AS destination
    JOIN outbox_endpoint AS endpoint ON endpoint.destination_id = destination.id
    WHERE destination.kind = 'webhook' AND destination.state = 'ACTIVE'
      AND endpoint.removed_at IS NULL
      AND (endpoint.open_until IS NULL OR endpoint.open_until <= clock_timestamp())
      AND EXISTS (
          SELECT FROM outbox_endpointsecret AS secret
          WHERE secret.destination_id = destination.id
            AND (secret.retires_at IS NULL OR secret.retires_at > clock_timestamp()))
      AND EXISTS (
          SELECT FROM outbox_dispatch AS dispatch
          WHERE dispatch.destination_id = destination.id
            AND dispatch.published_at IS NULL AND dispatch.dead_at IS NULL
            AND (dispatch.state = 'PENDING' AND (dispatch.next_attempt_at IS NULL
                     OR dispatch.next_attempt_at <= clock_timestamp())
                 OR dispatch.state = 'CLAIMED' AND dispatch.lease_until <= clock_timestamp()))
"""

logger = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Due:
    """An endpoint for which something may wait; a probe is the one try of an open breaker."""

    pk: int
    code: str
    url: str
    failures: int
    is_probe: bool


def endpoints() -> list[Due]:
    """Those that are active, have a secret, are not resting, and have something that is due."""
    with connection.cursor() as cursor:
        cursor.execute(ENDPOINTS_SQL)
        return [Due(*row) for row in cursor.fetchall()]


def errands(endpoint: Due, held: Sequence[Claim]) -> list[Errand]:
    """The claims with all that sending them needs.

    If the vault cannot open the secrets, the claims are given back: that is no fault of theirs.
    """
    if not held:
        return []
    keys = _keys(endpoint.pk, endpoint.code)
    if keys is None:
        reason = "its secrets cannot be read"
        claims.released([Setback(claim=claim, reason=reason, wait=LOCKED_OUT) for claim in held])
        return []
    return [
        Errand(
            destination=endpoint.pk,
            code=endpoint.code,
            url=endpoint.url,
            keys=keys,
            message=claim.message,
            claim=claim,
        )
        for claim in held
    ]


def asked(*, batch: int, lease: timedelta, busy: Collection[int]) -> list[Errand]:
    """Attempts that people asked for, apart from those that the lines will make.

    Where the vault cannot open the secrets, they wait for their lease to end.
    """
    found = []
    for each in attempts.claim_asked(batch=batch, lease=lease, busy=busy):
        keys = _keys(each.destination_id, each.destination.code)
        if keys is not None:
            found.append(
                Errand(
                    destination=each.destination_id,
                    code=each.destination.code,
                    url=each.destination.config["url"],
                    keys=keys,
                    message=_message(each),
                    asked=each.pk,
                )
            )
    return found


def _keys(destination: int, code: str) -> list[Key] | None:
    try:
        return keys_of(destination)
    except Exception as error:  # noqa: BLE001 - the vault's, which this package does not know
        logger.error("webhook_secrets_locked", destination=code, error=type(error).__name__)  # noqa: TRY400
        return None


def _message(asked_for: Attempt) -> Message | None:
    if asked_for.dispatch is None:
        assert asked_for.asked_at is not None  # noqa: S101 - the database's check says so
        return Message(
            id=asked_for.pk,
            type=TEST_TYPE,
            aggregate_type="webhook",
            aggregate_id=asked_for.destination.code,
            seq=0,
            created_at=asked_for.asked_at,
            payload=json.dumps({"endpoint": asked_for.destination.code}).encode(),
        )
    event = asked_for.dispatch.event
    payload = json.dumps(event.payload, ensure_ascii=False).encode()
    if len(payload) > PAYLOAD_BYTES_MAX:
        return None
    return Message(
        id=event.pk,
        type=event.type,
        aggregate_type=event.aggregate_type,
        aggregate_id=event.aggregate_id,
        seq=event.seq,
        created_at=event.created_at,
        payload=payload,
        traceparent=event.headers.get("traceparent", ""),
    )
