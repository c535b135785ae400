"""Endpoints with a receiver behind them, and events on their way there."""

from datetime import UTC, datetime
from itertools import count
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from outbox.events import emit
from outbox.models import Attempt, Destination, Dispatch, Endpoint
from outbox.webhooks import endpoints, secrets
from outbox.webhooks.exchange import Post
from outbox.webhooks.relay import WebhookRelay
from tests.outbox.webhooks.receiver import Receiver

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_aggregates = count(1)


def endpoint(receiver: Receiver, *, tenant: str = "", **wanted: Any) -> Destination:
    """An endpoint with a secret, which the receiver verifies with."""
    with transaction.atomic():
        added = endpoints.add(tenant=tenant, url=receiver.url, **wanted)
        receiver.secrets.append(secrets.rotate(added))
    return added


def tell(
    aggregate: str = "", seq: int = 1, *, tenant: str = "", kind: str = "order.paid", **payload: Any
) -> UUID:
    """An event, of an aggregate of its own unless one is named."""
    with transaction.atomic():
        return emit(
            aggregate_type="order",
            aggregate_id=aggregate or f"shop/W-{next(_aggregates)}",
            seq=seq,
            type=kind,
            payload={"seq": seq, **payload},
            at=NOW,
            tenant=tenant,
        )


def relay(*, seconds_max: float = 10, **options: Any) -> WebhookRelay:
    """One that may use this machine, and gives up after so many seconds."""
    return WebhookRelay(Post(private=True, seconds_max=seconds_max), **options)


def drain(**options: Any) -> dict[str, int]:
    return dict(relay(**options).drain(seconds_max=60))


def way(destination: Destination, event_id: UUID) -> Dispatch:
    return Dispatch.objects.get(destination=destination, event=event_id)


def tries(destination: Destination) -> list[Attempt]:
    return list(Attempt.objects.filter(destination=destination).order_by("at"))


def time_passes() -> None:
    """Whatever waits, may go now; so may whoever tries an endpoint that rests."""
    Dispatch.objects.filter(published_at=None).update(next_attempt_at=None)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE outbox_endpoint SET open_until = clock_timestamp() - interval '1 second'"
            " WHERE open_until IS NOT NULL"
        )


def forgive() -> None:
    """As if no endpoint had ever failed."""
    Endpoint.objects.update(failures=0, failing_since=None, open_until=None)


def database_time() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment
