"""Refunds are sent once, whatever becomes of the answer, and settled by whoever still may."""

from datetime import timedelta

import pytest

from orders.models import OrderStatus
from outbox.models import Event
from payments.clients.choice import Choice
from payments.clients.port import Answer, RefundOrder
from payments.models import (
    Conflict,
    ConflictStatus,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    RefundStatus,
)
from payments.refunds import access, answers
from payments.refunds.carry_out import carry_out
from payments.refunds.recover import recover
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.refunds.asking import (
    ask,
    events_of,
    let_leases_end,
    make_due,
    paid_order,
    reasons,
    room_of,
    was_sent,
)
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create()
    paid_order(account)
    return account


@pytest.fixture
def provider() -> ProviderDouble:
    return ProviderDouble()


def test_a_refund_is_sent_with_its_own_number_and_settled(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    ask(account, "R-1", 3_000)

    assert carry_out(provider, now=NOW) == {"SUCCEEDED": 1}
    assert carry_out(provider, now=NOW) == {}

    refund = Refund.objects.get()
    assert (refund.status, refund.provider_refund_no, refund.fence) == ("SUCCEEDED", "re_R-1", 1)
    assert (refund.owner_token, refund.lease_until, refund.finished_at) == (None, None, NOW)
    row = ProviderTransaction.objects.get(kind="REFUND")
    assert (row.txn_no, row.amount_minor, row.counted_minor) == ("re_R-1", 3_000, 3_000)
    assert room_of() == (3_000, 3_000, 0)
    order = account.merchant.orders.get()
    assert (order.status, order.refunded_minor, order.version) == ("PAID", 3_000, 2)
    assert events_of() == [("refund.requested", 1), ("refund.succeeded", 2)]
    assert events_of("order") == [("order.paid", 1), ("order.refunded", 2)]
    assert provider.orders[0].payment_txn_no == "pi_1001"
    assert provider.orders[0].payment_amount.amount_minor == 10_000
    assert provider.executed == {"R-1": 1}
    assert_books_balance()


def test_all_of_it_makes_the_order_refunded(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    ask(account, "R-1", 4_000)
    ask(account, "R-2")
    carry_out(provider, now=NOW)

    order = account.merchant.orders.get()
    assert (order.status, order.refunded_minor, order.version) == ("REFUNDED", 10_000, 3)
    assert_books_balance()


def test_a_refused_refund_gives_its_room_back(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.refuses = True
    ask(account, "R-1")
    assert carry_out(provider, now=NOW) == {"REFUSED": 1}

    refund = Refund.objects.get()
    assert (refund.status, refund.why) == ("FAILED", "no balance")
    assert room_of() == (0, 0, 0)
    assert events_of() == [("refund.requested", 1), ("refund.failed", 2)]
    assert ask(account, "R-2").amount_minor == 10_000
    assert_books_balance()


def test_a_second_payment_that_went_back_whole_is_returned_and_its_question_answered(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    tell_one(account, callback(txn_no="pi_second", amount_minor=10_000))
    ask(account, "R-1", payment="pi_second")
    carry_out(provider, now=NOW)

    assert ProviderTransaction.objects.get(txn_no="pi_second").disposition == "RETURNED"
    question = Conflict.objects.get()
    assert (question.reason, question.status) == ("DUPLICATE_PAYMENT", ConflictStatus.RESOLVED)
    order = account.merchant.orders.get()
    assert (order.status, order.refunded_minor, order.version) == (OrderStatus.PAID, 0, 1)
    assert_books_balance()


def test_a_lost_reply_is_asked_about_and_not_sent_again(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.loses_reply = True
    ask(account, "R-1", 3_000)
    assert carry_out(provider, now=NOW) == {"UNKNOWN": 1}
    assert Refund.objects.get().status == RefundStatus.PROCESSING
    assert room_of() == (3_000, 0, 0)
    assert recover(provider, now=NOW) == {}, "not before its time"
    assert_books_balance()

    let_leases_end()
    assert recover(provider, now=NOW) == {"SUCCEEDED": 1}

    assert room_of() == (3_000, 3_000, 0)
    assert provider.executed == {"R-1": 1}
    assert provider.requests == {"R-1": 1}
    assert_books_balance()


def test_what_the_provider_does_not_show_yet_is_not_sent_again(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.loses_reply, provider.lag = True, 2
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)

    for _ in range(2):
        let_leases_end()
        assert recover(provider, now=NOW, window=timedelta(hours=9)) == {"NOT_FOUND": 1}
        assert carry_out(provider, now=NOW) == {}
    let_leases_end()
    assert recover(provider, now=NOW) == {"SUCCEEDED": 1}
    assert provider.requests == {"R-1": 1}
    assert provider.executed == {"R-1": 1}


def test_what_never_arrived_is_sent_again_under_the_same_number(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.is_down = True
    ask(account, "R-1", 3_000)
    assert carry_out(provider, now=NOW) == {"UNKNOWN": 1}
    provider.is_down = False
    let_leases_end()

    assert recover(provider, now=NOW, window=timedelta(minutes=10)) == {"SENT_AGAIN": 1}
    assert Refund.objects.get().status == RefundStatus.REQUESTED
    assert carry_out(provider, now=NOW) == {"SUCCEEDED": 1}
    assert provider.executed == {"R-1": 1}
    assert_books_balance()


def test_an_accepted_refund_is_asked_about_until_it_ends(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.pends = True
    ask(account, "R-1", 3_000)
    assert carry_out(provider, now=NOW) == {"PENDING": 1}
    for _ in range(2 * answers.ASKS_BEFORE_DOUBT):
        let_leases_end()
        assert recover(provider, now=NOW) == {"PENDING": 1}
    assert reasons() == [], "pending for long is no doubt"
    assert Refund.objects.get().provider_refund_no == "re_R-1"

    provider.finish("R-1")
    let_leases_end()
    assert recover(provider, now=NOW) == {"SUCCEEDED": 1}
    assert provider.executed == {"R-1": 1}
    assert_books_balance()


def test_an_accepted_refund_that_stays_so_for_days_asks_a_person_once_and_is_asked_about_on(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.pends = True
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)
    was_sent(answers.PENDING_BEFORE_DOUBT - timedelta(hours=2))
    let_leases_end()
    recover(provider, now=NOW)
    assert reasons() == []

    for _ in range(3):
        let_leases_end()
        assert recover(provider, now=NOW) == {"PENDING": 1}
    assert reasons() == ["REFUND_IN_DOUBT"]
    assert Event.objects.filter(type="conflict.opened").count() == 1
    assert Conflict.objects.get().received["why"].startswith("accepted, and not done after 3 days")
    assert Refund.objects.get().status == RefundStatus.PROCESSING

    provider.finish("R-1")
    let_leases_end()
    assert recover(provider, now=NOW) == {"SUCCEEDED": 1}
    assert Conflict.objects.get().status == ConflictStatus.RESOLVED
    assert_books_balance()


def test_a_spent_payment_proves_nothing_while_our_refund_may_not_be_shown_yet(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.loses_reply, provider.lag = True, 3
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)
    # Sent again by somebody's hand: the provider has done it, and does not show it yet.
    Refund.objects.update(
        status="REQUESTED", owner_token=None, lease_until=None, due_at=NOW, sent_at=None
    )
    provider.loses_reply, provider.is_spent = False, True

    assert carry_out(provider, now=NOW) == {"NOT_FOUND": 1}
    assert Refund.objects.get().status == RefundStatus.PROCESSING
    assert room_of() == (3_000, 0, 0)
    provider.lag = 0
    let_leases_end()
    assert recover(provider, now=NOW) == {"SUCCEEDED": 1}
    assert provider.executed == {"R-1": 1}
    assert_books_balance()


def test_a_payment_that_others_have_spent_refuses_when_ours_would_be_shown(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.is_spent = True
    ask(account, "R-1", 3_000)
    assert carry_out(provider, now=NOW) == {"NOT_FOUND": 1}

    let_leases_end()
    assert recover(provider, now=NOW) == {"SENT_AGAIN": 1}
    assert carry_out(provider, now=NOW) == {"NOT_FOUND": 1}

    assert Refund.objects.get().status == RefundStatus.FAILED
    assert room_of() == (0, 0, 0)
    assert provider.executed == {}
    assert_books_balance()


def test_an_accepted_refund_that_fails_gives_its_room_back(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.pends = True
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)
    provider.finish("R-1", Answer.REFUSED)
    let_leases_end()

    assert recover(provider, now=NOW) == {"REFUSED": 1}
    assert room_of() == (0, 0, 0)
    assert_books_balance()


def test_after_many_answers_that_say_nothing_a_person_is_asked_and_asking_goes_on(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.is_down = True
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)
    for _ in range(answers.ASKS_BEFORE_DOUBT + 5):
        let_leases_end()
        assert recover(provider, now=NOW) == {"UNKNOWN": 1}
    assert reasons() == ["REFUND_IN_DOUBT"]
    assert Refund.objects.get().status == RefundStatus.PROCESSING
    assert room_of() == (3_000, 0, 0)
    assert_books_balance()

    provider.is_down = False
    for _ in range(2):
        let_leases_end()
        recover(provider, now=NOW)
        carry_out(provider, now=NOW)
    assert Refund.objects.get().status == RefundStatus.SUCCEEDED
    assert Conflict.objects.get().status == ConflictStatus.RESOLVED
    assert provider.executed == {"R-1": 1}
    assert_books_balance()


def test_waits_double_to_a_ceiling() -> None:
    waits = [answers.backoff(asks).total_seconds() for asks in (0, 1, 2, 3, 9, 10, 1000)]
    assert waits == [5, 10, 20, 40, 2560, 3600, 3600]


def test_a_client_that_breaks_has_told_nothing(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.breaks = True
    ask(account, "R-1", 3_000)

    assert carry_out(provider, now=NOW) == {"UNKNOWN": 1}
    assert Refund.objects.get().why == "the client failed: ValueError"
    assert room_of() == (3_000, 0, 0)


def test_an_owner_who_lost_the_lease_changes_nothing(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    def taken_over(_: RefundOrder) -> None:
        provider.before = lambda _: None
        let_leases_end()
        assert recover(provider, now=NOW, window=timedelta(0)) == {"SENT_AGAIN": 1}
        assert carry_out(provider, now=NOW) == {"SUCCEEDED": 1}

    provider.before = taken_over
    ask(account, "R-1", 3_000)

    assert carry_out(provider, now=NOW) == {"LOST": 1}
    assert provider.requests == {"R-1": 2}
    assert provider.executed == {"R-1": 1}
    assert Refund.objects.get().fence == 3
    assert room_of() == (3_000, 3_000, 0)
    assert events_of() == [("refund.requested", 1), ("refund.succeeded", 2)]
    assert_books_balance()


def test_a_provider_that_refunds_another_amount_is_not_believed(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.loses_reply = True
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)
    told = provider.refunds["R-1"]
    provider.refunds["R-1"] = type(told)(
        answer=told.answer, provider_refund_no="re_R-1", amount=provider.orders[0].payment_amount
    )
    let_leases_end()
    recover(provider, now=NOW)

    assert Refund.objects.get().status == RefundStatus.PROCESSING
    assert reasons() == ["REFUND_IN_DOUBT"]
    assert room_of() == (3_000, 0, 0)
    assert_books_balance()


def test_each_refund_in_doubt_is_a_question_of_its_own(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.pends = True
    ask(account, "R-1", 3_000)
    ask(account, "R-2", 2_000)
    carry_out(provider, now=NOW)
    was_sent(answers.PENDING_BEFORE_DOUBT + timedelta(hours=1))
    for _ in range(2):
        let_leases_end()
        assert recover(provider, now=NOW) == {"PENDING": 2}

    assert reasons() == ["REFUND_IN_DOUBT"] * 2
    asked = Conflict.objects.order_by("received__refund_no")
    assert [each.received["amount_minor"] for each in asked] == [3_000, 2_000]
    assert room_of() == (5_000, 0, 0)


def test_without_a_client_nothing_is_sent_and_it_waits(account: ProviderAccount) -> None:
    ask(account, "R-1", 3_000)

    def nobody(_: ProviderAccount) -> Choice:
        return Choice(None, "no key with purpose api")

    assert carry_out(nobody, now=NOW) == {"NOT_SENT": 1}
    refund = Refund.objects.get()
    assert (refund.status, refund.asks, refund.first_sent_at) == ("REQUESTED", 1, None)
    assert refund.why == "no key with purpose api"
    for _ in range(answers.ASKS_BEFORE_DOUBT):
        make_due()
        carry_out(nobody, now=NOW)
    assert reasons() == ["REFUND_IN_DOUBT"]
    make_due()
    assert carry_out(ProviderDouble(), now=NOW) == {"SUCCEEDED": 1}
    assert_books_balance()


def test_each_refund_of_a_run_has_a_client_of_its_own_time() -> None:
    """WeChat Pay takes a signature for five minutes, and a run of slow answers takes longer."""
    account: ProviderAccount = ProviderAccountFactory.create(
        provider="simulator", live=False, settings={"api_url": "http://127.0.0.1:9"}
    )
    AccountKeyFactory.create(account=account, purpose="api", not_after=NOW)
    paid_order(account)
    ask(account, "R-1", 3_000)
    ask(account, "R-2", 3_000)
    times = iter([NOW, NOW + timedelta(minutes=6)])

    said = carry_out(access.clients(lambda: next(times)), now=NOW)

    assert said == {"UNKNOWN": 1, "NOT_SENT": 1}, "the key has ended before the second"


def test_a_number_that_the_provider_may_have_forgotten_is_not_sent_again(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.is_down, provider.repeatable_for = True, timedelta(minutes=30)
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)
    provider.is_down = False
    let_leases_end()

    assert recover(provider, now=NOW) == {"NOT_FOUND": 1}
    assert carry_out(provider, now=NOW) == {}
    assert room_of() == (3_000, 0, 0)


def test_a_provider_that_tells_nothing_of_refunds_is_asked_by_repeating(
    account: ProviderAccount, provider: ProviderDouble
) -> None:
    provider.loses_reply, provider.tells_refunds = True, False
    ask(account, "R-1", 3_000)
    carry_out(provider, now=NOW)
    provider.loses_reply = False
    let_leases_end()

    assert recover(provider, now=NOW) == {"SENT_AGAIN": 1}
    assert carry_out(provider, now=NOW) == {"SUCCEEDED": 1}
    assert provider.requests == {"R-1": 2}
    assert provider.executed == {"R-1": 1}
