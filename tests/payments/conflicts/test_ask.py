"""Asking the provider about a conflict: its answer is received like a callback."""

import pytest

from audit.models import AuditEntry
from orders.models import OrderStatus
from payments.clients.choice import Choice
from payments.clients.port import Answer, PaymentAnswer
from payments.conflicts.ask import ask
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NotAllowed
from payments.models import Conflict, ProviderAccount, Refund
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import LATER, somebody
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import callback

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def account(transactional_db: None) -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def alice(transactional_db: None) -> Person:
    return somebody("alice", "reviewer")


def test_what_the_provider_says_now_is_received_and_kept(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.altered(account)
    provider = ProviderDouble()
    said = callback(txn_no="txn_A", amount_minor=9900)
    provider.payments["txn_A"] = PaymentAnswer(
        answer=Answer.SUCCEEDED, callback=said, raw=b'{"amount": 9900}'
    )

    answer = ask(conflict.pk, person=alice, now=LATER, client_for=provider)

    assert answer is Answer.SUCCEEDED
    assert Conflict.objects.count() == 1
    asked, answered = AuditEntry.objects.order_by("seq")
    assert (asked.action, asked.after) == ("conflict.provider_asked", {"txn_no": "txn_A"})
    assert (answered.actor, answered.after["answer"]) == ("alice", "SUCCEEDED")
    assert account.merchant.orders.get().status == OrderStatus.PAID
    assert_books_balance()


def test_a_provider_that_cannot_be_asked_is_said_to_be_one(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.late(account)

    with pytest.raises(DoesNotFit, match="stripe/main: the account has no key with purpose api"):
        ask(conflict.pk, person=alice, now=LATER)
    with pytest.raises(DoesNotFit, match="no way"):
        ask(conflict.pk, person=alice, now=LATER, client_for=lambda _: Choice(None, "no way"))
    assert AuditEntry.objects.filter(action="conflict.refused").count() == 2


def test_an_operator_asks_and_a_viewer_does_not(account: ProviderAccount) -> None:
    conflict = deciding.late(account)
    provider = ProviderDouble()

    assert ask(
        conflict.pk, person=somebody("oscar", "operator"), now=LATER, client_for=provider
    ) in (Answer.NOT_FOUND, Answer.UNKNOWN)
    with pytest.raises(NotAllowed):
        ask(conflict.pk, person=somebody("vera", "viewer"), now=LATER, client_for=provider)


def test_a_refund_in_doubt_is_asked_about_and_a_clear_answer_settles_it(
    account: ProviderAccount, alice: Person
) -> None:
    provider = ProviderDouble(loses_reply=True)
    conflict = deciding.in_doubt(account, provider)

    assert ask(conflict.pk, person=alice, now=LATER, client_for=provider) is Answer.SUCCEEDED

    conflict.refresh_from_db()
    refund = Refund.objects.get()
    assert (refund.status, conflict.status, conflict.resolution) == (
        "SUCCEEDED",
        "RESOLVED",
        "it succeeded",
    )
    assert provider.requests["R-1"] == 1
    answered = AuditEntry.objects.get(action="conflict.provider_answered")
    assert (answered.after["answer"], answered.after["states"]) == ("SUCCEEDED", "5.00 USD")
    assert_books_balance()


def test_a_refund_that_the_provider_does_not_know_is_never_sent_again_by_a_question(
    account: ProviderAccount, alice: Person
) -> None:
    provider = ProviderDouble(is_down=True)
    conflict = deciding.in_doubt(account, provider)
    provider.is_down = False

    assert ask(conflict.pk, person=alice, now=LATER, client_for=provider) is Answer.NOT_FOUND

    conflict.refresh_from_db()
    assert (conflict.status, Refund.objects.get().status) == ("OPEN", "PROCESSING")
    assert provider.requests["R-1"] == 1


def test_who_answers_nothing_about_refunds_is_not_asked(
    account: ProviderAccount, alice: Person
) -> None:
    provider = ProviderDouble(loses_reply=True, tells_refunds=False)
    conflict = deciding.in_doubt(account, provider)

    with pytest.raises(DoesNotFit, match="answers no questions about refunds"):
        ask(conflict.pk, person=alice, now=LATER, client_for=provider)
    Refund.objects.update(status="REQUESTED", owner_token=None, lease_until=None, due_at=LATER)
    with pytest.raises(DoesNotFit, match="not under way"):
        ask(conflict.pk, person=alice, now=LATER, client_for=ProviderDouble())
