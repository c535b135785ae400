"""Asking the provider about a conflict: its answer is received like a callback."""

import pytest

from audit.models import AuditEntry
from orders.models import OrderStatus
from payments.clients.choice import Choice
from payments.clients.port import Answer, PaymentAnswer
from payments.conflicts.ask import ask
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NotAllowed
from payments.models import Conflict, ProviderAccount
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
