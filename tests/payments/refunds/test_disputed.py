"""Disputes take a payment's room and give it back; the order does not move."""

from itertools import permutations
from typing import Any

import pytest

from orders.money import Money
from outbox.models import Event
from payments.callback import Callback, Kind
from payments.models import ProviderAccount, ProviderTransaction
from payments.refunds.carry_out import carry_out
from payments.refunds.request import RefundExceeds
from tests.concurrency.deeds import close, place
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.refunds.asking import ask, events_of, paid_order, reasons, room_of
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    paid_order(account)
    return account


def dispute(
    kind: Kind, amount_minor: int | None = 7_000, number: str = "du_1", **values: Any
) -> Callback:
    money = None if amount_minor is None else Money(amount_minor, "USD")
    usual = {"txn_no": number, "money": money, "reverses": "pi_1001", "order_no": None}
    return callback(kind, **usual | values)


OPENED, WON, LOST = Kind.DISPUTED, Kind.DISPUTE_WON, Kind.DISPUTE_LOST


def outcomes(account: ProviderAccount, *told: Callback) -> list[str]:
    verdicts = [tell_one(account, one) for one in told]
    assert_books_balance()
    return [f"{v.outcome} {v.reason}".strip() for v in verdicts]


def states() -> list[str]:
    events = Event.objects.filter(type="payment.disputed").order_by("seq")
    return [event.payload["state"] for event in events]


def test_a_dispute_takes_the_room_and_won_gives_it_back(account: ProviderAccount) -> None:
    ask(account, "R-1", 3_000)
    carry_out(ProviderDouble(), now=NOW)

    assert outcomes(account, dispute(OPENED), dispute(OPENED)) == ["APPLIED", "DUPLICATE"]
    assert room_of() == (3_000, 3_000, 7_000)
    with pytest.raises(RefundExceeds):
        ask(account, "R-2", 1)

    assert outcomes(account, dispute(WON), dispute(WON)) == ["APPLIED", "DUPLICATE"]
    assert room_of() == (3_000, 3_000, 0)
    assert ask(account, "R-2").amount_minor == 7_000

    order = account.merchant.orders.get()
    assert (order.status, order.refunded_minor, order.version) == ("PAID", 3_000, 2)
    assert states() == ["OPEN", "WON"]
    assert events_of("payment") == [("payment.disputed", 1), ("payment.disputed", 2)]
    kinds = ProviderTransaction.objects.exclude(kind="PAYMENT").order_by("pk")
    assert [row.kind for row in kinds] == ["REFUND", "CHARGEBACK", "CHARGEBACK_REVERSAL"]
    assert {row.reverses.txn_no for row in kinds if row.reverses} == {"pi_1001"}


def test_lost_is_told_and_takes_nothing_again(account: ProviderAccount) -> None:
    told = [dispute(OPENED), dispute(LOST), dispute(LOST), dispute(OPENED)]

    assert outcomes(account, *told) == ["APPLIED", "APPLIED", "DUPLICATE", "DUPLICATE"]
    assert room_of() == (0, 0, 7_000)
    assert states() == ["OPEN", "LOST"]


def test_lost_alone_takes(account: ProviderAccount) -> None:
    assert outcomes(account, dispute(LOST)) == ["APPLIED"]
    assert room_of() == (0, 0, 7_000)


def test_a_second_chargeback_takes_again_what_was_won(account: ProviderAccount) -> None:
    outcomes(account, dispute(OPENED), dispute(WON), dispute(LOST))

    assert room_of() == (0, 0, 7_000)
    assert states() == ["OPEN", "WON", "LOST"]


def test_a_dispute_of_another_number_after_a_reversal_takes_as_well(
    account: ProviderAccount,
) -> None:
    outcomes(account, dispute(OPENED), dispute(WON), dispute(OPENED, 10_000, "du_2"))

    assert room_of() == (0, 0, 10_000)


@pytest.mark.parametrize("kinds", list(permutations((OPENED, WON))))
def test_won_ends_with_the_room_free_in_any_order(
    account: ProviderAccount, kinds: tuple[Kind, ...]
) -> None:
    outcomes(account, *map(dispute, kinds), *map(dispute, kinds))
    assert room_of() == (0, 0, 0)


@pytest.mark.parametrize("kinds", list(permutations((OPENED, WON, LOST))))
def test_lost_ends_with_the_room_taken_in_any_order(
    account: ProviderAccount, kinds: tuple[Kind, ...]
) -> None:
    outcomes(account, *map(dispute, kinds), *map(dispute, kinds))
    assert room_of() == (0, 0, 7_000)


def test_a_dispute_without_an_amount_is_about_all_that_is_left(account: ProviderAccount) -> None:
    ask(account, "R-1", 3_000)
    assert outcomes(account, dispute(OPENED, None)) == ["APPLIED"]
    assert room_of() == (3_000, 0, 7_000)
    assert outcomes(account, dispute(WON, None)) == ["APPLIED"]
    assert room_of() == (3_000, 0, 0)


def test_a_dispute_about_more_than_is_left_takes_what_there_is_and_asks(
    account: ProviderAccount,
) -> None:
    ask(account, "R-1", 3_000)

    assert outcomes(account, dispute(OPENED, 10_000)) == ["CONFLICT REVERSAL_EXCEEDS_PAYMENT"]
    assert room_of() == (3_000, 0, 7_000)
    assert outcomes(account, dispute(WON, 10_000)) == ["APPLIED"]
    assert room_of() == (3_000, 0, 0)
    assert reasons() == ["REVERSAL_EXCEEDS_PAYMENT"]


def test_a_dispute_does_not_open_what_is_closed_or_refunded(account: ProviderAccount) -> None:
    ask(account, "R-1")
    carry_out(ProviderDouble(), now=NOW)
    assert outcomes(account, dispute(OPENED)) == ["CONFLICT REVERSAL_EXCEEDS_PAYMENT"]
    assert account.merchant.orders.get().status == "REFUNDED"

    place(account.merchant, "1002", 10_000)
    close(account.merchant, "1002")
    tell_one(account, callback(order_no="1002", txn_no="pi_late", amount_minor=10_000))
    assert outcomes(account, dispute(OPENED, 10_000, "du_2", reverses="pi_late")) == ["APPLIED"]
    assert account.merchant.orders.get(order_no="1002").status == "CLOSED"
    assert room_of("pi_late") == (0, 0, 10_000)


def test_a_refund_from_outside_a_dispute_that_is_won_and_what_is_left(
    account: ProviderAccount,
) -> None:
    refund = callback(
        Kind.REFUNDED,
        txn_no="re_1",
        money=Money(3_000, "USD"),
        reverses="pi_1001",
        order_no=None,
    )
    assert outcomes(account, dispute(OPENED), refund, dispute(WON)) == ["APPLIED"] * 3
    assert room_of() == (3_000, 3_000, 0)
    assert reasons() == ["EXTERNAL_REFUND"]
    assert states() == ["OPEN", "WON"]


@pytest.mark.parametrize("told", list(permutations(("order", "paid", "opened", "won"))))
def test_a_dispute_may_come_before_its_payment(
    account: ProviderAccount, told: tuple[str, ...]
) -> None:
    about: dict[str, Any] = {"reverses": "pi_2", "number": "du_2"}
    for name in told:
        match name:
            case "order":
                place(account.merchant, "1002", 10_000)
            case "paid":
                outcomes(account, callback(order_no="1002", txn_no="pi_2", amount_minor=10_000))
            case "opened":
                outcomes(account, dispute(OPENED, **about))
            case _:
                outcomes(account, dispute(WON, **about))

    assert account.merchant.orders.get(order_no="1002").status == "PAID"
    assert room_of("pi_2") == (0, 0, 0)
    assert sorted(states()) == ["OPEN", "WON"]
    assert reasons() == []
