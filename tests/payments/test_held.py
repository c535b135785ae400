"""Payments that are told by something weaker than a signature over all of it."""

from dataclasses import replace

import pytest

from orders.models import Order, OrderStatus
from payments import held
from payments.accounts import find_endpoint
from payments.callback import Callback, Kind, Outcome
from payments.confirmations import NotAPayment, confirmed
from payments.models import (
    Confirmation,
    ConfirmationStatus,
    Conflict,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
)
from payments.providers.port import Assurance
from payments.receive import Verdict, receive
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.payments.telling import NOW, callback, fill, intake, tell_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(confirm=True)


@pytest.fixture
def order(account: ProviderAccount) -> Order:
    return OrderFactory.create(merchant=account.merchant, order_no="1001", amount_minor=1099)


def confirm(account: ProviderAccount, answer: Callback) -> Verdict:
    endpoint = find_endpoint(account.provider, account.name)
    assert endpoint is not None
    return confirmed(endpoint, answer, raw={"id": answer.txn_no}, now=NOW)


def status_of(order: Order) -> str:
    order.refresh_from_db()
    return order.status


def test_nothing_moves_until_the_provider_confirms(account: ProviderAccount, order: Order) -> None:
    verdicts = [tell_one(account, callback(txn_no="pay_1")) for _ in range(2)]

    assert {(v.outcome, v.reason) for v in verdicts} == {(Outcome.HELD, "UNCONFIRMED")}
    assert status_of(order) == OrderStatus.WAIT_PAY
    assert not ProviderTransaction.objects.exists()
    waiting = Confirmation.objects.get()
    assert (waiting.status, waiting.told_count, waiting.order_no) == ("WAITING", 2, "1001")


def test_the_providers_answer_pays_and_later_tellings_are_duplicates(
    account: ProviderAccount, order: Order
) -> None:
    tell_one(account, callback(txn_no="pay_1"))
    verdict = confirm(account, callback(txn_no="pay_1"))
    again = tell_one(account, callback(txn_no="pay_1"))

    assert (verdict.outcome, again.outcome) == (Outcome.APPLIED, Outcome.DUPLICATE)
    assert status_of(order) == OrderStatus.PAID
    assert Confirmation.objects.get().status == ConfirmationStatus.CONFIRMED
    assert [d.key_id for d in Delivery.objects.order_by("id")] == ["test", "api", "test"]


def test_a_forged_claim_cannot_bind_the_transaction_before_the_truth_arrives(
    account: ProviderAccount, order: Order
) -> None:
    tell_one(account, callback(txn_no="pay_1", order_no="other", amount_minor=1))
    verdict = confirm(account, callback(txn_no="pay_1"))

    assert verdict.outcome == Outcome.APPLIED
    assert status_of(order) == OrderStatus.PAID
    assert not Conflict.objects.exists()


def test_a_confirmed_amount_that_disagrees_is_a_conflict(
    account: ProviderAccount, order: Order
) -> None:
    tell_one(account, callback(txn_no="pay_1"))

    assert confirm(account, callback(txn_no="pay_1", amount_minor=1)).reason == "AMOUNT_MISMATCH"
    assert status_of(order) == OrderStatus.WAIT_PAY


def test_a_payment_without_an_amount_waits_even_where_no_confirmation_is_asked_for() -> None:
    account = ProviderAccountFactory.create()

    assert tell_one(account, callback(money=None)).outcome == Outcome.HELD


def test_where_nothing_vouches_no_setting_lets_money_move() -> None:
    account = ProviderAccountFactory.create(confirm=False)
    hint = replace(intake(account), assurance=Assurance.NONE)

    (verdict,) = receive(hint, [callback()])
    assert verdict.outcome == Outcome.HELD


def test_an_answer_without_an_amount_confirms_nothing(account: ProviderAccount) -> None:
    with pytest.raises(NotAPayment):
        confirm(account, callback(money=None))


@pytest.mark.parametrize("kind", [Kind.PENDING, Kind.AUTHORIZED, Kind.FAILED, Kind.REFUNDED])
def test_an_answer_that_is_no_payment_confirms_nothing_and_the_payment_can_still_come(
    account: ProviderAccount, order: Order, kind: Kind
) -> None:
    tell_one(account, callback(txn_no="pay_1"))
    with pytest.raises(NotAPayment):
        confirm(account, callback(kind, txn_no="pay_1"))

    assert tell_one(account, callback(txn_no="pay_1")).outcome == Outcome.HELD
    assert confirm(account, callback(txn_no="pay_1")).outcome == Outcome.APPLIED
    assert status_of(order) == OrderStatus.PAID


def test_what_is_signed_is_held_however_many_wait(account: ProviderAccount, order: Order) -> None:
    fill(account)
    hint = replace(intake(account), assurance=Assurance.NONE)
    with pytest.raises(held.TooManyHeld):
        receive(hint, [callback(txn_no="hinted")])

    assert tell_one(account, callback(txn_no="signed")).outcome == Outcome.HELD


def test_claims_are_bounded_but_known_ones_are_still_counted(account: ProviderAccount) -> None:
    def hold(txn_no: str) -> object:
        return held.hold(
            callback(txn_no=txn_no),
            account_id=account.pk,
            merchant_id=account.merchant_id,
            now=NOW,
            limit=2,
        )

    hold("a"), hold("b"), hold("a")
    with pytest.raises(held.TooManyHeld):
        hold("c")
    assert Confirmation.objects.get(txn_no="a").told_count == 2
