"""Events for consumers, and an effect that would count a repeat."""

import json
from collections.abc import Iterable
from datetime import date
from uuid import UUID, uuid4

from django.db import connection

from orders.models import DailyTotal
from outbox.consumers.port import HeardEvent, Subscription
from outbox.destinations.port import Destination, Message
from tests.outbox.brokers import message

_DAY = date(2026, 11, 1)


def count_naively(_event: HeardEvent) -> None:
    """Adds one, however often the same event comes: only the inbox can keep it right."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO orders_dailytotal AS total"
            " (day, merchant, currency, paid_minor, refunded_minor, paid_count)"
            " VALUES (%s, 'naive', 'EUR', 0, 0, 1)"
            " ON CONFLICT (day, merchant, currency)"
            " DO UPDATE SET paid_count = total.paid_count + 1",
            [_DAY],
        )


def counted() -> int:
    """How often the effect happened."""
    row = DailyTotal.objects.filter(merchant="naive").first()
    return row.paid_count if row else 0


def subscription(handler: "object" = count_naively) -> Subscription:
    return Subscription(
        name="naive",
        group="naive@1",
        types=("order.paid", "order.refunded"),
        handler=handler,  # type: ignore[arg-type] # what a test hands in
    )


SUBSCRIPTION = subscription()


def event(number: int = 1, *, event_id: UUID | None = None, type_: str = "order.paid") -> Message:
    told = message(number, payload=json.dumps({"number": number}).encode(), type_=type_)
    return told if event_id is None else _with_id(told, event_id)


def _with_id(told: Message, event_id: UUID) -> Message:
    return Message(
        id=event_id,
        type=told.type,
        aggregate_type=told.aggregate_type,
        aggregate_id=told.aggregate_id,
        seq=told.seq,
        created_at=told.created_at,
        payload=told.payload,
    )


def publish(destination: Destination, messages: Iterable[Message]) -> None:
    messages = list(messages)
    destination.ready()
    assert list(destination.publish(messages)) == [None] * len(messages)


def new_id() -> UUID:
    return uuid4()
