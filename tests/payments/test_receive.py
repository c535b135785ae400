"""The table "what becomes of an authentic callback", row by row."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from orders.models import Order, OrderStatus
from orders.money import Money
from outbox.models import Event
from payments.callback import Kind, Outcome, Reading, Unreadable
from payments.models import Conflict, Delivery, Disposition, ProviderAccount, ProviderTransaction
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.payments.telling import NOW, callback, tell, tell_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(account_no="acct_1", live=True)


@pytest.fixture
def order(account: ProviderAccount) -> Order:
    return OrderFactory.create(
        merchant=account.merchant, order_no="1001", amount_minor=1099, currency="USD"
    )


def events() -> list[tuple[str, str, int]]:
    return list(Event.objects.order_by("created_at").values_list("type", "aggregate_type", "seq"))


def test_a_payment_that_agrees_pays_the_order_and_tells_it_once(
    account: ProviderAccount, order: Order
) -> None:
    verdict = tell_one(account, callback(txn_no="pi_1", occurred_at=NOW - timedelta(minutes=1)))

    order.refresh_from_db()
    assert (verdict.outcome, verdict.reason) == (Outcome.APPLIED, "")
    assert (order.status, order.paid_txn_no, order.version) == (OrderStatus.PAID, "pi_1", 1)
    assert order.paid_at == NOW - timedelta(minutes=1)
    transaction = ProviderTransaction.objects.get()
    assert (transaction.disposition, transaction.order) == (Disposition.APPLIED, order)
    assert (transaction.amount_minor, transaction.currency) == (1099, "USD")
    event = Event.objects.get()
    assert (event.type, event.seq, event.created_at) == ("order.paid", 1, NOW)
    assert event.aggregate_id == f"{account.merchant.code}/1001"
    assert event.payload["paid_txn_no"] == "pi_1"
    delivery = Delivery.objects.get()
    assert (delivery.transaction, bytes(delivery.body or b"")) == (transaction, b"{}")
    assert not Conflict.objects.exists()


def test_a_payment_without_a_time_is_paid_when_it_was_received(
    account: ProviderAccount, order: Order
) -> None:
    tell_one(account, callback(occurred_at=None))

    order.refresh_from_db()
    assert order.paid_at == NOW
    assert ProviderTransaction.objects.get().occurred_at_is_stated is False


def test_a_repeat_writes_a_delivery_and_nothing_else(
    account: ProviderAccount, order: Order
) -> None:
    told = callback()
    first, second = tell_one(account, told), tell_one(account, told)

    assert (first.outcome, second.outcome) == (Outcome.APPLIED, Outcome.DUPLICATE)
    assert second.transaction_id == first.transaction_id
    assert Delivery.objects.count() == 2
    assert ProviderTransaction.objects.count() == 1
    assert events() == [("order.paid", "order", 1)]
    assert not Conflict.objects.exists()


ALTERED: dict[str, dict[str, Any]] = {
    "another amount": {"money": Money(1000, "USD")},
    "another currency": {"money": Money(1099, "EUR")},
    "another order": {"order_no": "1002"},
    "another account": {"account_no": "acct_2"},
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED.keys())
def test_the_same_transaction_with_another_meaning_is_a_conflict_and_binds_nothing(
    account: ProviderAccount, order: Order, change: dict[str, Any]
) -> None:
    other = OrderFactory.create(merchant=account.merchant, order_no="1002", amount_minor=1099)
    tell_one(account, callback(txn_no="pi_7"))

    altered = callback(txn_no="pi_7", **change)
    verdicts = [tell_one(account, altered) for _ in range(2)]

    assert [v.reason for v in verdicts] == ["TRANSACTION_ALTERED"] * 2
    conflict = Conflict.objects.get()
    assert (conflict.reason, conflict.severity) == ("TRANSACTION_ALTERED", "PAGE")
    assert (conflict.expected["order_no"], conflict.expected["amount_minor"]) == ("1001", 1099)
    assert conflict.received["order_no"] == altered.order_no
    assert conflict.delivery_id == verdicts[0].delivery_id
    other.refresh_from_db()
    assert other.status == OrderStatus.WAIT_PAY
    assert ProviderTransaction.objects.count() == 1
    assert events() == [("order.paid", "order", 1), ("conflict.opened", "conflict", 1)]


def test_two_different_alterations_ask_twice(account: ProviderAccount, order: Order) -> None:
    tell_one(account, callback(txn_no="pi_7"))
    for amount_minor in (1, 2):
        tell_one(account, callback(txn_no="pi_7", amount_minor=amount_minor))

    assert Conflict.objects.count() == 2


MISMATCHES: dict[str, tuple[dict[str, Any], str]] = {
    "one cent less": ({"money": Money(1098, "USD")}, "AMOUNT_MISMATCH"),
    "one cent more": ({"money": Money(1100, "USD")}, "AMOUNT_MISMATCH"),
    "one cent": ({"money": Money(1, "USD")}, "AMOUNT_MISMATCH"),
    "a weak currency": ({"money": Money(1099, "VND")}, "CURRENCY_MISMATCH"),
    "the amount of another exponent": ({"money": Money(1099, "JPY")}, "CURRENCY_MISMATCH"),
    "another merchant's account": ({"account_no": "acct_2"}, "MERCHANT_MISMATCH"),
}


@pytest.mark.parametrize(("change", "reason"), MISMATCHES.values(), ids=MISMATCHES.keys())
def test_money_that_disagrees_is_held_for_a_person(
    account: ProviderAccount, order: Order, change: dict[str, Any], reason: str
) -> None:
    told = callback(**change)
    verdicts = [tell_one(account, told) for _ in range(2)]

    assert [(v.outcome, v.reason) for v in verdicts] == [
        (Outcome.CONFLICT, reason),
        (Outcome.DUPLICATE, ""),
    ]
    order.refresh_from_db()
    assert order.status == OrderStatus.WAIT_PAY
    transaction = ProviderTransaction.objects.get()
    assert (transaction.disposition, transaction.order) == (Disposition.HELD, None)
    assert told.money is not None
    assert transaction.amount_minor == told.money.amount_minor
    conflict = Conflict.objects.get()
    assert (conflict.reason, conflict.severity, conflict.order) == (reason, "PAGE", order)
    assert conflict.due_at == NOW + timedelta(hours=1)
    assert (conflict.expected["amount_minor"], conflict.expected["currency"]) == (1099, "USD")
    assert conflict.expected["account_no"] == "acct_1"
    assert conflict.received["amount_minor"] == told.money.amount_minor
    assert conflict.received["currency"] == told.money.currency
    assert events() == [("conflict.opened", "conflict", 1)]


def test_after_a_wrong_amount_the_right_one_still_pays(
    account: ProviderAccount, order: Order
) -> None:
    outcomes = [
        tell_one(account, callback(amount_minor=amount)).outcome for amount in (549, 550, 1099)
    ]

    order.refresh_from_db()
    assert outcomes == [Outcome.CONFLICT, Outcome.CONFLICT, Outcome.APPLIED]
    assert order.status == OrderStatus.PAID
    assert ProviderTransaction.objects.count() == 3


NO_MONEY: dict[str, dict[str, Any]] = {
    "zero": {"money": Money(0, "USD")},
    "less than zero": {"money": Money(-1099, "USD")},
    "a fraction of a cent": {"money": None, "stated_amount": "10.991 USD"},
}


@pytest.mark.parametrize("change", NO_MONEY.values(), ids=NO_MONEY.keys())
def test_an_amount_that_cannot_be_money_received_is_a_conflict_without_a_ledger_row(
    account: ProviderAccount, order: Order, change: dict[str, Any]
) -> None:
    told = callback(**change)
    verdicts = [tell_one(account, told) for _ in range(2)]

    assert {(v.outcome, v.reason) for v in verdicts} == {(Outcome.CONFLICT, "AMOUNT_MISMATCH")}
    assert Conflict.objects.get().received["stated_amount"] == (
        told.stated_amount or str(told.money)
    )
    assert not ProviderTransaction.objects.exists()
    order.refresh_from_db()
    assert order.status == OrderStatus.WAIT_PAY


def test_an_order_that_names_an_account_is_not_paid_through_another(
    account: ProviderAccount,
) -> None:
    order = OrderFactory.create(
        merchant=account.merchant, order_no="1001", amount_minor=1099, payable_through="stripe/xx"
    )
    verdict = tell_one(account, callback())

    order.refresh_from_db()
    assert (verdict.reason, order.status) == ("MERCHANT_MISMATCH", OrderStatus.WAIT_PAY)
    assert Conflict.objects.get().expected["payable_through"] == "stripe/xx"


def test_an_order_of_another_merchant_is_not_found(account: ProviderAccount) -> None:
    foreign = OrderFactory.create(order_no="1001", amount_minor=1099)
    verdict = tell_one(account, callback())

    foreign.refresh_from_db()
    assert (verdict.outcome, foreign.status) == (Outcome.PARKED, OrderStatus.WAIT_PAY)


LATE: dict[str, tuple[Callable[[Order], object], str, str]] = {
    "closed": (
        lambda order: Order.objects.filter(pk=order.pk).update(status="CLOSED", closed_at=NOW),
        "LATE_PAYMENT",
        "CLOSED",
    ),
    "paid by another transaction": (
        lambda order: Order.objects.filter(pk=order.pk).update(
            status="PAID", paid_at=NOW, paid_txn_no="pi_0"
        ),
        "DUPLICATE_PAYMENT",
        "PAID",
    ),
    "refunded": (
        lambda order: Order.objects.filter(pk=order.pk).update(
            status="REFUNDED", paid_at=NOW, paid_txn_no="pi_0", refunded_minor=1099
        ),
        "DUPLICATE_PAYMENT",
        "REFUNDED",
    ),
}


@pytest.mark.parametrize(("move", "reason", "status"), LATE.values(), ids=LATE.keys())
def test_money_for_an_order_that_cannot_take_it_is_held_and_the_order_stays(
    account: ProviderAccount,
    order: Order,
    move: Callable[[Order], object],
    reason: str,
    status: str,
) -> None:
    move(order)
    verdict = tell_one(account, callback())

    order.refresh_from_db()
    assert (verdict.outcome, verdict.reason) == (Outcome.CONFLICT, reason)
    assert order.status == status
    assert ProviderTransaction.objects.get().disposition == Disposition.HELD
    conflict = Conflict.objects.get()
    assert (conflict.reason, conflict.severity) == (reason, "TICKET")
    assert conflict.expected["order_status"] == status
    assert events() == [("conflict.opened", "conflict", 1)]


def test_a_second_payment_through_another_provider_is_kept_with_its_own_amount(
    account: ProviderAccount, order: Order
) -> None:
    other = ProviderAccountFactory.create(merchant=account.merchant, live=True)
    tell_one(account, callback(txn_no="pi_1"))
    verdict = tell_one(other, callback(txn_no="pi_1"))

    assert verdict.reason == "DUPLICATE_PAYMENT"
    assert [t.amount_minor for t in ProviderTransaction.objects.all()] == [1099, 1099]
    assert Conflict.objects.get().expected["paid_txn_no"] == "pi_1"


@pytest.mark.parametrize(("live", "stated"), [(True, False), (False, True)])
def test_an_event_of_the_other_mode_is_quarantined(*, live: bool, stated: bool) -> None:
    account = ProviderAccountFactory.create(live=live)
    order = OrderFactory.create(merchant=account.merchant, order_no="1001", amount_minor=1099)
    verdict = tell_one(account, callback(live=stated))

    order.refresh_from_db()
    assert (verdict.outcome, verdict.reason) == (Outcome.QUARANTINED, "WRONG_MODE")
    assert order.status == OrderStatus.WAIT_PAY
    assert not ProviderTransaction.objects.exists()


def test_test_and_live_accounts_keep_the_same_transaction_number_apart() -> None:
    live = ProviderAccountFactory.create(account_no="acct_1", live=True)
    test = ProviderAccountFactory.create(account_no="acct_1", live=False, merchant=live.merchant)
    told = callback(order_no="none", txn_no="pi_1")

    assert tell_one(live, told).outcome == tell_one(test, told).outcome == Outcome.PARKED
    assert ProviderTransaction.objects.count() == 2


def test_what_cannot_be_read_is_quarantined_with_its_reason(account: ProviderAccount) -> None:
    verdict = tell_one(account, Unreadable("data.amount is not a number", event_id="evt_1"))

    assert (verdict.outcome, verdict.reason) == (Outcome.QUARANTINED, "UNREADABLE")
    delivery = Delivery.objects.get()
    assert (delivery.detail, delivery.event_id) == ("data.amount is not a number", "evt_1")
    assert events() == []


@pytest.mark.parametrize("kind", [Kind.AUTHORIZED, Kind.PENDING, Kind.FAILED, Kind.CLOSED])
def test_what_is_not_yet_or_never_paid_is_recorded_and_stale_after_success(
    account: ProviderAccount, order: Order, kind: Kind
) -> None:
    before = tell_one(account, callback(kind, txn_no="pi_2"))
    paid = tell_one(account, callback(txn_no="pi_2"))
    after = tell_one(account, callback(kind, txn_no="pi_2", occurred_at=NOW - timedelta(days=1)))
    attempt = tell_one(account, callback(kind, txn_no="ch_1", linked_nos=("pi_2", "ch_1")))
    other = tell_one(account, callback(kind, txn_no="pi_1"))

    order.refresh_from_db()
    assert [(v.outcome, v.reason) for v in (before, paid, after, attempt, other)] == [
        (Outcome.RECORDED, ""),
        (Outcome.APPLIED, ""),
        (Outcome.RECORDED, "STALE"),
        (Outcome.RECORDED, "STALE"),
        (Outcome.RECORDED, ""),
    ]
    assert order.status == OrderStatus.PAID
    assert events() == [("order.paid", "order", 1)]
    assert not Conflict.objects.exists()


def test_an_unknown_event_is_ignored_and_kept(account: ProviderAccount) -> None:
    verdict = tell_one(account, callback(Kind.IGNORED, event_type="brand.new_thing_2027"))

    assert verdict.outcome == Outcome.IGNORED
    assert Delivery.objects.get().event_type == "brand.new_thing_2027"


def test_a_batch_is_one_transaction_whose_bytes_are_kept_once(account: ProviderAccount) -> None:
    for number in ("B-1", "B-2"):
        OrderFactory.create(merchant=account.merchant, order_no=number, amount_minor=1099)
    verdicts = tell(
        account,
        callback(order_no="B-2"),
        Unreadable("no amount"),
        callback(order_no="B-1", amount_minor=1),
        callback(Kind.IGNORED),
    )

    assert [v.outcome for v in verdicts] == [
        *(Outcome.APPLIED, Outcome.QUARANTINED, Outcome.CONFLICT, Outcome.IGNORED)
    ]
    deliveries = Delivery.objects.order_by("item_no")
    assert [d.item_no for d in deliveries] == [0, 1, 2, 3]
    assert len({d.batch_id for d in deliveries}) == 1
    assert [d.body is None for d in deliveries] == [False, True, True, True]
    assert [d.id for d in deliveries] == [v.delivery_id for v in verdicts]


def test_events_of_one_payment_in_any_order_pay_once_though_only_one_names_the_order(
    account: ProviderAccount, order: Order
) -> None:
    nameless = callback(txn_no="pi_1", order_no=None)
    named = callback(txn_no="pi_1")

    outcomes = [tell_one(account, told).outcome for told in (nameless, named, nameless)]

    order.refresh_from_db()
    assert outcomes == [Outcome.PARKED, Outcome.APPLIED, Outcome.DUPLICATE]
    assert order.status == OrderStatus.PAID
    transaction = ProviderTransaction.objects.get()
    assert (transaction.order_no, transaction.disposition) == ("1001", Disposition.APPLIED)
    assert events() == [("order.paid", "order", 1)]
    assert not Conflict.objects.exists()


def test_a_nameless_payment_that_gets_the_number_of_an_unknown_order_waits_for_it(
    account: ProviderAccount,
) -> None:
    tell_one(account, callback(txn_no="pi_1", order_no=None))
    verdict = tell_one(account, callback(txn_no="pi_1", order_no="later"))

    assert verdict.outcome == Outcome.DUPLICATE
    transaction = ProviderTransaction.objects.get()
    assert (transaction.order_no, transaction.disposition) == ("later", Disposition.PARKED)


def test_every_delivery_has_exactly_one_outcome(account: ProviderAccount, order: Order) -> None:
    told: list[Reading] = [
        *(callback(), callback(), callback(amount_minor=1), callback(order_no="none")),
        callback(money=None),
        *(callback(kind) for kind in Kind if kind is not Kind.PAID),
        Unreadable("x"),
    ]
    for reading in [*told, *told]:
        tell_one(account, reading)

    assert Delivery.objects.count() == 2 * len(told)
    counted = {
        outcome: Delivery.objects.filter(outcome=str(outcome)).count() for outcome in Outcome
    }
    assert sum(counted.values()) == 2 * len(told)
    assert all(counted.values())
