"""Say it if and only if it is true: write an event in the transaction that makes it so."""

import json
import re
import uuid
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from django.conf import settings
from django.db import connection

from outbox.models import (
    AGGREGATE_ID_LENGTH_MAX,
    AGGREGATE_TYPE_LENGTH_MAX,
    TENANT_LENGTH_MAX,
    TYPE_LENGTH_MAX,
)

# One statement: an event and its ways to all who want it are written together or not at all. A
# destination that rests collects like any other.
INSERT_SQL: Final = """
    WITH event AS (
        INSERT INTO outbox_event (id, aggregate_type, aggregate_id, seq, type, tenant, payload,
                                  headers, created_at)
        VALUES (%s, %s, %s, %s, %s, %s, %s::jsonb, %s::jsonb, %s)
        RETURNING id, aggregate_type, aggregate_id, seq, tenant, created_at
    )
    INSERT INTO outbox_dispatch (event_id, destination_id, aggregate_type, aggregate_id, seq,
                                 created_at, state, attempts, fence, last_error)
    SELECT event.id, destination.id, event.aggregate_type, event.aggregate_id, event.seq,
           event.created_at, 'PENDING', 0, 0, ''
      FROM event, outbox_destination AS destination
     WHERE (destination.kind <> 'bus' OR %s)
       AND destination.tenant IN ('', event.tenant)
       AND (destination.event_types = '{}' OR destination.event_types && %s::varchar[])
"""

# An event's type is also its routing key, so it consists of words that a topic can match.
TYPE: Final = re.compile(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*")
AGGREGATE_TYPE: Final = re.compile(r"[a-z][a-z0-9_]*")
AGGREGATE_ID: Final = re.compile(r"[A-Za-z0-9_.:/-]+")
TENANT: Final = re.compile(r"[A-Za-z0-9_-]*")
SEQ_MAX: Final = 2**31 - 1
# https://www.w3.org/TR/trace-context/#traceparent-header
TRACEPARENT: Final = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


class NoTransaction(RuntimeError):
    """emit() was called outside a transaction: the event could outlive, or miss, its cause."""


class NoDestination(RuntimeError):
    """The destination `bus`, which takes every event, is gone: the event would reach nobody."""


class UnfitEvent(ValueError):
    """The event could never be published as it is; what is wrong is a programming error."""


def emit(
    *,
    aggregate_type: str,
    aggregate_id: str,
    seq: int,
    type: str,  # noqa: A002 - the field's standard name
    payload: Mapping[str, Any],
    at: datetime,
    tenant: str = "",
    dataschema: str = "",
    traceparent: str = "",
) -> uuid.UUID:
    """Write an event beside the change that it tells, and return its id.

    `seq` is the aggregate's version after that change. The relay publishes the event after
    the commit, at least once, in the order of `seq`, to each destination that wants events of
    this `type` and `tenant`. In `payload`, Decimal, UUID, date and datetime become strings.
    `dataschema` is the address of the payload's schema. `traceparent` is W3C trace context; one
    that is malformed is left out, as the specification asks.

    Raises NoTransaction outside a transaction, UnfitEvent where an identifier or the payload
    cannot be told, and IntegrityError if `seq` was used already: all are programming errors.
    Raises NoDestination if somebody took the destination `bus` out of the table.
    """
    if not connection.in_atomic_block:
        raise NoTransaction(f"emit({type}) must share the transaction of the change it tells")
    _check_identifiers(aggregate_type, aggregate_id, seq, type, tenant)
    if at.tzinfo is None:
        raise UnfitEvent(f"the time of {type} has no time zone: {at!r}")
    headers = {"dataschema": dataschema} if dataschema else {}
    if TRACEPARENT.fullmatch(traceparent):
        headers["traceparent"] = traceparent
    event_id = uuid.uuid4()
    row: list[Any] = [event_id, aggregate_type, aggregate_id, seq, type, tenant, as_json(payload)]
    # Otherwise events reach the bus through the database's log: docs/cdc.md.
    relayed = settings.RELAY != "cdc"
    with connection.cursor() as cursor:
        cursor.execute(INSERT_SQL, [*row, json.dumps(headers), at, relayed, names_of(type)])
        if relayed and cursor.rowcount < 1:
            raise NoDestination(f"{type} would reach nobody: there is no destination `bus`")
    return event_id


def names_of(type_: str) -> list[str]:
    """Every way in which a destination may name this type: itself, and what it begins with."""
    words = type_.split(".")
    return [type_, *(".".join([*words[:number], "*"]) for number in range(1, len(words)))]


def as_json(payload: Mapping[str, Any]) -> str:
    """The payload as JSON that every reader can read, and PostgreSQL can keep.

    Raises UnfitEvent for NaN, infinities, unknown types, and for U+0000 and lone surrogates,
    which jsonb cannot hold.
    """
    try:
        text = json.dumps(payload, allow_nan=False, ensure_ascii=False, default=_as_string)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UnfitEvent(f"the payload is no JSON: {error}") from error
    # Within a string json.dumps writes U+0000 as this, and a backslash as two.
    if "\\u0000" in text.replace("\\\\", ""):
        raise UnfitEvent("the payload holds U+0000")
    return text


def _as_string(value: object) -> str:
    match value:
        case Decimal() if value.is_finite():
            return str(value)
        case datetime() if value.tzinfo is None:
            raise TypeError(f"a datetime without a time zone: {value!r}")
        case date():
            return value.isoformat()
        case uuid.UUID():
            return str(value)
        case _:
            raise TypeError(f"{type(value).__name__} is not told as JSON: {value!r:.40}")


def _check_identifiers(
    aggregate_type: str, aggregate_id: str, seq: int, type_: str, tenant: str
) -> None:
    for name, value, length_max, form in (
        ("aggregate_type", aggregate_type, AGGREGATE_TYPE_LENGTH_MAX, AGGREGATE_TYPE),
        ("aggregate_id", aggregate_id, AGGREGATE_ID_LENGTH_MAX, AGGREGATE_ID),
        ("type", type_, TYPE_LENGTH_MAX, TYPE),
        ("tenant", tenant, TENANT_LENGTH_MAX, TENANT),
    ):
        if len(value) > length_max or not form.fullmatch(value):
            raise UnfitEvent(
                f"{name} must be at most {length_max} of {form.pattern}: {value!r:.60}"
            )
    if not 0 <= seq <= SEQ_MAX:
        raise UnfitEvent(f"seq must be 0-{SEQ_MAX}: {seq}")
