"""Claims: who may publish what, and who no longer."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from outbox import claims
from outbox.claims import Claim, Setback
from outbox.destinations.port import PAYLOAD_BYTES_MAX
from outbox.models import Destination, Dispatch, DispatchState
from tests.concurrency.racing import race
from tests.factories import CREATED_AT, DestinationFactory, DispatchFactory
from tests.outbox.relaying import bus_id, claim_heads

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = timedelta(seconds=30)


def claim(batch: int = 100, lease: timedelta = LEASE) -> list[Claim]:
    return claim_heads(batch=batch, lease=lease)


def ids(held: list[Claim]) -> list[int]:
    return [one.id for one in held]


def let_leases_end() -> None:
    Dispatch.objects.filter(state=DispatchState.CLAIMED).update(
        lease_until=Now() - timedelta(seconds=1)
    )


def test_a_claim_tells_everything_about_its_event() -> None:
    event = DispatchFactory.create(
        headers={"traceparent": "00-trace", "dataschema": "urn:a:schema"}, payload={"text": "支付"}
    )

    (held,) = claim()

    assert held.message is not None
    assert held.message.payload == '{"text": "支付"}'.encode()
    assert held.message.attributes() == {
        "specversion": "1.0",
        "id": str(event.event_id),
        "source": "paidonce",
        "type": "order.paid",
        "subject": f"order/{event.aggregate_id}",
        "time": "2026-03-01T11:00:00Z",
        "datacontenttype": "application/json",
        "sequence": "0000000001",
        "traceparent": "00-trace",
        "dataschema": "urn:a:schema",
    }
    event.refresh_from_db()
    assert (event.state, event.fence, event.owner_token) == (DispatchState.CLAIMED, 1, held.owner)


def test_only_the_first_unpublished_event_of_an_aggregate_is_claimed() -> None:
    second, first = (DispatchFactory.create(aggregate_id="A", seq=seq) for seq in (2, 1))
    other = DispatchFactory.create(created_at=CREATED_AT + timedelta(seconds=1))

    assert ids(claim()) == [first.pk, other.pk]
    assert ids(claim()) == []
    assert Dispatch.objects.get(pk=second.pk).state == DispatchState.PENDING


@pytest.mark.parametrize("newest_first", [False, True])
def test_a_batch_holds_so_many_bytes_and_the_rest_is_the_next_one(
    monkeypatch: pytest.MonkeyPatch, newest_first: bool
) -> None:
    monkeypatch.setattr(claims, "BATCH_BYTES_MAX", 2 * PAYLOAD_BYTES_MAX)
    size = PAYLOAD_BYTES_MAX // 2  # with its quotes a little more than half of one
    rows = [
        DispatchFactory.create(
            payload={"text": "x" * (PAYLOAD_BYTES_MAX * 2 if number == 1 else size)},
            created_at=CREATED_AT + timedelta(seconds=number),
        ).pk
        for number in range(8)
    ]
    order = rows[::-1] if newest_first else rows

    batches = []
    while held := claim_heads(batch=100, lease=LEASE, newest_first=newest_first):
        batches.append(ids(held))
        loaded = [each.message for each in held if each.message is not None]
        assert sum(len(message.payload) for message in loaded) <= 2 * PAYLOAD_BYTES_MAX

    # Three fit; the one that is too large to be sent is not loaded, and so takes no room.
    assert [pk for batch in batches for pk in sorted(batch, key=order.index)] == order
    assert max(len(batch) for batch in batches) == 4
    assert Dispatch.objects.filter(fence=1).count() == 8


def test_equal_ids_of_different_kinds_of_aggregates_do_not_wait_for_each_other() -> None:
    order = DispatchFactory.create(aggregate_type="order", aggregate_id="A", seq=1)
    conflict = DispatchFactory.create(aggregate_type="conflict", aggregate_id="A", seq=2)

    assert set(ids(claim())) == {order.pk, conflict.pk}


@pytest.mark.parametrize(
    "state", [DispatchState.PENDING, DispatchState.CLAIMED, DispatchState.DEAD]
)
def test_an_event_waits_while_the_one_before_it_is_anything_but_published(
    state: DispatchState,
) -> None:
    first = DispatchFactory.create(
        aggregate_id="A",
        state=state,
        dead_at=Now() if state == DispatchState.DEAD else None,
        owner_token=UUID(int=1),
        lease_until=Now() + LEASE,
        next_attempt_at=Now() + LEASE,
    )
    second = DispatchFactory.create(aggregate_id="A", seq=2)
    assert ids(claim()) == []

    Dispatch.objects.filter(pk=first.pk).update(
        state=DispatchState.PUBLISHED, published_at=Now(), dead_at=None
    )

    assert ids(claim()) == [second.pk]


def test_a_batch_takes_the_oldest_and_no_more_than_asked_for() -> None:
    events = [
        DispatchFactory.create(created_at=CREATED_AT - timedelta(seconds=number))
        for number in range(5)
    ]

    assert ids(claim(batch=2)) == [events[4].pk, events[3].pk]


def test_an_event_is_not_claimed_before_its_next_attempt_is_due() -> None:
    event = DispatchFactory.create(next_attempt_at=Now() + timedelta(seconds=60))
    assert claim() == []

    Dispatch.objects.update(next_attempt_at=Now())

    assert ids(claim()) == [event.pk]


def test_rows_that_somebody_else_is_claiming_are_passed_over() -> None:
    taken, free = DispatchFactory.create_batch(2)
    with transaction.atomic():
        Dispatch.objects.select_for_update(no_key=True).get(pk=taken.pk)

        (held,) = race(claim)

    assert ids(held) == [free.pk]


def test_many_relays_at_once_never_hold_the_same_event() -> None:
    for number in range(20):
        for seq in range(1, 3):
            DispatchFactory.create(aggregate_id=f"A-{number}", seq=seq)

    held = [one for answer in race(*[lambda: claim(batch=7)] * 6) for one in answer]

    assert len(set(ids(held))) == len(held) == 20
    assert set(Dispatch.objects.filter(state="CLAIMED").values_list("seq", flat=True)) == {1}


def test_published_events_are_stamped_and_let_go() -> None:
    DispatchFactory.create(last_error="before")
    held = claim()

    assert claims.published(held) == set(ids(held))

    event = Dispatch.objects.get()
    assert event.state == DispatchState.PUBLISHED
    assert event.published_at is not None
    assert (event.owner_token, event.lease_until, event.last_error) == (None, None, "")


def test_a_released_event_has_spent_no_attempt_and_waits() -> None:
    DispatchFactory.create()
    (held,) = claim()

    claims.released([Setback(claim=held, reason="broker down", wait=timedelta(hours=1))])

    event = Dispatch.objects.get()
    assert (event.state, event.attempts, event.last_error) == ("PENDING", 0, "broker down")
    assert claim() == []


def test_a_refused_event_is_dead_when_its_attempts_are_spent() -> None:
    DispatchFactory.create()
    states = []
    for _ in range(3):
        (held,) = claim()
        setback = Setback(claim=held, reason="too\0 large" + "x" * 600, wait=timedelta())
        states.append(claims.refused([setback], attempts_max=3)[held.id])

    assert states == [DispatchState.PENDING, DispatchState.PENDING, DispatchState.DEAD]
    event = Dispatch.objects.get()
    assert (event.state, event.attempts) == (DispatchState.DEAD, 3)
    assert event.last_error == ("too large" + "x" * 600)[:499]
    assert claim() == []


def test_after_its_lease_an_event_can_be_claimed_by_another() -> None:
    DispatchFactory.create()
    (first,) = claim(lease=timedelta(milliseconds=1))
    let_leases_end()

    (second,) = claim()

    assert (second.id, second.fence) == (first.id, 2)
    assert second.owner != first.owner


def test_an_owner_whose_claim_was_taken_over_changes_nothing() -> None:
    DispatchFactory.create()
    (stale,) = claim()
    let_leases_end()
    (present,) = claim()
    before = Dispatch.objects.values().get()

    setback = Setback(claim=stale, reason="late", wait=timedelta())
    assert claims.published([stale]) == set()
    assert claims.released([setback]) == set()
    assert claims.refused([setback], attempts_max=1) == {}
    assert Dispatch.objects.values().get() == before

    assert claims.published([present]) == {present.id}
    assert claims.published([stale]) == set()


def test_the_right_owner_with_an_old_fence_changes_nothing() -> None:
    DispatchFactory.create()
    (held,) = claim()
    Dispatch.objects.update(fence=F("fence") + 1)

    assert claims.published([held]) == set()


def test_an_owner_may_still_finish_after_its_lease_if_nobody_came() -> None:
    DispatchFactory.create()
    held = claim()
    let_leases_end()

    assert claims.published(held) == set(ids(held))


def test_a_payload_beyond_the_limit_is_claimed_without_being_loaded() -> None:
    filler = PAYLOAD_BYTES_MAX - len('{"x": ""}')
    DispatchFactory.create(aggregate_id="A", payload={"x": "x" * filler})
    DispatchFactory.create(aggregate_id="B", payload={"x": "x" * (filler + 1)})

    fits, too_large = sorted(claim(), key=lambda one: one.message is None)

    assert fits.message is not None
    assert len(fits.message.payload) == PAYLOAD_BYTES_MAX
    assert too_large.message is None


def test_claims_and_marks_cost_one_statement_each() -> None:
    DispatchFactory.create_batch(3)
    bus = bus_id()
    with CaptureQueriesContext(connection) as statements:
        claims.published(claims.claim_heads(bus, batch=9, lease=LEASE))
        claims.published([])

    assert len(statements) == 2


def test_a_claim_leaves_the_indexes_alone() -> None:
    DispatchFactory.create()
    with transaction.atomic():
        updated, in_place = _updates()
        claim()
        assert _updates() == (updated + 1, in_place + 1)


def _updates() -> tuple[int, int]:
    """How many updates this session has not reported yet, and how many of them left the indexes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables"
            " WHERE relname = 'outbox_dispatch'"
        )
        updated, in_place = cursor.fetchone()
    return updated, in_place


def test_lines_at_different_destinations_do_not_wait_for_each_other() -> None:
    other = DestinationFactory.create()
    first, second = (DispatchFactory.create(aggregate_id="A", seq=seq) for seq in (1, 2))
    there = [
        DispatchFactory.create(aggregate_id="A", seq=one.seq, event=one.event, destination=other)
        for one in (first, second)
    ]
    claims.published(claim())

    assert ids(claim()) == [second.pk]
    assert ids(claims.claim_heads(other.pk, batch=9, lease=LEASE)) == [there[0].pk]


@pytest.mark.parametrize("state", ["PAUSED", "DISABLED"])
def test_nothing_is_claimed_for_a_destination_that_rests(state: str) -> None:
    event = DispatchFactory.create(destination=DestinationFactory.create())
    rows = Destination.objects.filter(pk=event.destination_id)
    rows.update(state=state, reason="moving", rested_by="OPERATOR")
    assert claims.claim_heads(event.destination_id, batch=9, lease=LEASE) == []

    rows.update(state="ACTIVE", reason="", rested_by="")

    assert ids(claims.claim_heads(event.destination_id, batch=9, lease=LEASE)) == [event.pk]


def test_the_newest_first_are_still_heads_of_their_lines() -> None:
    for number in range(3):
        for seq in (1, 2):
            moment = CREATED_AT + timedelta(seconds=10 * seq + number)
            DispatchFactory.create(aggregate_id=f"A-{number}", seq=seq, created_at=moment)

    held = claim_heads(batch=2, lease=LEASE, newest_first=True)

    assert [one.message and (one.message.aggregate_id, one.message.seq) for one in held] == [
        ("A-1", 1),
        ("A-2", 1),
    ]


def test_the_dead_of_a_type_that_lets_others_pass_hold_nobody_up(settings: Settings) -> None:
    settings.OUTBOX_FOLLOWERS_PASS = ["order.closed"]
    for aggregate, type_ in (("A", "order.closed"), ("B", "order.paid")):
        DispatchFactory.create(aggregate_id=aggregate, type=type_, state="DEAD", dead_at=Now())
        DispatchFactory.create(aggregate_id=aggregate, seq=2)
        DispatchFactory.create(aggregate_id=aggregate, seq=3)

    (held,) = claim()
    assert held.message is not None
    assert (held.message.aggregate_id, held.message.seq) == ("A", 2)
    # Who passes is itself waited for.
    assert claim() == []

    settings.OUTBOX_FOLLOWERS_PASS = []
    claims.released([Setback(claim=held, reason="", wait=timedelta())])
    assert claim() == []


@pytest.mark.parametrize("state", ["PENDING", "CLAIMED"])
def test_only_the_dead_are_passed(settings: Settings, state: str) -> None:
    settings.OUTBOX_FOLLOWERS_PASS = ["order.paid"]
    DispatchFactory.create(
        aggregate_id="A",
        state=state,
        next_attempt_at=Now() + LEASE,
        owner_token=UUID(int=1),
        lease_until=Now() + LEASE,
    )
    DispatchFactory.create(aggregate_id="A", seq=2)

    assert claim() == []
