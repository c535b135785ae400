"""emit: what is told shares the fate of its cause, and can be told."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from outbox.events import NoTransaction, UnfitEvent, as_json, emit
from outbox.models import Event, EventState

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def emit_paid(**changes: Any) -> UUID:
    values: dict[str, Any] = {
        "aggregate_type": "order",
        "aggregate_id": "shop/O-1",
        "seq": 1,
        "type": "order.paid",
        "payload": {"order_no": "O-1", "amount_minor": 1099},
        "at": AT,
    }
    return emit(**values | changes)


@pytest.mark.django_db
def test_an_event_waits_as_it_was_told() -> None:
    event_id = emit_paid()

    event = Event.objects.get(pk=event_id)
    assert (event.aggregate_type, event.aggregate_id, event.seq) == ("order", "shop/O-1", 1)
    assert event.type == "order.paid"
    assert event.payload == {"order_no": "O-1", "amount_minor": 1099}
    assert event.headers == {}
    assert event.created_at == AT
    assert (event.state, event.attempts, event.fence) == (EventState.PENDING, 0, 0)
    assert event.published_at is None


@pytest.mark.django_db(transaction=True)
def test_an_event_outside_a_transaction_is_refused() -> None:
    with pytest.raises(NoTransaction, match=r"emit\(order.paid\) must share the transaction"):
        emit_paid()

    assert Event.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_rolls_back_leaves_no_event() -> None:
    with transaction.atomic():
        emit_paid()
        transaction.set_rollback(True)

    assert Event.objects.count() == 0


@pytest.mark.django_db
def test_a_sequence_number_is_used_once_per_aggregate() -> None:
    emit_paid()
    emit_paid(aggregate_id="shop/O-2")
    emit_paid(seq=2)

    with pytest.raises(IntegrityError, match="event_seq_is_unique"), transaction.atomic():
        emit_paid()

    assert Event.objects.count() == 3


@pytest.mark.django_db
def test_decimals_times_dates_and_uuids_are_told_as_strings() -> None:
    event_id = emit_paid(
        payload={
            "rate": Decimal("1.10"),
            "at": datetime(2026, 3, 1, 13, 0, tzinfo=timezone(timedelta(hours=1))),
            "day": date(2026, 3, 1),
            "id": UUID("00000000-0000-0000-0000-0000000000ff"),
            "deep": [{"rate": Decimal("1E+3")}],
        }
    )

    assert Event.objects.get(pk=event_id).payload == {
        "rate": "1.10",
        "at": "2026-03-01T13:00:00+01:00",
        "day": "2026-03-01",
        "id": "00000000-0000-0000-0000-0000000000ff",
        "deep": [{"rate": "1E+3"}],
    }


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("-Infinity"),
        datetime(2026, 3, 1, 12, 0),  # noqa: DTZ001 - the point
        b"bytes",
        {1, 2},
        object(),
        "NUL \0",
        "a backslash before \\\0",
        "\ud800",
        {"key \0": 1},
    ],
    ids=repr,
)
def test_what_json_or_the_database_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(UnfitEvent, match=r"^the payload "):
        as_json({"value": value})


def test_a_payload_within_itself_is_refused() -> None:
    payload: dict[str, Any] = {}
    payload["again"] = payload

    with pytest.raises(UnfitEvent, match="the payload is no JSON: Circular reference"):
        as_json(payload)


@pytest.mark.parametrize("text", ["\\u0000", "\\\\u0000", "payé 支付 💶", "\x01\n"], ids=repr)
@pytest.mark.django_db
def test_text_that_only_looks_dangerous_arrives_unchanged(text: str) -> None:
    event_id = emit_paid(payload={"text": text})

    assert Event.objects.get(pk=event_id).payload == {"text": text}
    assert json.loads(as_json({"text": text})) == {"text": text}


@pytest.mark.parametrize(
    "change",
    [
        {"aggregate_type": ""},
        {"aggregate_type": "a" * 41},
        {"aggregate_type": "Order"},
        {"aggregate_id": ""},
        {"aggregate_id": "a" * 141},
        {"aggregate_id": "O 1"},
        {"aggregate_id": "O-1\n"},
        {"aggregate_id": "O-\u0661"},
        {"type": "a" * 61},
        {"type": "order.*"},
        {"type": "order..paid"},
        {"seq": -1},
        {"seq": 2**31},
        {"at": datetime(2026, 3, 1)},  # noqa: DTZ001 - the point
    ],
    ids=repr,
)
@pytest.mark.django_db
def test_an_identifier_out_of_bounds_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(UnfitEvent):
        emit_paid(**change)

    assert Event.objects.count() == 0


@pytest.mark.django_db
def test_identifiers_at_their_bounds_are_taken() -> None:
    emit_paid(aggregate_type="a" * 40, aggregate_id="a" * 140, type="a" * 60, seq=2**31 - 1)

    assert Event.objects.count() == 1


TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    ("traceparent", "headers"),
    [
        (TRACEPARENT, {"traceparent": TRACEPARENT}),
        (TRACEPARENT.upper(), {}),
        (TRACEPARENT + "\n", {}),
        ("", {}),
    ],
)
@pytest.mark.django_db
def test_only_a_wellformed_trace_context_travels_along(
    traceparent: str, headers: dict[str, str]
) -> None:
    event_id = emit_paid(traceparent=traceparent)

    assert Event.objects.get(pk=event_id).headers == headers


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ({"state": "SENT"}, "event_state_is_known"),
        ({"state": "PUBLISHED"}, "event_published_at_iff_published"),
        ({"published_at": AT}, "event_published_at_iff_published"),
        ({"state": "CLAIMED"}, "event_claimed_has_owner_and_lease"),
    ],
)
@pytest.mark.django_db
def test_the_database_refuses_a_state_without_its_stamps(
    change: dict[str, Any], constraint: str
) -> None:
    emit_paid()

    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Event.objects.update(**change)
