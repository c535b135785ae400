"""Attempts that a person asked for: again, or a test."""

import threading
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection, transaction

from outbox.models import Attempt, Destination, Dispatch, DispatchState
from outbox.webhooks import attempts, breaker, endpoints
from tests.outbox.webhooks.receiver import Receiver, answer
from tests.outbox.webhooks.rows import drain, endpoint, tell, time_passes, tries, way

pytestmark = pytest.mark.django_db(transaction=True)


def resend(dispatch: Dispatch, by: str = "ana") -> Attempt:
    with transaction.atomic():
        return attempts.resend(dispatch, by=by)


def send_test(destination: Destination) -> Attempt:
    with transaction.atomic():
        return attempts.send_test(destination, by="ana")


def asked_for(shop: Destination) -> list[tuple[UUID, str, int | None]]:
    return [(made.pk, made.asked_by, made.status) for made in tries(shop) if made.asked_by]


def test_what_was_delivered_is_sent_again_under_the_same_id(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()
    drain()
    asked = resend(way(shop, event))
    assert drain() == {"asked": 1}

    assert receiver.ids == [str(event)] * 2
    assert receiver.received[0].document == receiver.received[1].document
    assert receiver.complaints == []
    assert asked_for(shop) == [(asked.pk, "ana", 200)]
    assert way(shop, event).state == DispatchState.PUBLISHED
    assert drain() == {}


def test_a_second_sending_that_fails_undoes_nothing(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()
    drain()
    resend(way(shop, event))
    receiver.always = answer(500)
    assert drain() == {"asked": 1}
    assert way(shop, event).state == DispatchState.PUBLISHED
    shop.endpoint.refresh_from_db()
    assert shop.endpoint.failures == 0
    assert drain() == {}


def test_what_retention_takes_away_meanwhile_is_not_sent(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    kept, gone = (way(shop, tell()) for _ in range(2))
    drain()
    resend(gone)
    Dispatch.objects.filter(pk=gone.pk).delete()

    with pytest.raises(attempts.Forgotten):
        resend(gone)
    resend(kept)
    assert drain() == {"asked": 1}
    assert receiver.ids[2:] == [str(kept.event_id)]


def test_what_waits_goes_at_once_in_its_line_and_is_the_attempt_that_was_asked_for(
    receiver: Receiver,
) -> None:
    shop = endpoint(receiver)
    first, second = tell("shop/1", 1), tell("shop/1", 2)
    receiver.answers = [answer(500)]
    drain()
    asked = resend(way(shop, second))
    assert drain() == {}

    resend(way(shop, first))
    assert drain() == {"published": 2}
    assert receiver.ids == [str(first), str(first), str(second)]
    assert len(tries(shop)) == 3
    assert (asked.pk, "ana", 200) in asked_for(shop)


def test_what_is_dead_is_back_in_line(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()
    receiver.answers = [answer(500)]
    drain()
    Dispatch.objects.update(state=DispatchState.DEAD, dead_at=way(shop, event).created_at)
    asked = resend(way(shop, event))
    assert way(shop, event).redrive_id is not None
    assert drain() == {"published": 1}
    assert asked_for(shop) == [(asked.pk, "ana", 200)]


def test_asked_twice_it_is_made_once(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()
    drain()
    made: list[UUID] = []

    def ask() -> None:
        made.append(resend(way(shop, event)).pk)
        made.append(send_test(shop).pk)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 16
    assert len(set(made)) == 2
    assert drain() == {"asked": 2}
    assert len(receiver.received) == 3


def test_a_test_message_goes_to_one_endpoint_and_is_no_event(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    endpoint(receiver)
    asked = send_test(shop)
    assert drain() == {"asked": 1}
    (request,) = receiver.received
    assert request.id == str(asked.pk)
    assert request.document["type"] == "webhook.test"
    assert request.document["data"] == {"endpoint": shop.code}
    assert not Dispatch.objects.exists()
    assert asked_for(shop) == [(asked.pk, "ana", 200)]


def test_a_test_that_works_wakes_an_endpoint_that_rests(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    event = tell()
    for _ in range(breaker.FAILURES_MAX):
        breaker.failed(shop.pk)
    assert drain() == {}
    send_test(shop)
    assert drain() == {"asked": 1, "published": 1}
    assert way(shop, event).state == DispatchState.PUBLISHED


def test_what_is_asked_for_is_sent_to_an_endpoint_that_is_paused_but_not_to_a_removed_one(
    receiver: Receiver,
) -> None:
    shop = endpoint(receiver)
    with transaction.atomic():
        endpoints.pause(shop, "a test")
    send_test(shop)
    assert drain() == {"asked": 1}
    send_test(shop)
    with transaction.atomic():
        endpoints.remove(shop)
    assert drain() == {}
    assert len(receiver.received) == 1


def test_whoever_died_with_it_does_not_keep_it(receiver: Receiver) -> None:
    shop = endpoint(receiver)
    send_test(shop)
    assert attempts.claim_asked(batch=5, lease=timedelta(minutes=1))
    assert drain() == {}
    with connection.cursor() as cursor:
        cursor.execute("UPDATE outbox_attempt SET lease_until = clock_timestamp()")
    time_passes()
    assert drain() == {"asked": 1}
