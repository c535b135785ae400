"""Payments for orders that are not there yet."""

from datetime import timedelta
from functools import partial

import pytest

from orders.models import Merchant, Order, OrderStatus
from orders.money import Money
from orders.place import place
from outbox.models import Event
from payments import parked
from payments import sweep as sweeping
from payments.callback import Outcome
from payments.models import Conflict, ConflictStatus, Disposition, ProviderTransaction
from tests.factories import MerchantFactory, OrderFactory, ProviderAccountFactory
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db(transaction=True)

GRACE = timedelta(minutes=15)
sweep = partial(sweeping.sweep, grace=GRACE)


def place_order(merchant: Merchant, order_no: str = "1001", amount_minor: int = 1099) -> Order:
    return place(
        merchant=merchant,
        order_no=order_no,
        money=Money(amount_minor, "USD"),
        expires_at=None,
        payable_through="",
        now=NOW,
        on_placed=parked.apply_to,
    ).order


def test_an_order_that_appears_is_paid_in_its_own_transaction() -> None:
    account = ProviderAccountFactory.create()
    assert tell_one(account, callback(txn_no="pi_1")).outcome == Outcome.PARKED

    order = place_order(account.merchant)

    assert (order.status, order.paid_txn_no) == (OrderStatus.PAID, "pi_1")
    transaction = ProviderTransaction.objects.get()
    assert (transaction.disposition, transaction.order) == (Disposition.APPLIED, order)
    assert Event.objects.get().type == "order.paid"
    assert not Conflict.objects.exists()


def test_an_order_of_another_amount_is_placed_and_the_money_is_held() -> None:
    account = ProviderAccountFactory.create()
    tell_one(account, callback(amount_minor=1000))

    order = place_order(account.merchant)

    assert order.status == OrderStatus.WAIT_PAY
    assert ProviderTransaction.objects.get().disposition == Disposition.HELD
    conflict = Conflict.objects.get()
    assert (conflict.reason, conflict.order) == ("AMOUNT_MISMATCH", order)
    assert (conflict.expected["amount_minor"], conflict.received["amount_minor"]) == (1099, 1000)


def test_of_two_parked_payments_one_pays_and_the_other_is_a_duplicate() -> None:
    account = ProviderAccountFactory.create()
    for txn_no in ("pi_1", "pi_2"):
        tell_one(account, callback(txn_no=txn_no))

    order = place_order(account.merchant)

    assert order.paid_txn_no == "pi_1"
    assert Conflict.objects.get().reason == "DUPLICATE_PAYMENT"
    assert Conflict.objects.get().expected["paid_txn_no"] == "pi_1"


def test_an_order_of_another_merchant_takes_nothing() -> None:
    account = ProviderAccountFactory.create()
    tell_one(account, callback())

    order = place_order(MerchantFactory.create())

    assert order.status == OrderStatus.WAIT_PAY
    assert ProviderTransaction.objects.get().disposition == Disposition.PARKED


def test_the_sweep_applies_what_the_creation_missed() -> None:
    account = ProviderAccountFactory.create()
    tell_one(account, callback())
    # As if another program had inserted the order.
    order = OrderFactory.create(merchant=account.merchant, order_no="1001", amount_minor=1099)

    swept = [sweep(now=NOW) for _ in range(2)]

    order.refresh_from_db()
    assert [(s.applied, s.conflicts) for s in swept] == [(1, 0), (0, 0)]
    assert order.status == OrderStatus.PAID


def test_after_the_grace_time_a_person_is_asked_once() -> None:
    account = ProviderAccountFactory.create()
    tell_one(account, callback())

    before = sweep(now=NOW + GRACE - timedelta(seconds=1))
    after = [sweep(now=NOW + GRACE + timedelta(minutes=n)) for n in range(3)]

    assert (before.conflicts, [s.conflicts for s in after]) == (0, [1, 0, 0])
    assert Conflict.objects.get().reason == "ORDER_NOT_FOUND"
    assert ProviderTransaction.objects.get().disposition == Disposition.PARKED


def test_a_payment_without_an_order_number_is_asked_about_too() -> None:
    account = ProviderAccountFactory.create()
    tell_one(account, callback(order_no=None))

    assert sweep(now=NOW + GRACE).conflicts == 1


def test_an_order_that_appears_after_the_question_answers_it() -> None:
    account = ProviderAccountFactory.create()
    tell_one(account, callback())
    sweep(now=NOW + GRACE)

    order = place_order(account.merchant)

    assert order.status == OrderStatus.PAID
    conflict = Conflict.objects.get()
    assert (conflict.status, conflict.resolution) == (
        ConflictStatus.RESOLVED,
        "the order appeared",
    )
    told = Event.objects.filter(aggregate_type="conflict").order_by("seq")
    assert [(e.type, e.seq) for e in told] == [("conflict.opened", 1), ("conflict.resolved", 2)]


def test_one_sweep_is_bounded_and_the_next_goes_on() -> None:
    account = ProviderAccountFactory.create()
    for number in range(5):
        tell_one(account, callback(order_no=f"none-{number}"))

    assert [sweep(now=NOW + GRACE, limit=2).conflicts for _ in range(4)] == [2, 2, 1, 0]
