"""What the database decides when several ask for the same order at once."""

from collections import Counter
from datetime import UTC, datetime
from functools import partial

import pytest
from django.db import transaction

from orders import lookup, paying
from orders.closing import NotClosable, close
from orders.expiry import expire_due
from orders.models import Merchant, Order, OrderStatus
from orders.money import Money
from orders.place import OrderExists, place
from outbox.models import Event
from tests.concurrency.crew import Crew
from tests.factories import MerchantFactory, OrderFactory
from tests.orders.client import ApiClient, problem

pytestmark = pytest.mark.django_db(transaction=True)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CALLERS = 20


def nothing(order: Order, now: datetime) -> None:
    """No money waits for the order."""


def placing(merchant: Merchant, order_no: str, amount_minor: int) -> str:
    try:
        placed = place(
            merchant=merchant,
            order_no=order_no,
            money=Money(amount_minor, "USD"),
            expires_at=None,
            payable_through="",
            now=NOW,
            on_placed=nothing,
        )
    except OrderExists:
        return "refused"
    return "repeated" if placed.repeated else "placed"


def test_one_order_placed_many_times_at_once_is_one_order(threads: Crew) -> None:
    merchant = MerchantFactory.create()

    for number in range(20):
        answers = threads.race(*[partial(placing, merchant, f"A-{number}", 1099)] * CALLERS)

        assert Counter(answers) == {"placed": 1, "repeated": CALLERS - 1}
    assert Order.objects.count() == 20


def test_many_contents_for_one_number_at_once_have_one_winner(threads: Crew) -> None:
    merchant = MerchantFactory.create()

    for number in range(20):
        answers = threads.race(
            *[partial(placing, merchant, f"A-{number}", amount + 1) for amount in range(CALLERS)]
        )

        assert Counter(answers) == {"placed": 1, "refused": CALLERS - 1}
        winner = Order.objects.get(order_no=f"A-{number}")
        assert answers[winner.amount_minor - 1] == "placed"


def test_over_http_all_callers_get_the_same_answer(threads: Crew) -> None:
    api = ApiClient()
    content = {"order_no": "A-1", "amount": {"amount_minor": 1099, "currency": "USD"}}

    responses = threads.race(*[partial(api.post, "/v1/orders", content)] * CALLERS)

    assert {(response.status_code, response.content) for response in responses} == {
        (201, responses[0].content)
    }
    replayed = Counter(response.headers.get("Idempotent-Replayed") for response in responses)
    assert replayed == {None: 1, "true": CALLERS - 1}


def test_over_http_the_losers_are_told_that_the_number_is_taken(threads: Crew) -> None:
    api = ApiClient()
    contents = [
        {"order_no": "A-1", "amount": {"amount_minor": amount, "currency": "USD"}}
        for amount in range(1, CALLERS + 1)
    ]

    responses = threads.race(*[partial(api.post, "/v1/orders", content) for content in contents])

    losers = [response for response in responses if response.status_code != 201]
    assert [problem(loser) for loser in losers] == [(409, "order-exists")] * (CALLERS - 1)
    assert Order.objects.count() == 1


def test_two_closings_at_once_close_once_and_answer_the_same(threads: Crew) -> None:
    merchant = MerchantFactory.create()

    for number in range(200):
        OrderFactory.create(merchant=merchant, order_no=f"A-{number}")
        closing = partial(close, merchant=merchant, order_no=f"A-{number}", now=NOW)

        one, other = threads.race(closing, closing)

        assert (one.closed_at, one.version) == (other.closed_at, other.version) == (NOW, 1)
    assert Event.objects.count() == 200


def test_of_a_closing_and_a_payment_at_once_one_wins_and_is_told(threads: Crew) -> None:
    merchant = MerchantFactory.create()

    for number in range(200):
        OrderFactory.create(merchant=merchant, order_no=f"A-{number}")

        closed, paid = threads.race(
            partial(_closes, merchant, f"A-{number}"), partial(_pays, merchant, f"A-{number}")
        )

        assert closed is not paid
        order = Order.objects.get(order_no=f"A-{number}")
        assert order.status == (OrderStatus.PAID if paid else OrderStatus.CLOSED)
    _assert_each_order_moved_once_and_was_told()


def test_orders_that_are_paid_while_they_expire_end_in_one_way(threads: Crew) -> None:
    merchant = MerchantFactory.create()
    numbers = [f"A-{number}" for number in range(200)]
    for number in numbers:
        OrderFactory.create(merchant=merchant, order_no=number, expires_at=NOW)

    expired, *paid = threads.race(
        partial(expire_due, now=NOW, batch_size=3),
        lambda: sum(_pays(merchant, number) for number in numbers[::-2]),
        lambda: sum(_pays(merchant, number) for number in numbers[::-3]),
    )

    # What was held by a payment while the batch was chosen is left to the next run.
    expired += expire_due(now=NOW)
    assert expired + sum(paid) == 200
    _assert_each_order_moved_once_and_was_told()


def test_two_processes_that_expire_at_once_share_the_work_and_tell_each_order_once(
    processes: Crew,
) -> None:
    OrderFactory.create_batch(1000, merchant=MerchantFactory.create(), expires_at=NOW)

    expiring = partial(expire_due, now=NOW, batch_size=5, batches_max=1000)
    closed = processes.race(expiring, expiring)

    assert sum(closed) == 1000
    assert min(closed) > 0
    _assert_each_order_moved_once_and_was_told()


def _closes(merchant: Merchant, order_no: str) -> bool:
    try:
        close(merchant=merchant, order_no=order_no, now=NOW)
    except NotClosable:
        return False
    return True


@transaction.atomic(durable=True)
def _pays(merchant: Merchant, order_no: str) -> bool:
    owed = lookup.find(merchant.pk, order_no)
    assert owed is not None
    return paying.pay(owed, merchant_code=merchant.code, txn_no="txn-1", paid_at=NOW, now=NOW)


def _assert_each_order_moved_once_and_was_told() -> None:
    told = Event.objects.values_list("aggregate_id", "seq", "type")
    moved = Order.objects.values_list("merchant__code", "order_no", "version", "status")
    assert sorted(told) == sorted(
        (f"{merchant}/{order_no}", version, f"order.{status.lower()}")
        for merchant, order_no, version, status in moved
    )
    assert set(Order.objects.values_list("version", flat=True)) == {1}
