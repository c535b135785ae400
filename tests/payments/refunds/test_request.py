"""Asking for a refund: the room of the payment decides, in one transaction with the refund."""

import pytest
from django.db import IntegrityError, connection

from orders.models import OrderStatus
from orders.money import Money
from payments.models import ProviderAccount, ProviderTransaction, Refund, RefundStatus
from payments.refunds import request as asking_for
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.refunds.asking import ask, asked, events_of, paid_order, room_of
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    paid_order(account)
    return account


def test_a_refund_reserves_its_room_and_is_told(account: ProviderAccount) -> None:
    refund = ask(account, "R-1", 3_000, reason="returned")

    assert (refund.status, refund.amount_minor, refund.currency) == ("REQUESTED", 3_000, "USD")
    assert refund.order is not None
    assert refund.order.order_no == "1001"
    assert room_of() == (3_000, 0, 0)
    assert events_of() == [("refund.requested", 1)]
    assert_books_balance()


def test_without_an_amount_all_that_is_left_goes_back(account: ProviderAccount) -> None:
    ask(account, "R-1", 3_000)

    assert ask(account, "R-2").amount_minor == 7_000
    assert room_of() == (10_000, 0, 0)


def test_more_than_is_left_is_refused_and_leaves_nothing(account: ProviderAccount) -> None:
    ask(account, "R-1", 6_000)

    with pytest.raises(asking_for.RefundExceeds) as refusal:
        ask(account, "R-2", 4_001)

    assert refusal.value.left == Money(4_000, "USD")
    assert room_of() == (6_000, 0, 0)
    assert Refund.objects.count() == 1
    assert ask(account, "R-2", 4_000).amount_minor == 4_000


@pytest.mark.parametrize("amount_minor", [-500, 0, 10_001, 2**63 - 1])
def test_no_impossible_amount_is_taken(account: ProviderAccount, amount_minor: int) -> None:
    with pytest.raises(asking_for.RefundExceeds):
        ask(account, "R-1", amount_minor)
    assert room_of() == (0, 0, 0)


def test_the_same_again_is_the_same_refund(account: ProviderAccount) -> None:
    first = ask(account, "R-1", 3_000, reason="returned")
    again = asking_for.request(
        merchant=account.merchant, asked=asked("R-1", 3_000, reason="returned"), now=NOW
    )

    assert again.repeated
    assert again.refund.pk == first.pk
    assert room_of() == (3_000, 0, 0)


@pytest.mark.parametrize(
    ("wish", "differing"),
    [
        (asked("R-1", 3_001), ("amount",)),
        (asked("R-1"), ("amount",)),
        (asked("R-1", 3_000, order_no="1002"), ("order_no",)),
        (asked("R-1", 3_000, payment="pi_2"), ("payment",)),
        (asked("R-1", 3_000, reason="other"), ("reason",)),
    ],
)
def test_the_same_number_with_other_content_is_refused(
    account: ProviderAccount, wish: asking_for.Asked, differing: tuple[str, ...]
) -> None:
    ask(account, "R-1", 3_000)

    with pytest.raises(asking_for.RefundExists) as refusal:
        asking_for.request(merchant=account.merchant, asked=wish, now=NOW)

    assert refusal.value.differing == differing
    assert room_of() == (3_000, 0, 0)


def test_only_what_was_paid_can_go_back(account: ProviderAccount) -> None:
    OrderFactory.create(merchant=account.merchant, order_no="unpaid")

    with pytest.raises(asking_for.NoSuchOrder):
        ask(account, "R-1", 1, order_no="absent")
    with pytest.raises(asking_for.NotRefundable, match="no payment has paid order unpaid"):
        ask(account, "R-1", 1, order_no="unpaid")
    with pytest.raises(asking_for.NotRefundable, match="pi_9 is no payment of order 1001"):
        ask(account, "R-1", 1, payment="pi_9")
    with pytest.raises(asking_for.NotRefundable, match="in USD"):
        asking_for.request(
            merchant=account.merchant,
            asked=asking_for.Asked(order_no="1001", refund_no="R-1", money=Money(1, "EUR")),
            now=NOW,
        )
    assert not Refund.objects.exists()


def test_another_merchants_order_does_not_exist(account: ProviderAccount) -> None:
    stranger = ProviderAccountFactory.create()

    with pytest.raises(asking_for.NoSuchOrder):
        ask(stranger, "R-1", 1)


def test_a_second_payment_is_refunded_without_the_order(account: ProviderAccount) -> None:
    tell_one(account, callback(txn_no="pi_second", amount_minor=10_000))

    refund = ask(account, "R-1", payment="pi_second")

    assert refund.order is None
    assert refund.amount_minor == 10_000
    assert room_of("pi_second") == (10_000, 0, 0)
    assert room_of() == (0, 0, 0)
    assert account.merchant.orders.get().status == OrderStatus.PAID


@pytest.mark.parametrize(
    "values",
    [
        "status = 'PROCESSING', due_at = NULL",
        "due_at = NULL",
        "status = 'FAILED', due_at = NULL",
        "status = 'SUCCEEDED', due_at = NULL, finished_at = now()",
        "owner_token = gen_random_uuid()",
        "amount_minor = 0",
        "status = 'DONE'",
        "transaction_id = payment_id",
    ],
)
def test_no_hand_can_write_a_state_without_its_stamps(
    account: ProviderAccount, values: str
) -> None:
    ask(account, "R-1", 1)
    with pytest.raises(IntegrityError), connection.cursor() as cursor:
        cursor.execute(f"UPDATE payments_refund SET {values}")  # noqa: S608 - the cases above


def test_rooms_are_kept_by_the_database_too(account: ProviderAccount) -> None:
    with pytest.raises(IntegrityError), connection.cursor() as cursor:
        cursor.execute("UPDATE payments_providertransaction SET refund_reserved_minor = 10001")
    assert ProviderTransaction.objects.get().refund_reserved_minor == 0
    assert RefundStatus.values == ["REQUESTED", "PROCESSING", "SUCCEEDED", "FAILED"]
