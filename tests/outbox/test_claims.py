"""Claims: who may publish what, and who no longer."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from outbox import claims
from outbox.claims import Claim, Setback
from outbox.destinations.port import PAYLOAD_BYTES_MAX
from outbox.models import Event, EventState
from tests.concurrency.racing import race
from tests.factories import CREATED_AT, EventFactory

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = timedelta(seconds=30)


def claim(batch: int = 100, lease: timedelta = LEASE) -> list[Claim]:
    return claims.claim_heads(batch=batch, lease=lease)


def ids(held: list[Claim]) -> list[UUID]:
    return [one.id for one in held]


def let_leases_end() -> None:
    Event.objects.filter(state=EventState.CLAIMED).update(lease_until=Now() - timedelta(seconds=1))


def test_a_claim_tells_everything_about_its_event() -> None:
    event = EventFactory.create(headers={"traceparent": "00-trace"}, payload={"text": "支付"})

    (held,) = claim()

    assert held.message is not None
    assert held.message.payload == '{"text": "支付"}'.encode()
    assert held.message.attributes() == {
        "specversion": "1.0",
        "id": str(event.pk),
        "source": "paidonce",
        "type": "order.paid",
        "subject": f"order/{event.aggregate_id}",
        "time": "2026-03-01T11:00:00Z",
        "datacontenttype": "application/json",
        "sequence": "1",
        "traceparent": "00-trace",
    }
    event.refresh_from_db()
    assert (event.state, event.fence, event.owner_token) == (EventState.CLAIMED, 1, held.owner)


def test_only_the_first_unpublished_event_of_an_aggregate_is_claimed() -> None:
    second, first = (EventFactory.create(aggregate_id="A", seq=seq) for seq in (2, 1))
    other = EventFactory.create(created_at=CREATED_AT + timedelta(seconds=1))

    assert ids(claim()) == [first.pk, other.pk]
    assert ids(claim()) == []
    assert Event.objects.get(pk=second.pk).state == EventState.PENDING


def test_equal_ids_of_different_kinds_of_aggregates_do_not_wait_for_each_other() -> None:
    order = EventFactory.create(aggregate_type="order", aggregate_id="A", seq=1)
    conflict = EventFactory.create(aggregate_type="conflict", aggregate_id="A", seq=2)

    assert set(ids(claim())) == {order.pk, conflict.pk}


@pytest.mark.parametrize("state", [EventState.PENDING, EventState.CLAIMED, EventState.DEAD])
def test_an_event_waits_while_the_one_before_it_is_anything_but_published(
    state: EventState,
) -> None:
    first = EventFactory.create(
        aggregate_id="A",
        state=state,
        owner_token=UUID(int=1),
        lease_until=Now() + LEASE,
        next_attempt_at=Now() + LEASE,
    )
    second = EventFactory.create(aggregate_id="A", seq=2)
    assert ids(claim()) == []

    Event.objects.filter(pk=first.pk).update(state=EventState.PUBLISHED, published_at=Now())

    assert ids(claim()) == [second.pk]


def test_a_batch_takes_the_oldest_and_no_more_than_asked_for() -> None:
    events = [
        EventFactory.create(created_at=CREATED_AT - timedelta(seconds=number))
        for number in range(5)
    ]

    assert ids(claim(batch=2)) == [events[4].pk, events[3].pk]


def test_an_event_is_not_claimed_before_its_next_attempt_is_due() -> None:
    event = EventFactory.create(next_attempt_at=Now() + timedelta(seconds=60))
    assert claim() == []

    Event.objects.update(next_attempt_at=Now())

    assert ids(claim()) == [event.pk]


def test_rows_that_somebody_else_is_claiming_are_passed_over() -> None:
    taken, free = EventFactory.create_batch(2)
    with transaction.atomic():
        Event.objects.select_for_update(no_key=True).get(pk=taken.pk)

        (held,) = race(claim)

    assert ids(held) == [free.pk]


def test_many_relays_at_once_never_hold_the_same_event() -> None:
    for number in range(20):
        for seq in range(1, 3):
            EventFactory.create(aggregate_id=f"A-{number}", seq=seq)

    held = [one for answer in race(*[lambda: claim(batch=7)] * 6) for one in answer]

    assert len(set(ids(held))) == len(held) == 20
    assert set(Event.objects.filter(state="CLAIMED").values_list("seq", flat=True)) == {1}


def test_published_events_are_stamped_and_let_go() -> None:
    EventFactory.create(last_error="before")
    held = claim()

    assert claims.published(held) == set(ids(held))

    event = Event.objects.get()
    assert event.state == EventState.PUBLISHED
    assert event.published_at is not None
    assert (event.owner_token, event.lease_until, event.last_error) == (None, None, "")


def test_a_released_event_has_spent_no_attempt_and_waits() -> None:
    EventFactory.create()
    (held,) = claim()

    claims.released([Setback(claim=held, reason="broker down", wait=timedelta(hours=1))])

    event = Event.objects.get()
    assert (event.state, event.attempts, event.last_error) == ("PENDING", 0, "broker down")
    assert claim() == []


def test_a_refused_event_is_dead_when_its_attempts_are_spent() -> None:
    EventFactory.create()
    states = []
    for _ in range(3):
        (held,) = claim()
        setback = Setback(claim=held, reason="too\0 large" + "x" * 600, wait=timedelta())
        states.append(claims.refused([setback], attempts_max=3)[held.id])

    assert states == [EventState.PENDING, EventState.PENDING, EventState.DEAD]
    event = Event.objects.get()
    assert (event.state, event.attempts) == (EventState.DEAD, 3)
    assert event.last_error == ("too large" + "x" * 600)[:499]
    assert claim() == []


def test_after_its_lease_an_event_can_be_claimed_by_another() -> None:
    EventFactory.create()
    (first,) = claim(lease=timedelta(milliseconds=1))
    let_leases_end()

    (second,) = claim()

    assert (second.id, second.fence) == (first.id, 2)
    assert second.owner != first.owner


def test_an_owner_whose_claim_was_taken_over_changes_nothing() -> None:
    EventFactory.create()
    (stale,) = claim()
    let_leases_end()
    (present,) = claim()
    before = Event.objects.values().get()

    setback = Setback(claim=stale, reason="late", wait=timedelta())
    assert claims.published([stale]) == set()
    assert claims.released([setback]) == set()
    assert claims.refused([setback], attempts_max=1) == {}
    assert Event.objects.values().get() == before

    assert claims.published([present]) == {present.id}
    assert claims.published([stale]) == set()


def test_the_right_owner_with_an_old_fence_changes_nothing() -> None:
    EventFactory.create()
    (held,) = claim()
    Event.objects.update(fence=F("fence") + 1)

    assert claims.published([held]) == set()


def test_an_owner_may_still_finish_after_its_lease_if_nobody_came() -> None:
    EventFactory.create()
    held = claim()
    let_leases_end()

    assert claims.published(held) == set(ids(held))


def test_a_payload_beyond_the_limit_is_claimed_without_being_loaded() -> None:
    filler = PAYLOAD_BYTES_MAX - len('{"x": ""}')
    EventFactory.create(aggregate_id="A", payload={"x": "x" * filler})
    EventFactory.create(aggregate_id="B", payload={"x": "x" * (filler + 1)})

    fits, too_large = sorted(claim(), key=lambda one: one.message is None)

    assert fits.message is not None
    assert len(fits.message.payload) == PAYLOAD_BYTES_MAX
    assert too_large.message is None


def test_claims_and_marks_cost_one_statement_each() -> None:
    EventFactory.create_batch(3)
    with CaptureQueriesContext(connection) as statements:
        claims.published(claim())
        claims.published([])

    assert len(statements) == 2


def test_a_claim_leaves_the_indexes_alone() -> None:
    EventFactory.create()
    with transaction.atomic(), connection.cursor() as cursor:
        claim()
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_xact_user_tables"
            " WHERE relname = 'outbox_event'"
        )
        assert cursor.fetchone() == (1, 1)
