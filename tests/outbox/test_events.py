"""emit: what is told shares the fate of its cause, and can be told."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from outbox.events import NoDestination, NoTransaction, UnfitEvent, as_json, emit
from outbox.models import BUS, Destination, Dispatch, DispatchState, Event
from tests.factories import DestinationFactory

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def emit_paid(**changes: Any) -> UUID:
    values: dict[str, Any] = {
        "aggregate_type": "order",
        "aggregate_id": "shop/O-1",
        "seq": 1,
        "type": "order.paid",
        "payload": {"order_no": "O-1", "amount_minor": 1099},
        "at": AT,
        "tenant": "shop",
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
    assert event.tenant == "shop"
    dispatch = Dispatch.objects.get()
    assert (dispatch.event, dispatch.destination.code) == (event, BUS)
    assert (dispatch.aggregate_type, dispatch.aggregate_id, dispatch.seq) == (
        "order",
        "shop/O-1",
        1,
    )
    assert (dispatch.state, dispatch.attempts, dispatch.fence) == (DispatchState.PENDING, 0, 0)
    assert dispatch.created_at == AT
    assert dispatch.published_at is None


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
        range(2),
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
        {"tenant": "a shop"},
        {"tenant": "a" * 41},
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
    ("wants", "gets"),
    [
        ({}, True),
        ({"tenant": "shop"}, True),
        ({"tenant": "sho"}, False),
        ({"event_types": ["order.paid"]}, True),
        ({"event_types": ["refund.*", "order.*"]}, True),
        ({"event_types": ["order.pai", "order.paid.*", "ord.*", "order"]}, False),
        ({"event_types": ["order.paid"], "tenant": "other"}, False),
        ({"state": "PAUSED", "reason": "moving"}, True),
        ({"state": "DISABLED", "reason": "gone"}, True),
    ],
    ids=repr,
)
@pytest.mark.django_db
def test_an_event_is_on_its_way_to_all_who_want_it_and_no_others(
    wants: dict[str, Any], gets: bool
) -> None:
    DestinationFactory.create(code="other", **wants)

    emit_paid()

    codes = set(Dispatch.objects.values_list("destination__code", flat=True))
    assert codes == ({BUS, "other"} if gets else {BUS})


@pytest.mark.django_db
def test_a_type_of_many_words_is_wanted_by_each_of_its_beginnings() -> None:
    for code, name in (("a", "refund.*"), ("b", "refund.late.*"), ("c", "refund.late.failed.*")):
        DestinationFactory.create(code=code, event_types=[name])

    emit_paid(type="refund.late.failed")

    codes = set(Dispatch.objects.values_list("destination__code", flat=True))
    assert codes == {BUS, "a", "b"}


@pytest.mark.django_db
def test_the_event_and_its_ways_are_one_statement() -> None:
    DestinationFactory.create_batch(3)

    with CaptureQueriesContext(connection) as statements:
        emit_paid()

    assert len(statements) == 1
    assert Dispatch.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_an_event_that_would_reach_nobody_is_refused() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE outbox_destination DISABLE TRIGGER outbox_bus_returns")
        try:
            cursor.execute("TRUNCATE outbox_destination CASCADE")
        finally:  # Or no test after this one has a bus.
            cursor.execute("ALTER TABLE outbox_destination ENABLE TRIGGER outbox_bus_returns")

    with pytest.raises(NoDestination), transaction.atomic():
        emit_paid()

    assert not Event.objects.exists()


@pytest.mark.django_db
def test_no_hand_on_the_database_removes_or_narrows_the_bus() -> None:
    bus = Destination.objects.filter(code=BUS)
    for change in (
        {"tenant": "shop"},
        {"event_types": ["order.paid"]},
        {"kind": "webhook"},
        {"code": "other"},
        {"state": "DISABLED", "reason": "gone"},
    ):
        with pytest.raises(IntegrityError, match="destination_bus"), transaction.atomic():
            bus.update(**change)
    with pytest.raises(IntegrityError, match="never deleted"), transaction.atomic():
        bus.delete()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE outbox_destination CASCADE")

    assert bus.get().state == "ACTIVE"


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ({"state": "SENT"}, "dispatch_state_is_known"),
        ({"state": "PUBLISHED"}, "dispatch_published_at_iff_published"),
        ({"published_at": AT}, "dispatch_published_at_iff_published"),
        ({"state": "DEAD"}, "dispatch_dead_at_iff_dead"),
        ({"dead_at": AT}, "dispatch_dead_at_iff_dead"),
        ({"state": "CLAIMED"}, "dispatch_claimed_has_owner_and_lease"),
    ],
)
@pytest.mark.django_db
def test_the_database_refuses_a_state_without_its_stamps(
    change: dict[str, Any], constraint: str
) -> None:
    emit_paid()

    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Dispatch.objects.update(**change)
