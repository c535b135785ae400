"""Retention: what everybody has had for long enough goes, and nothing else ever does."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.db.models.functions import Now

from outbox import retention
from outbox.models import Dispatch, DispatchState, Event
from outbox.retention import BEGINNING, KeptTooShort
from tests.factories import DestinationFactory, DispatchFactory, EventFactory

KEPT = timedelta(days=30)
LONG_AGO = Now() - timedelta(days=31)
LATELY = Now() - timedelta(days=29)
ROWS = 200_000

STATES: dict[DispatchState, dict[str, Any]] = {
    DispatchState.PENDING: {},
    DispatchState.CLAIMED: {"owner_token": UUID(int=1), "lease_until": LONG_AGO},
    DispatchState.DEAD: {"dead_at": LONG_AGO},
}


def published(at: Any = LONG_AGO, **values: Any) -> Dispatch:
    return DispatchFactory.create(
        created_at=LONG_AGO, state=DispatchState.PUBLISHED, published_at=at, **values
    )


def forget(*, batch: int = retention.BATCH, batches_max: int = retention.BATCHES_MAX) -> int:
    """A run from the beginning; how many events it forgot."""
    return retention.forget(kept=KEPT, batch=batch, batches_max=batches_max)[0]


def left() -> set[UUID]:
    return set(Event.objects.values_list("pk", flat=True))


@pytest.mark.django_db
def test_what_was_published_long_ago_goes_with_its_history() -> None:
    first = published()
    published(event=first.event, destination=DestinationFactory.create())
    lately = published(at=LATELY)

    assert forget() == 1

    assert left() == {lately.event_id}
    assert list(Dispatch.objects.all()) == [lately]


@pytest.mark.django_db
@pytest.mark.parametrize("state", STATES)
def test_what_one_destination_has_not_got_stays_however_old(state: DispatchState) -> None:
    """S13 and S14: an outage of any length, and events that died in it, expire nothing."""
    first = published()
    DispatchFactory.create(
        event=first.event,
        destination=DestinationFactory.create(),
        created_at=LONG_AGO,
        state=state,
        **STATES[state],
    )

    assert forget() == 0
    assert Dispatch.objects.count() == 2


@pytest.mark.django_db
def test_the_time_counts_from_the_last_of_the_destinations() -> None:
    first = published()
    published(at=LATELY, event=first.event, destination=DestinationFactory.create())

    assert forget() == 0


@pytest.mark.django_db(transaction=True)
def test_every_batch_goes_on_where_the_last_one_stopped() -> None:
    stuck = [DispatchFactory.create(created_at=LONG_AGO) for _ in range(5)]
    for _ in range(5):
        published()

    assert forget(batch=2) == 5
    assert left() == {dispatch.event_id for dispatch in stuck}


@pytest.mark.django_db
def test_a_run_is_bounded_and_the_next_one_goes_on() -> None:
    for _ in range(5):
        published()

    position, counts = BEGINNING, []
    for _ in range(4):
        count, position = retention.forget(kept=KEPT, start=position, batch=2, batches_max=1)
        counts.append(count)

    assert counts == [2, 2, 1, 0]
    assert position == BEGINNING


@pytest.mark.django_db
def test_a_run_gets_past_what_may_not_go_however_much_that_is() -> None:
    for _ in range(5):
        DispatchFactory.create(created_at=Now() - timedelta(days=32))
    published()

    count, position = retention.forget(kept=KEPT, batch=2, batches_max=2)
    assert count == 0
    count, position = retention.forget(kept=KEPT, start=position, batch=2, batches_max=2)
    assert count == 1


@pytest.mark.django_db
def test_what_left_by_the_log_without_a_slot_is_kept_while_it_is_to_leave_so(
    settings: Any,
) -> None:
    settings.RELAY = "cdc"
    EventFactory.create(created_at=LONG_AGO)
    assert forget() == 0

    # The slot was read to its end and dropped: see outbox/cdc.py.
    settings.RELAY = "polling"
    assert forget() == 1


def test_less_than_the_longest_replay_is_refused() -> None:
    with pytest.raises(KeptTooShort, match="3 days"):
        retention.forget(kept=timedelta(days=3))


@pytest.mark.django_db(transaction=True)
def test_a_batch_walks_indexes_only_however_many_rows_there_are() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # foreign keys are not the point
        try:
            for first in range(0, ROWS, ROWS // 10):  # within the limit of a statement's time
                cursor.execute(_FILL_SQL, [first, first + ROWS // 10 - 1])
            cursor.execute("ANALYZE outbox_event, outbox_dispatch")
            assert tables_scanned() == set()
        finally:
            cursor.execute("RESET session_replication_role")
            cursor.execute("TRUNCATE outbox_dispatch, outbox_event CASCADE")
            cursor.execute("ANALYZE outbox_event, outbox_dispatch")


def tables_scanned() -> set[str]:
    """The tables that a batch in the middle would read from end to end."""
    values: dict[str, Any] = {
        "kept": KEPT,
        "batch": retention.BATCH,
        "slot": "",
        "no_slot_needed": True,
        "at": "2020-01-01T12:00:00Z",
        "id": UUID(int=7),
    }
    with connection.cursor() as cursor:
        explain = "EXPLAIN (FORMAT JSON) " + retention._FORGET_SQL  # noqa: SLF001 - to see its plan
        cursor.execute(explain, values)
        plan = cursor.fetchone()[0]
    nodes = [(plan if isinstance(plan, list) else json.loads(plan))[0]["Plan"]]
    scanned = set()
    while nodes:
        node = nodes.pop()
        nodes += node.get("Plans", [])
        if node["Node Type"] == "Seq Scan" and "outbox" in node["Relation Name"]:
            scanned.add(node["Relation Name"])
    return scanned - {"outbox_destination"}


_FILL_SQL = """
    WITH event AS (
        INSERT INTO outbox_event (id, aggregate_type, aggregate_id, seq, type, tenant, payload,
                                  headers, created_at)
        SELECT lpad(to_hex(number), 32, '0')::uuid, 'order', 'shop/' || lpad(number::text, 6, '0'),
               1, 'order.paid', 'shop', '{}', '{}',
               timestamptz '2020-01-01' + number * interval '1 second'
          FROM generate_series(%s::int, %s::int) AS number
        RETURNING *
    )
    INSERT INTO outbox_dispatch (event_id, destination_id, aggregate_type, aggregate_id, seq,
                                 created_at, state, published_at, attempts, fence, last_error)
    SELECT event.id, destination.id, event.aggregate_type, event.aggregate_id, event.seq,
           event.created_at, 'PUBLISHED', event.created_at, 0, 0, ''
      FROM event, outbox_destination AS destination
     WHERE destination.code = 'bus'
"""
