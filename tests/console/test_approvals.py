"""The approver's inbox: what was proposed, exactly that approved by another, or nothing."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.models import AuditEntry
from orders.models import Order
from outbox.models import Event
from payments.models import Conflict, Proposal, ProviderAccount, Resolution
from tests.console.clock import now
from tests.console.rooms import list_of, page_of
from tests.console.staff import INSIDERS, member
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import somebody

pytestmark = pytest.mark.django_db

WHY = {"why": "the payer wrote"}


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def proposal(account: ProviderAccount) -> Proposal:
    return proposed(deciding.late(account), Resolution.ACCEPT)


def proposed(conflict: Conflict, how: Resolution, order_no: str = "") -> Proposal:
    """By alice, so that it still waits at the time of the clock."""
    made = deciding.propose(conflict, how, somebody("alice", "reviewer"), order_no=order_no)
    made.expires_at = now() + timedelta(days=3)
    made.save()
    return made


def address(proposal: Proposal, verb: str) -> str:
    return reverse(f"admin:payments_proposal_{verb}", args=[proposal.pk])


def said(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def offered(client: Client, proposal: Proposal) -> list[str]:
    return [deed.name for deed in client.get(page_of(proposal)).context["deeds"]]


def test_the_inbox_says_who_proposed_what_for_how_much_and_what_has_changed_since(
    account: ProviderAccount, proposal: Proposal
) -> None:
    bob = member("approver", name="bob")

    (row,) = bob.get(list_of(Proposal)).context["cl"].result_list
    shown = bob.get(list_of(Proposal)).content.decode()
    Order.objects.update(payable_through="stripe/other")
    moved = bob.get(list_of(Proposal)).content.decode()

    assert row.moved == 0
    for part in (proposal.consequence, "10.99 USD", "alice", "LATE_PAYMENT", "nothing"):
        assert part in shown
    assert "1 thing" in moved


def test_the_page_spells_out_the_action_the_amount_and_the_state(proposal: Proposal) -> None:
    shown = member("approver", name="bob").get(page_of(proposal)).content.decode()

    for part in ("alice proposes: Order 1001, which is closed, is opened again", "because"):
        assert part in shown
    for name, then in (("Order: status", "CLOSED"), ("Transaction: amount", "10.99 USD")):
        assert f"<td>{name}</td><td>{then}</td><td>{then}</td>" in shown
    assert proposal.digest in shown


def test_another_approves_exactly_that_once(proposal: Proposal) -> None:
    bob = member("approver", name="bob")

    page = bob.get(address(proposal, "approve"))
    first = bob.post(address(proposal, "approve"), page.context["asked"].seen)
    again = bob.post(address(proposal, "approve"), page.context["asked"].seen)

    assert said(first) == [f"Approved and carried out: {proposal.consequence}"]
    assert "bob decided it at" in said(again)[-1]
    assert Order.objects.get().status == "PAID"
    assert Event.objects.filter(type="order.paid").count() == 1
    entry = AuditEntry.objects.get(action="conflict.resolved")
    assert (entry.actor, entry.origin.partition(",")[0]) == ("bob", "127.0.0.1")
    assert "by bob, as alice proposed" in bob.get(page_of(proposal)).content.decode()
    assert AuditEntry.objects.filter(action="conflict.refused", actor="bob").count() == 1
    assert_books_balance()


@pytest.mark.parametrize(
    ("verb", "name", "status"),
    [("reject", "bob", "REJECTED"), ("withdraw", "alice", "WITHDRAWN")],
)
def test_it_is_rejected_by_another_or_withdrawn_by_the_proposer_with_a_reason(
    proposal: Proposal, verb: str, name: str, status: str
) -> None:
    person = member("approver", "reviewer", name=name)

    unsaid = person.post(address(proposal, verb), {"why": "  "})
    answer = person.post(address(proposal, verb), WHY)

    assert (unsaid.status_code, answer.status_code) == (200, 302)
    proposal.refresh_from_db()
    assert (proposal.status, proposal.decided_why) == (status, WHY["why"])
    assert (Conflict.objects.get().status, Order.objects.get().status) == ("OPEN", "CLOSED")


def test_the_proposer_is_told_why_he_cannot_approve_and_a_hand_made_post_does_nothing(
    proposal: Proposal,
) -> None:
    alice = member("approver", "reviewer", name="alice")

    shown = alice.get(page_of(proposal))
    led_back = alice.get(address(proposal, "approve"))
    answer = alice.post(address(proposal, "approve"), {"digest": proposal.digest})
    rejected = alice.post(address(proposal, "reject"), WHY)

    assert [deed.name for deed in shown.context["deeds"]] == ["Withdraw"]
    assert "You proposed it: another person must approve it." in shown.content.decode()
    assert led_back["Location"] == page_of(proposal)
    assert "alice proposed it: another person must approve it." in said(answer)[-1]
    assert "others reject it" in said(rejected)[-1]
    proposal.refresh_from_db()
    assert (proposal.status, Order.objects.get().status) == ("PENDING", "CLOSED")


def test_what_has_moved_is_shown_and_cannot_be_approved(proposal: Proposal) -> None:
    bob = member("approver", name="bob")
    form = bob.get(address(proposal, "approve")).context["asked"].seen
    Order.objects.update(payable_through="stripe/other")

    answer = bob.post(address(proposal, "approve"), form)
    shown = bob.get(page_of(proposal))

    assert "order.payable_through was  and is stripe/other" in said(answer)[-1]
    assert [deed.name for deed in shown.context["deeds"]] == ["Reject"]
    assert "what it rests on has moved" in shown.content.decode()
    assert '<span class="c-late">stripe/other</span>' in shown.content.decode()
    assert bob.get(address(proposal, "approve")).status_code == 302
    assert Order.objects.get().status == "CLOSED"


def test_an_approval_names_what_was_read(proposal: Proposal) -> None:
    answer = member("approver", name="bob").post(address(proposal, "approve"), {"digest": "0" * 64})

    assert "That is not what was proposed" in said(answer)[-1]
    assert Order.objects.get().status == "CLOSED"


def test_a_proposal_whose_time_is_over_is_not_approved(proposal: Proposal) -> None:
    Proposal.objects.update(expires_at=now() - timedelta(seconds=1))
    bob = member("approver", name="bob")

    answer = bob.post(address(proposal, "approve"), {"digest": proposal.digest})

    assert "has expired" in said(answer)[-1]
    assert offered(bob, proposal) == ["Reject"]
    assert "its time is over" in bob.get(page_of(proposal)).content.decode()


MAY = {"approver": {"approve", "reject"}, "reviewer": {"withdraw"}}


@pytest.mark.parametrize("role", INSIDERS)
def test_each_role_may_just_this_about_a_proposal(proposal: Proposal, role: str) -> None:
    """Of another's proposal: who may withdraw at all is told that it is not his."""
    person = member(role, name="carol")

    assert person.get(list_of(Proposal)).status_code == 200
    assert person.get(page_of(proposal)).status_code == 200
    for verb in ("approve", "reject", "withdraw"):
        expected = 200 if verb in MAY.get(role, set()) else 403
        assert person.get(address(proposal, verb)).status_code == expected, verb
        if expected == 403:
            assert person.post(address(proposal, verb), WHY).status_code == 403, verb
    wanted = ["Approve", "Reject"] if role == "approver" else []
    assert offered(person, proposal) == wanted
    hint = "To approve or reject it you need the role approver."
    assert (hint in person.get(page_of(proposal)).content.decode()) == (not wanted)
    assert Order.objects.get().status == "CLOSED"


def test_the_inbox_costs_the_same_for_one_and_for_many(account: ProviderAccount) -> None:
    bob = member("approver", name="bob")
    deciding.order_of(account, "2002")
    proposed(deciding.late(account), Resolution.MATCH, order_no="2002")
    bob.get(list_of(Proposal))
    with CaptureQueriesContext(connection) as one:
        bob.get(list_of(Proposal))
    for number in range(3):
        other = ProviderAccountFactory.create()
        deciding.order_of(other, "2002")
        proposed(deciding.late(other, txn_no=f"txn_{number}_x"), Resolution.MATCH, order_no="2002")

    with CaptureQueriesContext(connection) as many:
        page = bob.get(list_of(Proposal))

    assert page.context["cl"].result_count == 4
    assert len(many) == len(one)


def test_what_is_over_leaves_the_inbox_and_is_found(proposal: Proposal) -> None:
    bob = member("approver", name="bob")
    bob.post(address(proposal, "approve"), {"digest": proposal.digest})

    assert bob.get(list_of(Proposal)).context["cl"].result_count == 0
    over = bob.get(f"{list_of(Proposal)}?decision=decided")
    assert over.context["cl"].result_count == 1
    assert offered(bob, proposal) == []
    assert bob.get(page_of(proposal)).context["hint"] == ""
