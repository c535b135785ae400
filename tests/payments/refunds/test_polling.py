"""Providers are asked for payments that nobody has told us of, and before an order expires."""

from datetime import timedelta
from typing import Any

import pytest

from orders.expiry import expire_due
from orders.models import Order, OrderStatus
from payments.accounts import find_endpoint
from payments.asking import Reached, reachable
from payments.clients.port import Answer, FoundBy, PaymentAnswer
from payments.confirmations import confirm_held
from payments.models import Confirmation, Conflict, Delivery, Inquiry, ProviderAccount
from payments.polling import PATIENCE, STEPS, BeforeClosing, poll
from tests.factories import (
    CREATED_AT,
    AccountKeyFactory,
    ConfirmationFactory,
    MerchantFactory,
    OrderFactory,
    ProviderAccountFactory,
)
from tests.invariants import assert_books_balance
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create()


@pytest.fixture
def provider() -> ProviderDouble:
    return ProviderDouble()


def reach(account: ProviderAccount, provider: ProviderDouble, **values: Any) -> dict[int, Reached]:
    endpoint = find_endpoint(account.provider, account.name)
    assert endpoint is not None
    return {account.pk: Reached(endpoint=endpoint, client=lambda: provider, **values)}


def pays(provider: ProviderDouble, order_no: str, **values: Any) -> None:
    """The provider has a payment for the order."""
    told = callback(**{"order_no": order_no, "txn_no": f"pi_{order_no}"} | values)
    provider.payments[order_no] = PaymentAnswer(
        answer=Answer.SUCCEEDED, callback=told, raw=b'{"id": "pi"}'
    )


def order_of(account: ProviderAccount, order_no: str = "A", **values: Any) -> Order:
    return OrderFactory.create(merchant=account.merchant, order_no=order_no, **values)


def test_a_payment_that_nobody_told_is_fetched_and_received(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    order = order_of(account)
    pays(provider, "A")

    assert poll(reach(account, provider), now=NOW) == {"SUCCEEDED": 1}

    order.refresh_from_db()
    assert (order.status, order.paid_txn_no) == (OrderStatus.PAID, "pi_A")
    delivery = Delivery.objects.get()
    assert (delivery.key_id, bytes(delivery.body or b"")) == ("api", b'{"id": "pi"}')
    assert poll(reach(account, provider), now=NOW + timedelta(days=9)) == {}
    assert_books_balance()


def test_questions_come_on_growing_steps(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    order_of(account)
    reachable = reach(account, provider)
    assert poll(reachable, now=CREATED_AT + timedelta(minutes=1)) == {}
    now = NOW
    for step in (*STEPS, STEPS[-1]):
        assert poll(reachable, now=now) == {"NOT_FOUND": 1}
        assert poll(reachable, now=now + step - timedelta(seconds=1)) == {}
        now += step
    assert provider.questions == {"A": len(STEPS) + 1}


def test_a_run_keeps_to_its_budget_and_the_next_one_goes_on(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    for number in range(5):
        order_of(account, f"A-{number}")
    reachable = reach(account, provider)

    assert poll(reachable, now=NOW, budget=3) == {"NOT_FOUND": 3}
    assert poll(reachable, now=NOW, budget=3) == {"NOT_FOUND": 2}
    assert set(provider.questions.values()) == {1}


@pytest.mark.parametrize(
    "values",
    [
        {"status": "CLOSED", "closed_at": NOW},
        {"payable_through": "stripe/another"},
        {"created_at": NOW},
    ],
)
def test_nobody_is_asked_for_what_cannot_be_paid_there(
    account: ProviderAccount, provider: ProviderDouble, values: dict[str, Any]
) -> None:
    order_of(account, **values)
    assert poll(reach(account, provider), now=NOW) == {}


def test_an_answer_about_too_little_money_is_a_conflict_as_from_a_callback(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    order = order_of(account)
    pays(provider, "A", amount_minor=1)
    poll(reach(account, provider), now=NOW)

    order.refresh_from_db()
    assert order.status == OrderStatus.WAIT_PAY
    assert Conflict.objects.get().reason == "AMOUNT_MISMATCH"
    assert_books_balance()


def expire(
    account: ProviderAccount, provider: ProviderDouble, *, now: Any = NOW, budget: int = 20
) -> int:
    may_close = BeforeClosing(reach(account, provider), now=now, budget=budget)
    return expire_due(now=now, may_close=may_close)


def test_an_order_that_was_paid_without_a_callback_does_not_expire(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    order = order_of(account, expires_at=NOW)
    pays(provider, "A")

    assert expire(account, provider) == 0

    order.refresh_from_db()
    assert order.status == OrderStatus.PAID
    assert_books_balance()


def test_an_order_that_its_provider_does_not_know_expires(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    order = order_of(account, expires_at=NOW)
    assert poll(reach(account, provider), now=NOW - timedelta(seconds=1)) == {"NOT_FOUND": 1}

    assert expire(account, provider) == 1

    order.refresh_from_db()
    assert order.status == OrderStatus.CLOSED
    assert provider.questions == {"A": 2}, "asked again, because its time had not passed"


@pytest.mark.parametrize("answer", [Answer.UNKNOWN, Answer.PENDING])
def test_an_order_whose_provider_does_not_say_stays_open_for_a_while(
    account: ProviderAccount, provider: ProviderDouble, answer: Answer
) -> None:
    order_of(account, expires_at=NOW)
    provider.payments["A"] = PaymentAnswer(answer=answer)

    assert expire(account, provider) == 0
    assert expire(account, provider) == 0
    assert provider.questions == {"A": 1}, "not every tick"
    assert expire(account, provider, now=NOW + STEPS[0]) == 0
    assert provider.questions == {"A": 2}
    assert expire(account, provider, now=NOW + PATIENCE) == 1


def test_what_the_budget_does_not_cover_waits_for_the_next_run(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    for number in range(5):
        order_of(account, f"A-{number}", expires_at=NOW)

    assert expire(account, provider, budget=3) == 3
    assert expire(account, provider, budget=3) == 2


def test_orders_whose_accounts_have_no_client_expire_at_their_time(
    account: ProviderAccount,
) -> None:
    order_of(account, expires_at=NOW)

    assert expire_due(now=NOW, may_close=BeforeClosing({}, now=NOW)) == 1


def test_a_claim_is_confirmed_by_the_providers_own_word(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    ProviderAccount.objects.update(confirm=True)
    order = order_of(account)
    ConfirmationFactory.create(account=account, txn_no="pi_A", order_no="A")
    pays(provider, "A")
    provider.payments["pi_A"] = provider.payments.pop("A")

    assert confirm_held(reach(account, provider), now=NOW) == {"SUCCEEDED": 1}

    order.refresh_from_db()
    assert order.status == OrderStatus.PAID
    assert Confirmation.objects.get().status == "CONFIRMED"
    assert confirm_held(reach(account, provider), now=NOW + timedelta(days=9)) == {}
    assert_books_balance()


def test_a_claim_that_the_provider_does_not_know_moves_nothing_and_is_asked_about_less_often(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    ConfirmationFactory.create(account=account, txn_no="pi_forged", waiting_since=NOW)
    reachable = reach(account, provider)

    assert confirm_held(reachable, now=NOW) == {"NOT_FOUND": 1}
    assert confirm_held(reachable, now=NOW + STEPS[0] - timedelta(seconds=1)) == {}
    assert confirm_held(reachable, now=NOW + STEPS[0]) == {"NOT_FOUND": 1}
    assert confirm_held(reachable, now=NOW + STEPS[0] + STEPS[1] - timedelta(seconds=1)) == {}
    assert Confirmation.objects.get().status == "WAITING"


@pytest.mark.parametrize("found_by", [frozenset(), frozenset({FoundBy.TXN_NO})])
def test_who_cannot_be_asked_by_order_number_holds_no_order_back_and_spends_no_budget(
    account: ProviderAccount, provider: ProviderDouble, found_by: frozenset[FoundBy]
) -> None:
    order_of(account, expires_at=NOW)
    reachable = reach(account, provider, found_by=found_by)

    assert poll(reachable, now=NOW) == {}
    assert expire_due(now=NOW, may_close=BeforeClosing(reachable, now=NOW, budget=0)) == 1
    assert provider.questions == {}


def test_who_cannot_be_asked_by_transaction_number_is_not_asked_about_claims(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    ConfirmationFactory.create(account=account)

    assert confirm_held(reach(account, provider, found_by=frozenset()), now=NOW) == {}


def test_every_question_is_asked_by_a_client_of_its_own_time() -> None:
    """A time that was signed at the start of a long run is too old at its end."""
    merchant = MerchantFactory.create()
    account: ProviderAccount = ProviderAccountFactory.create(
        merchant=merchant,
        provider="simulator",
        live=False,
        settings={"api_url": "http://127.0.0.1:9"},
    )
    AccountKeyFactory.create(account=account, purpose="api", not_after=NOW)
    times = iter([NOW, NOW, NOW + timedelta(minutes=6)])
    reached = reachable(clock=lambda: next(times))[account.pk]

    assert reached.client() is not None
    assert reached.client() is None, "its key has ended meanwhile"


def test_nobody_asks_twice_at_once(account: ProviderAccount, provider: ProviderDouble) -> None:
    order_of(account)
    reachable = reach(account, provider)
    poll(reachable, now=NOW)
    Inquiry.objects.update(ask_at=NOW)

    assert poll(reachable, now=NOW) == {"NOT_FOUND": 1}
    assert Inquiry.objects.get().asks == 2
