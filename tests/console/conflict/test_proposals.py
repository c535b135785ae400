"""What takes two people, through the pages: proposed, approved, rejected, withdrawn."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from payments.models import Conflict, Proposal, ProviderAccount, Refund, Resolution
from tests.books import books
from tests.console.conflict.conftest import someone
from tests.console.conflict.filling import address, filled, form_of, said
from tests.console.rooms import page_of
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.payments.conflicts import deciding
from tests.payments.telling import callback, tell_one

pytestmark = pytest.mark.django_db

REFUND = Resolution.REFUND


@pytest.fixture
def account(db: None) -> ProviderAccount:
    """Of a merchant without a policy: every decision about money takes two people."""
    account = ProviderAccountFactory.create(name="main")
    AccountKeyFactory.create(account=account, purpose="api", secret="sk_live_tests_only")
    return account


@pytest.fixture
def bob(db: None) -> Client:
    return someone("bob", "reviewer", "approver")


def proposed(alice: Client, conflict: Conflict) -> Proposal:
    alice.post(address(conflict, REFUND), filled(alice, conflict, REFUND))
    return Proposal.objects.get(status="PENDING")


def link(proposal: Proposal, verb: str) -> str:
    args = [proposal.conflict_id, proposal.pk, verb]
    return reverse("admin:payments_conflict_proposal", args=args)


def verbs(client: Client, proposal: Proposal) -> list[str]:
    """What the conflict's page lets this person do about the proposal."""
    page = client.get(page_of(proposal.conflict)).content.decode()
    return re.findall(rf"proposal/{proposal.pk}/([a-z]+)/", page)


def test_the_button_proposes_and_the_page_says_who_may_approve(
    account: ProviderAccount, alice: Client, bob: Client
) -> None:
    conflict = deciding.late(account)

    assert "Propose: refund this payment" in alice.get(page_of(conflict)).content.decode()
    page = alice.get(address(conflict, REFUND)).content.decode()
    assert "Two people decide about any amount in USD here: you propose" in page
    assert "Who may: bob." in page
    answer = alice.post(address(conflict, REFUND), filled(alice, conflict, REFUND))

    assert said(answer) == "Proposed. Another person has to approve it."
    conflict.refresh_from_db()
    assert (conflict.status, Refund.objects.count()) == ("PROPOSED", 0)


def test_a_proposal_needs_a_reason(account: ProviderAccount, alice: Client) -> None:
    conflict = deciding.late(account)

    answer = alice.post(address(conflict, REFUND), filled(alice, conflict, REFUND, why=""))

    assert "This field is required." in answer.content.decode()
    assert not Proposal.objects.exists()


def test_a_standing_proposal_is_shown_with_what_each_may_do(
    account: ProviderAccount, alice: Client, bob: Client
) -> None:
    proposal = proposed(alice, deciding.late(account))
    shown = bob.get(page_of(proposal.conflict)).content.decode()

    assert "Proposed, and waiting for a second person" in shown
    assert "10.99 USD of txn_A go back to the payer through stripe/main" in shown
    assert "/resolve/" not in shown
    assert verbs(alice, proposal) == ["withdraw"]
    assert verbs(bob, proposal) == ["approve", "reject"]
    assert verbs(someone("vera", "viewer"), proposal) == []


def test_another_approves_exactly_that_once(
    account: ProviderAccount, alice: Client, bob: Client
) -> None:
    proposal = proposed(alice, deciding.late(account))
    form = form_of(bob.get(link(proposal, "approve")))

    answer = bob.post(link(proposal, "approve"), form)
    after = books()
    again = bob.post(link(proposal, "approve"), form)

    conflict = Conflict.objects.select_related("decided_by", "proposed_by").get()
    assert said(answer) == "Approved and carried out."
    assert (str(conflict.proposed_by), str(conflict.decided_by)) == ("alice", "bob")
    assert (conflict.decision, Refund.objects.count()) == (REFUND, 1)
    assert "bob decided it at" in said(again)
    assert books() == after


def test_the_proposer_does_not_approve_and_another_digest_is_refused(
    account: ProviderAccount, bob: Client
) -> None:
    carol = someone("carol", "approver")
    proposal = proposed(bob, deciding.late(account))
    form = form_of(bob.get(link(proposal, "approve")))
    before = books()

    assert "another person must approve it" in said(bob.post(link(proposal, "approve"), form))
    spoilt = carol.post(link(proposal, "approve"), {"digest": "0" * 64})
    assert "That is not what was proposed" in said(spoilt)
    assert books() == before


def test_an_approval_after_the_state_moved_shows_what_moved(
    account: ProviderAccount, alice: Client, bob: Client
) -> None:
    proposal = proposed(alice, deciding.mismatch(account))
    form = form_of(bob.get(link(proposal, "approve")))
    tell_one(account, callback(txn_no="txn_right"))

    answer = bob.post(link(proposal, "approve"), form)

    assert answer.status_code == 409
    assert "the state has moved since it was proposed" in answer.content.decode()
    assert "<td>Order: status</td>" in answer.content.decode()
    assert Refund.objects.count() == 0


@pytest.mark.parametrize(("verb", "status"), [("reject", "REJECTED"), ("withdraw", "WITHDRAWN")])
def test_what_is_taken_back_says_why_and_opens_the_conflict_again(
    account: ProviderAccount, alice: Client, bob: Client, verb: str, status: str
) -> None:
    proposal = proposed(alice, deciding.late(account))
    who = {"reject": bob, "withdraw": alice}[verb]

    assert who.post(link(proposal, verb), {"why": ""}).status_code == 200
    answer = who.post(link(proposal, verb), {"why": "not that one"})

    proposal.refresh_from_db()
    assert answer.status_code == 302
    assert (proposal.status, proposal.decided_why) == (status, "not that one")
    shown = alice.get(page_of(proposal.conflict)).content.decode()
    assert f"proposal {status.lower()}: not that one" in shown
    assert "What you can do" in shown


def test_nobody_without_the_right_opens_the_pages(account: ProviderAccount, alice: Client) -> None:
    proposal = proposed(alice, deciding.late(account))
    vera = someone("vera", "viewer")

    for verb in ("approve", "reject", "withdraw"):
        assert vera.post(link(proposal, verb), {"why": "x"}).status_code == 403
    assert alice.post(link(proposal, "approve"), {}).status_code == 403
    assert alice.get(link(proposal, "nonsense")).status_code == 404
    assert Proposal.objects.get().status == "PENDING"
