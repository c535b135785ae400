"""Events on their way to merchants' endpoints: real HTTP, real rows."""

import logging
from datetime import timedelta

import pytest
from django.db import connection, transaction
from pytest_django import Settings

from config.event_schemas import EVENT_TYPES
from outbox import claims
from outbox.destinations import directory
from outbox.models import (
    Attempt,
    Destination,
    DestinationState,
    Dispatch,
    DispatchState,
    EndpointSecret,
)
from outbox.redrive import redrive
from outbox.relay import InTransaction
from outbox.webhooks import breaker, due, endpoints, housekeeping, secrets
from outbox.webhooks.errand import TOO_LARGE, run
from outbox.webhooks.exchange import Post
from outbox.webhooks.message import BODY_BYTES_MAX
from outbox.webhooks.relay import WebhookRelay
from outbox.webhooks.schedule import ATTEMPTS_MAX
from outbox.webhooks.settle import settle
from tests.outbox.relaying import end_all_sessions
from tests.outbox.webhooks import receiver as does
from tests.outbox.webhooks.receiver import Receiver, answer
from tests.outbox.webhooks.rows import (
    database_time,
    drain,
    endpoint,
    forgive,
    tell,
    time_passes,
    tries,
    way,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_event_is_delivered_and_the_attempt_is_kept(receiver: Receiver) -> None:
    shop = endpoint(receiver, tenant="acme", event_types=["order.*"])
    wanted = tell("acme/A-1", 3, tenant="acme", order_no="A-1")
    tell(tenant="acme", kind="refund.requested")
    tell(tenant="other")

    assert drain() == {"published": 1}

    (request,) = receiver.received
    assert receiver.complaints == []
    assert request.id == str(wanted)
    assert request.document == {
        "type": "order.paid",
        "timestamp": "2026-03-01T12:00:00Z",
        "data": {"seq": 3, "order_no": "A-1"},
    }
    assert way(shop, wanted).state == DispatchState.PUBLISHED
    (made,) = tries(shop)
    assert (made.status, made.reply, made.error, made.asked_by) == (200, "ok", "", "")
    assert made.dispatch == way(shop, wanted)
    assert made.milliseconds is not None
    assert drain() == {}


def test_each_attempt_has_a_fresh_signature_and_the_same_id(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()
    receiver.answers = [answer(500), does.hang_up, answer(302, Location="http://127.0.0.1:9/")]
    for _ in range(4):
        drain()
        time_passes()

    assert receiver.ids == [str(event)] * 4
    assert receiver.complaints == []
    assert [made.status for made in tries(shop)] == [500, None, 302, 200]
    assert tries(shop)[1].error.startswith("no answer: ")
    assert way(shop, event).attempts == 3


def test_a_failure_waits_by_the_schedule_and_the_tenth_is_the_last(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()
    receiver.always = answer(500, b"broken")
    before = database_time()
    assert drain() == {"pending": 1}
    waits = way(shop, event).next_attempt_at
    assert waits is not None
    assert timedelta(seconds=4) < waits - before < timedelta(seconds=7)
    assert drain() == {}

    for _ in range(ATTEMPTS_MAX - 2):
        time_passes()
        forgive()
        assert drain() == {"pending": 1}
    time_passes()
    forgive()
    assert drain() == {"dead": 1}
    assert way(shop, event).state == DispatchState.DEAD
    assert way(shop, event).last_error == "HTTP 500"
    assert len(tries(shop)) == len(receiver.received) == ATTEMPTS_MAX

    receiver.always = answer()
    time_passes()
    forgive()
    assert drain() == {}
    redrive([event], destination=shop.code, by="a test")
    assert drain() == {"published": 1}


def test_events_of_one_aggregate_go_in_their_order_and_wait_for_one_that_fails(
    receiver: Receiver,
) -> None:
    endpoint(receiver)
    events = [str(tell("shop/1", seq)) for seq in range(1, 6)]
    other = str(tell("shop/2", 1))
    receiver.always = does.to(events[0], answer(500))

    drain()
    assert sorted(receiver.ids) == sorted([events[0], other])
    receiver.always = answer()
    time_passes()
    forgive()
    drain()
    assert [each for each in receiver.ids if each != other] == [events[0], *events]


def test_410_disables_the_endpoint_and_its_events_are_kept(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    first = tell()
    receiver.always = answer(410)
    assert drain() == {"pending": 1}

    shop.refresh_from_db()
    assert shop.state == DestinationState.DISABLED
    assert "410" in shop.reason
    second = tell()
    time_passes()
    assert drain() == {}
    assert way(shop, first).attempts == 0

    receiver.always = answer()
    with transaction.atomic():
        endpoints.resume(shop)
    assert drain() == {"published": 2}
    assert sorted(receiver.ids[1:]) == sorted([str(first), str(second)])


@pytest.mark.parametrize(("status", "counts"), [(429, True), (503, True), (500, False)])
def test_an_endpoint_that_is_busy_says_for_how_long(
    receiver: Receiver, status: int, counts: bool
) -> None:
    shop = endpoint(receiver)
    event = tell()
    receiver.always = answer(status, Retry_After="3600")
    before = database_time()
    drain()
    waits = way(shop, event).next_attempt_at
    assert waits is not None
    assert (waits - before > timedelta(minutes=59)) == counts


def test_an_endpoint_that_fails_rests_and_then_one_event_tries(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    for _ in range(breaker.FAILURES_MAX + 20):
        tell()
    receiver.always = answer(500)

    # One at a time once the first has failed; then none, and what waits has spent nothing.
    drain(per_endpoint=1)
    assert len(receiver.received) == breaker.FAILURES_MAX
    assert Dispatch.objects.filter(destination=shop, attempts=0).count() == 20

    for tried in (1, 2):
        time_passes()
        assert drain() == {"pending": 1}
        assert len(receiver.received) == breaker.FAILURES_MAX + tried
    shop.endpoint.refresh_from_db()
    rests = shop.endpoint.open_until
    assert rests is not None
    assert timedelta(seconds=100) < rests - database_time() < timedelta(seconds=125)

    receiver.always = answer()
    time_passes()
    assert drain() == {"published": breaker.FAILURES_MAX + 20}
    shop.endpoint.refresh_from_db()
    assert (shop.endpoint.failures, shop.endpoint.open_until) == (0, None)


def test_an_endpoint_rests_no_longer_than_a_quarter_of_an_hour(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    for _ in range(60):
        failing = breaker.failed(shop.pk)
    assert failing.open_until is not None
    assert failing.open_until - database_time() <= timedelta(seconds=breaker.OPEN_SECONDS_MAX)


def test_of_many_who_see_that_the_time_has_passed_one_tries(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    for _ in range(breaker.FAILURES_MAX):
        breaker.failed(shop.pk)
    assert not breaker.take_probe(shop.pk)
    time_passes()
    assert [breaker.take_probe(shop.pk) for _ in range(3)] == [True, False, False]


def test_while_secrets_rotate_both_verify_and_then_one(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    with transaction.atomic():
        receiver.secrets.append(secrets.rotate(shop))
    tell()
    assert drain() == {"published": 1}
    assert receiver.complaints == []
    assert len(receiver.received[0].headers["webhook-signature"].split()) == 2

    old = secrets.in_force(shop.pk).last()
    assert old is not None
    with transaction.atomic():
        secrets.retire(shop, old.pk)
    tell()
    drain()
    assert len(receiver.complaints) == 1
    assert len(receiver.received[1].headers["webhook-signature"].split()) == 1
    with pytest.raises(secrets.OnlySecret), transaction.atomic():
        secrets.retire(shop, secrets.in_force(shop.pk).get().pk)
    with pytest.raises(secrets.NoSuchSecret), transaction.atomic():
        secrets.retire(shop, old.pk)


def test_secrets_are_bounded_and_end_no_later_for_being_rotated_again(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    with transaction.atomic():
        secrets.rotate(shop, overlap=timedelta(hours=1))
        soon = EndpointSecret.objects.get(retires_at__isnull=False)
        secrets.rotate(shop, overlap=timedelta(hours=24))
    assert soon.retires_at == EndpointSecret.objects.get(pk=soon.pk).retires_at
    with transaction.atomic():
        secrets.rotate(shop)
        secrets.rotate(shop)
        with pytest.raises(secrets.TooManySecrets):
            secrets.rotate(shop)


def test_a_secret_is_in_no_row_and_no_log(
    receiver: Receiver, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    endpoint(receiver)
    receiver.answers = [answer(500), does.hang_up]
    tell()
    drain()
    time_passes()
    drain()
    secret = receiver.secrets[0].removeprefix("whsec_")
    for row in EndpointSecret.objects.all():
        assert secret.encode() not in bytes(row.sealed)
    told = capfd.readouterr()
    assert secret not in caplog.text + told.out + told.err


def test_an_endpoint_without_a_secret_waits_for_one(receiver: Receiver) -> None:
    with transaction.atomic():
        shop = endpoints.add(tenant="", url=receiver.url)
    tell()
    assert drain() == {}
    with transaction.atomic():
        secrets.rotate(shop)
    assert drain() == {"published": 1}


def test_secrets_that_cannot_be_opened_cost_the_events_nothing(
    receiver: Receiver, settings: Settings
) -> None:
    shop = endpoint(receiver)
    event = tell()
    keys = settings.VAULT_KEYS
    settings.VAULT_KEYS = ["kZ0c8mT3mJx7o5sJ3w3m0yJ1p7o2fWmVb8cJpC7kq1E="]
    assert drain() == {}
    assert (way(shop, event).state, way(shop, event).attempts) == (DispatchState.PENDING, 0)
    assert receiver.received == []
    settings.VAULT_KEYS = keys
    time_passes()
    assert drain() == {"published": 1}


def test_what_is_too_large_is_dead_at_once_and_never_sent(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell(note="x" * BODY_BYTES_MAX)
    assert drain() == {"dead": 1}
    assert receiver.received == []
    assert [made.error for made in tries(shop)] == [TOO_LARGE]
    shop.endpoint.refresh_from_db()
    assert shop.endpoint.failures == 0
    assert way(shop, event).last_error == TOO_LARGE


def test_an_address_that_is_not_allowed_any_more_is_not_called(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    tell()
    assert dict(WebhookRelay(Post()).drain(seconds_max=5)) == {"pending": 1}
    assert receiver.received == []
    assert tries(shop)[0].error.startswith("not sent: ")


def test_a_paused_endpoint_collects(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    with transaction.atomic():
        endpoints.pause(shop, "a test")
    tell()
    assert drain() == {}
    with transaction.atomic():
        endpoints.resume(shop)
    assert drain() == {"published": 1}


def test_a_new_address_is_tried_at_once(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    with transaction.atomic():
        endpoints.change(shop, url="http://127.0.0.1:9/gone")
    for _ in range(breaker.FAILURES_MAX):
        tell()
    drain()
    assert drain() == {}
    with transaction.atomic():
        endpoints.change(shop, url=receiver.url)
    # At once: also what the schedule would have let wait.
    assert drain() == {"published": breaker.FAILURES_MAX}
    ways = Dispatch.objects.filter(destination=shop)
    assert set(ways.values_list("attempts", flat=True)) == {1}


def test_an_old_address_that_is_gone_does_not_disable_the_new_one(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()

    def move_while_it_answers(handler: does.Handler) -> None:
        with transaction.atomic():
            endpoints.change(shop, url=f"{receiver.url}/new")
        connection.close()
        answer(410)(handler)

    receiver.answers = [move_while_it_answers]
    drain()

    shop.refresh_from_db()
    assert shop.state == DestinationState.ACTIVE
    assert receiver.received[-1].path == "/hook/new"
    assert way(shop, event).state == DispatchState.PUBLISHED
    assert way(shop, event).attempts == 0


def test_who_resumes_an_endpoint_need_not_wait_for_the_schedule(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    tell()
    receiver.answers = [answer(410)]
    drain()
    with transaction.atomic():
        endpoints.resume(shop)
    assert drain() == {"published": 1}


def test_without_named_types_it_gets_what_is_for_merchants(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    for_merchants = [
        str(tell(kind=kind)) for kind in ("order.paid", "refund.failed", "payment.disputed")
    ]
    tell(kind="conflict.opened")
    drain()
    assert sorted(receiver.ids) == sorted(for_merchants)

    with transaction.atomic():
        endpoints.change(shop, event_types=["conflict.*"])
    named = str(tell(kind="conflict.resolved"))
    drain()
    assert receiver.ids[3:] == [named]

    with transaction.atomic():
        endpoints.change(shop, event_types=[])
    tell(kind="conflict.opened")
    assert drain() == {}


def test_every_type_that_is_told_is_for_merchants_or_is_a_conflict(settings: Settings) -> None:
    """A new kind of event is for merchants only after somebody decided that."""
    wanted = {name.removesuffix(".*") for name in settings.OUTBOX_WEBHOOK_TYPES}
    told = {each.name.split(".")[0] for each in EVENT_TYPES}
    assert told - wanted == {"conflict"}
    assert wanted <= told


def test_a_removed_endpoint_gets_nothing_and_leaves_what_was_delivered(receiver: Receiver) -> None:
    shop = endpoint(receiver, tenant="acme")
    delivered = tell(tenant="acme")
    drain()
    with transaction.atomic():
        endpoints.pause(shop, "a test")
    waiting = tell(tenant="acme")
    with transaction.atomic():
        endpoints.remove(shop)
    tell(tenant="acme")
    assert housekeeping.tidy() == 1
    assert housekeeping.tidy() == 0
    assert not Dispatch.objects.filter(destination=shop, event=waiting).exists()
    assert way(shop, delivered).state == DispatchState.PUBLISHED
    assert len(tries(shop)) == 1
    assert not EndpointSecret.objects.exists()
    assert list(endpoints.of_tenant("acme")) == []
    assert drain() == {}


def test_a_removed_endpoint_that_somebody_resumes_is_sent_nothing(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    tell()
    with transaction.atomic():
        endpoints.remove(shop)
    with pytest.raises(directory.Refused, match="was removed"):
        directory.resume(shop.code)
    # Not even by hand.
    Destination.objects.filter(code=shop.code).update(
        state=DestinationState.ACTIVE, reason="", rested_by=""
    )
    assert drain() == {}
    assert receiver.received == []


def test_what_was_taken_is_marked_once_the_database_is_back_and_not_sent_again(
    receiver: Receiver,
) -> None:
    shop = endpoint(receiver)
    event = tell()

    def lose_the_database(handler: does.Handler) -> None:
        end_all_sessions()
        answer()(handler)

    receiver.answers = [lose_the_database]
    assert drain() == {"published": 1}
    assert receiver.ids == [str(event)]
    assert [made.status for made in tries(shop)] == [200]


def test_what_a_lost_answer_of_the_database_has_written_is_not_written_again(
    receiver: Receiver,
) -> None:
    shop = endpoint(receiver)
    event = tell()
    receiver.always = answer(500)
    held = claims.claim_heads(shop.pk, batch=1, lease=timedelta(seconds=30))
    (each,) = due.errands(due.Due(shop.pk, shop.code, receiver.url, 0, is_probe=False), held)
    made = run(each, Post(private=True))

    assert settle(each, made) == DispatchState.PENDING
    assert settle(each, made, again=True) == DispatchState.PENDING

    assert len(tries(shop)) == 1
    shop.endpoint.refresh_from_db()
    assert (shop.endpoint.failures, way(shop, event).attempts) == (1, 1)


def test_attempts_go_with_their_dispatch_whoever_deletes_it(receiver: Receiver) -> None:
    endpoint(receiver)
    tell()
    drain()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM outbox_dispatch WHERE published_at IS NOT NULL")
    assert not Attempt.objects.exists()


def test_no_transaction_stays_open_while_the_network_waits(receiver: Receiver) -> None:
    with pytest.raises(InTransaction), transaction.atomic():
        drain()
