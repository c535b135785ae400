"""Two people, two clicks and a callback at once, on committed rows: one of them decides."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from audit import verify
from audit.actors import command_line
from audit.models import AuditEntry
from orders.models import Order
from outbox.models import Event
from payments import replay
from payments.models import Conflict, Delivery, Proposal, ProviderTransaction, Resolution
from tests.concurrency.racing import race
from tests.console.clock import now
from tests.console.staff import member
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import somebody
from tests.payments.stored import body, deliver, mend
from tests.payments.telling import callback, tell_one

pytestmark = pytest.mark.django_db(transaction=True)


def said(client: Client, address: str, form: dict[str, Any]) -> str:
    """The first word of what the page answers."""
    answer = client.post(address, form)
    (message,) = get_messages(answer.wsgi_request)
    return str(message).partition(" ")[0]


def test_of_two_approvers_and_one_who_rejects_at_once_one_is_heard() -> None:
    account = ProviderAccountFactory.create(name="main")
    proposal = deciding.propose(
        deciding.late(account), Resolution.ACCEPT, somebody("alice", "reviewer")
    )
    Proposal.objects.update(expires_at=now() + timedelta(days=1))
    approve, reject = (
        reverse(f"admin:payments_proposal_{verb}", args=[proposal.pk])
        for verb in ("approve", "reject")
    )
    people = [member("approver", name=name) for name in ("bob", "carl", "dora")]
    form = {"digest": proposal.digest, "why": "no"}

    words = race(
        *(
            partial(said, person, address, form)
            for person, address in zip(people, (approve, approve, reject), strict=True)
        )
    )

    assert Counter(words)["Nothing"] == 2
    conflict = Conflict.objects.get()
    approved = "Approved" in words
    assert (conflict.status, Order.objects.get().status) == (
        ("RESOLVED", "PAID") if approved else ("OPEN", "CLOSED")
    )
    assert Event.objects.filter(type="order.paid").count() == int(approved)
    assert AuditEntry.objects.filter(action="conflict.refused").count() == 2
    assert_books_balance()
    assert verify.walk().broken == ""


@pytest.mark.parametrize("told", [False, True], ids=["alone", "with a callback"])
def test_an_order_that_is_marked_twice_at_once_by_two_people_is_paid_once(told: bool) -> None:
    account = ProviderAccountFactory.create(name="main")
    deciding.alone_up_to(account.merchant)
    order = deciding.order_of(account)
    address = reverse("admin:orders_order_mark_paid", args=[order.pk])
    alice, again, carol = (member("reviewer", name=name) for name in ("alice", "alice", "carol"))
    form = {"why": "cash, receipt 7", "seen": "0"}
    calls: list[Callable[[], str]] = [
        partial(said, person, address, form) for person in (alice, again, carol)
    ]
    if told:
        calls.append(lambda: str(tell_one(account, callback(txn_no="txn_A")).outcome))

    words = Counter(race(*calls))

    by_hand = words["Order"]
    assert (words["Nothing"], by_hand + words["APPLIED"]) == (3 - by_hand, 1)
    assert ProviderTransaction.objects.filter(disposition="APPLIED").count() == 1
    assert Event.objects.filter(type="order.paid").count() == 1
    reasons = list(Conflict.objects.values_list("reason", flat=True))
    assert reasons == (["DUPLICATE_PAYMENT"] if told and by_hand else [])
    tried = AuditEntry.objects.filter(action__startswith="manual_payment")
    assert tried.count() == 3
    assert_books_balance()
    assert verify.walk().broken == ""


def test_a_request_that_is_taken_once_more_by_many_while_it_comes_again_pays_once() -> None:
    account = ProviderAccountFactory.create(
        provider="simulator", name="main", account_no="acct_1", live=True
    )
    deciding.order_of(account)
    stored = deliver(account, body())
    mend(account)
    seen = replay.rehearse(stored, now=now()).digest
    take = partial(replay.carry_out, stored, seen=seen, by=command_line(), why="mended")

    words = race(
        *[lambda: str(take(now=now()).result) for _ in range(4)],
        *[lambda: deliver(account, body(), received_at=now()).outcome for _ in range(2)],
    )

    applied = Counter(words)["CHANGES"] + Counter(words)["APPLIED"]
    assert (applied, set(words) - {"CHANGES", "APPLIED"}) == (
        1,
        set(words) & {"NOTHING", "DIFFERS", "DUPLICATE"},
    )
    assert ProviderTransaction.objects.count() == 1
    assert Event.objects.filter(type="order.paid").count() == 1
    entries = AuditEntry.objects.filter(action="delivery.replayed").count()
    assert entries == Counter(words)["CHANGES"]
    # What changed nothing has left no delivery either.
    assert Delivery.objects.exclude(replay_of=None).count() == entries
    assert_books_balance()
    assert verify.walk().broken == ""
