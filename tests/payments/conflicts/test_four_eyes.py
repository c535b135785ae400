"""Two people: exactly what one proposed, approved by another, in the state that was seen."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction

from audit.models import AuditEntry
from payments.conflicts import four_eyes
from payments.conflicts.checking import Wanted
from payments.conflicts.follow_up import follow_up
from payments.conflicts.people import Person
from payments.conflicts.refusals import (
    AlreadyDecided,
    AlreadyProposed,
    DoesNotFit,
    Moved,
    NeedsTwoPeople,
    NoReason,
    NotAllowed,
)
from payments.models import (
    Conflict,
    Proposal,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    Resolution,
)
from payments.refunds import carry_out, request
from tests.books import books
from tests.concurrency.deeds import place
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import (
    LATER,
    approve,
    can_send,
    decide,
    propose,
    seen_now,
    somebody,
)
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import callback, tell_one

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def conflict(account: ProviderAccount) -> Conflict:
    return deciding.late(account)


@pytest.fixture
def alice() -> Person:
    return somebody("alice", "reviewer", "approver")


@pytest.fixture
def bob() -> Person:
    return somebody("bob", "approver")


@pytest.mark.parametrize(
    "how", [Resolution.ACCEPT, Resolution.REFUND, Resolution.NOT_OURS, Resolution.MATCH]
)
def test_without_a_policy_two_people_decide_about_any_money(
    account: ProviderAccount, conflict: Conflict, alice: Person, bob: Person, how: Resolution
) -> None:
    deciding.order_of(account, "2002")
    order_no = "2002" if how is Resolution.MATCH else ""
    with pytest.raises(NeedsTwoPeople, match=r"10\.99 USD is above 0\.00 USD"):
        decide(conflict, how, alice, order_no=order_no)

    approve(propose(conflict, how, alice, order_no=order_no), bob)

    conflict.refresh_from_db()
    assert (conflict.status, conflict.decision, conflict.needs_two) == ("RESOLVED", how, True)
    assert (conflict.proposed_by_id, conflict.decided_by_id) == (alice.user_id, bob.user_id)
    assert Proposal.objects.get().status == "APPROVED"
    assert_books_balance()


@pytest.mark.parametrize(("limit", "alone"), [(1098, False), (1099, True)])
def test_one_decides_up_to_the_merchants_amount_in_that_currency(
    account: ProviderAccount, conflict: Conflict, alice: Person, limit: int, alone: bool
) -> None:
    deciding.alone_up_to(account.merchant, limit)

    if alone:
        decide(conflict, Resolution.REFUND, alice)
    else:
        with pytest.raises(NeedsTwoPeople):
            decide(conflict, Resolution.REFUND, alice)

    conflict.refresh_from_db()
    assert (conflict.status, conflict.needs_two) == ("RESOLVED" if alone else "OPEN", False)


def test_the_amount_is_what_is_given_up_if_that_is_more(
    account: ProviderAccount, alice: Person
) -> None:
    deciding.alone_up_to(account.merchant, 1098)
    conflict = deciding.mismatch(account, 1)

    with pytest.raises(NeedsTwoPeople, match=r"10\.99 USD is above 10\.98 USD"):
        decide(conflict, Resolution.ACCEPT_RECEIVED, alice)


def test_a_proposal_moves_nothing_but_the_conflict(conflict: Conflict, alice: Person) -> None:
    before = books()

    proposal = propose(conflict, Resolution.REFUND, alice)

    moved = {name for name, book in books().items() if book != before[name]}
    assert moved == {"payments_conflict", "payments_proposal", "outbox_event"}
    conflict.refresh_from_db()
    assert (conflict.status, conflict.version, proposal.expires_at - LATER) == (
        "PROPOSED",
        2,
        timedelta(days=3),
    )
    assert_books_balance()


def test_nobody_approves_his_own_proposal_by_whatever_session(
    conflict: Conflict, alice: Person
) -> None:
    proposal = propose(conflict, Resolution.REFUND, alice)
    elsewhere = somebody("alice", "reviewer", "approver", "admin", origin="another session")
    User.objects.filter(username="alice").update(is_superuser=True)
    before = books()

    for who in (alice, elsewhere):
        with pytest.raises(NotAllowed, match="another person must approve"):
            approve(proposal, who)
    assert books() == before
    assert AuditEntry.objects.filter(action="conflict.refused").count() == 2


def test_the_database_itself_knows_that_two_people_are_two(
    conflict: Conflict, alice: Person
) -> None:
    propose(conflict, Resolution.REFUND, alice)
    faults = [
        (
            "UPDATE payments_proposal SET status = 'APPROVED', decided_at = now(),"
            " decided_by_id = proposed_by_id"
        ),
        "UPDATE payments_proposal SET status = 'APPROVED', decided_at = now()",
        "UPDATE payments_conflict SET needs_two = true",
        (
            "UPDATE payments_conflict SET needs_two = true, decided_as = 'PERSON',"
            " proposed_by_id = p.proposed_by_id, decided_by_id = p.proposed_by_id"
            " FROM payments_proposal p WHERE p.conflict_id = payments_conflict.id"
        ),
        "UPDATE payments_conflict SET decided_as = 'POLICY'",
        "UPDATE payments_conflict SET decision = 'REFUND'",
    ]
    for sql in faults:
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)


@pytest.mark.parametrize(
    "values",
    [
        {"amount_minor": 1},
        {"resolution": "NOT_OURS"},
        {"order_no": "2002"},
        {"seen": {}},
        {"consequence": "nothing"},
    ],
)
def test_an_approval_is_bound_to_exactly_what_was_proposed(
    conflict: Conflict, alice: Person, bob: Person, values: dict[str, Any]
) -> None:
    proposal = propose(conflict, Resolution.REFUND, alice)
    Proposal.objects.update(**values)
    before = books()

    with pytest.raises(DoesNotFit, match="not what was proposed"):
        approve(proposal, bob)

    assert books() == before


def test_an_approval_names_what_was_read(conflict: Conflict, alice: Person, bob: Person) -> None:
    first = propose(conflict, Resolution.REFUND, alice)
    four_eyes.withdraw(first.pk, why="wrong", person=alice, now=LATER)
    second = propose(conflict, Resolution.ACCEPT, alice)

    with pytest.raises(DoesNotFit, match="WITHDRAWN, by alice: wrong"):
        approve(first, bob)
    with pytest.raises(DoesNotFit, match="not what was proposed"):
        four_eyes.approve(
            second.pk, digest=first.digest, person=bob, client_for=can_send, now=LATER
        )
    approve(second, bob)
    assert_books_balance()


def test_an_approval_after_the_state_moved_changes_nothing_and_says_what_moved(
    account: ProviderAccount, alice: Person, bob: Person
) -> None:
    conflict = deciding.mismatch(account)
    proposal = propose(conflict, Resolution.REFUND, alice)
    tell_one(account, callback(txn_no="txn_right"))
    before = books()

    with pytest.raises(Moved, match=r"order\.status was WAIT_PAY and is PAID"):
        approve(proposal, bob)

    assert books() == before
    four_eyes.reject(proposal.pk, why="it was paid", person=bob, now=LATER)
    approve(propose(conflict, Resolution.REFUND, alice), bob)
    assert_books_balance()


def test_a_target_that_moved_voids_the_approval_of_a_match(
    account: ProviderAccount, conflict: Conflict, alice: Person, bob: Person
) -> None:
    deciding.order_of(account, "2002")
    proposal = propose(conflict, Resolution.MATCH, alice, order_no="2002")
    tell_one(account, callback(txn_no="txn_2002", order_no="2002"))

    with pytest.raises(Moved, match=r"target\.status was WAIT_PAY and is PAID"):
        approve(proposal, bob)
    assert_books_balance()


def test_while_a_proposal_waits_nobody_decides_beside_it(
    account: ProviderAccount, conflict: Conflict, alice: Person
) -> None:
    deciding.alone_up_to(account.merchant)
    form = seen_now(conflict)
    propose(conflict, Resolution.REFUND, alice)
    carol = somebody("carol", "reviewer")

    for attempt in (decide, propose):
        with pytest.raises(AlreadyProposed, match="alice proposed it at 2026-03-01 14:00:00 UTC"):
            attempt(conflict, Resolution.ACCEPT, carol, seen=form)


@pytest.mark.parametrize("end", ["reject", "withdraw"])
def test_a_proposal_that_is_declined_leaves_the_conflict_open(
    conflict: Conflict, alice: Person, bob: Person, end: str
) -> None:
    proposal = propose(conflict, Resolution.REFUND, alice)
    decline = getattr(four_eyes, end)
    right, wrong = (bob, alice) if end == "reject" else (alice, bob)
    somebody("bob", "approver", "reviewer")

    with pytest.raises(NotAllowed, match="alice proposed it and may withdraw it"):
        decline(proposal.pk, why="no", person=wrong, now=LATER)
    with pytest.raises(NoReason):
        decline(proposal.pk, why="", person=right, now=LATER)
    decline(proposal.pk, why="the payer called", person=right, now=LATER)

    conflict.refresh_from_db()
    proposal.refresh_from_db()
    assert (conflict.status, conflict.version) == ("OPEN", 3)
    assert (proposal.status, proposal.decided_by_id, proposal.decided_why) == (
        {"reject": "REJECTED", "withdraw": "WITHDRAWN"}[end],
        right.user_id,
        "the payer called",
    )
    assert not Refund.objects.exists()
    assert_books_balance()


def test_a_proposal_ends_by_itself(conflict: Conflict, alice: Person, bob: Person) -> None:
    proposal = propose(conflict, Resolution.REFUND, alice)
    over = proposal.expires_at

    assert follow_up(now=over - timedelta(seconds=1)) == (0, 0)
    with pytest.raises(DoesNotFit, match="expired"):
        approve(proposal, bob, now=over)
    assert follow_up(now=over) == (0, 1)

    conflict.refresh_from_db()
    proposal.refresh_from_db()
    assert (conflict.status, proposal.status, proposal.decided_by_id) == ("OPEN", "EXPIRED", None)
    assert_books_balance()


def test_a_proposal_whose_conflict_answered_itself_is_not_carried_out(
    account: ProviderAccount, alice: Person, bob: Person
) -> None:
    conflict = deciding.parked(account)
    proposal = propose(conflict, Resolution.REFUND, alice)
    place(account.merchant, "1001")

    with pytest.raises(AlreadyDecided, match="A fact that came decided it"):
        approve(proposal, bob)
    assert follow_up(now=LATER) == (0, 1)
    assert not Refund.objects.exists()
    assert_books_balance()


def test_what_moves_no_money_is_not_proposed(account: ProviderAccount, alice: Person) -> None:
    conflict = deciding.altered(account)

    with pytest.raises(DoesNotFit, match="one person decides it alone"):
        propose(conflict, Resolution.DISMISS, alice)
    decide(conflict, Resolution.DISMISS, alice)


def test_a_proposal_says_why(conflict: Conflict, alice: Person) -> None:
    with pytest.raises(NoReason):
        four_eyes.propose(
            conflict.pk,
            Wanted(how=Resolution.REFUND),
            seen=seen_now(conflict),
            person=alice,
            now=LATER,
        )


# --- Who may ---


@pytest.mark.parametrize(
    ("role", "may"),
    [
        ("viewer", set()),
        ("reviewer", {"resolve", "propose"}),
        ("approver", {"approve", "reject"}),
        ("operator", set()),
        ("admin", set()),
        ("", set()),
    ],
)
def test_each_role_may_do_its_part_and_no_more(
    account: ProviderAccount, conflict: Conflict, alice: Person, role: str, may: set[str]
) -> None:
    deciding.alone_up_to(account.merchant)
    who = somebody("zoe", *([role] if role else []))
    deeds: dict[str, Callable[[], Any]] = {
        "resolve": lambda: decide(conflict, Resolution.REFUND, who),
        "propose": lambda: propose(conflict, Resolution.REFUND, who),
        "approve": lambda: approve(propose(conflict, Resolution.REFUND, alice), who),
        "reject": lambda: four_eyes.reject(
            propose(conflict, Resolution.REFUND, alice).pk, why="no", person=who, now=LATER
        ),
    }
    for name, deed in deeds.items():
        point = transaction.savepoint()
        if name in may:
            deed()
        else:
            with pytest.raises(NotAllowed, match="zoe has no permission payments"):
                deed()
        transaction.savepoint_rollback(point)


def test_what_is_taken_from_somebody_is_gone_at_once(conflict: Conflict, alice: Person) -> None:
    proposal = propose(conflict, Resolution.REFUND, alice)
    bob = somebody("bob", "approver")
    User.objects.filter(username="bob").update(is_active=False)

    with pytest.raises(NotAllowed):
        approve(proposal, bob)
    with pytest.raises(NotAllowed):
        four_eyes.withdraw(proposal.pk, why="x", person=somebody("alice"), now=LATER)


# --- What follows ---


def test_a_refund_that_fails_asks_again(account: ProviderAccount, alice: Person) -> None:
    deciding.alone_up_to(account.merchant)
    conflict = deciding.parked(account)
    decide(conflict, Resolution.REFUND, alice)
    carry_out.carry_out(ProviderDouble(refuses=True), now=LATER)

    assert follow_up(now=LATER) == (1, 0)
    assert follow_up(now=LATER) == (0, 0)

    conflict.refresh_from_db()
    assert (conflict.status, conflict.version, conflict.decision) == ("OPEN", 3, "")
    assert conflict.why.startswith(f"refund conflict-{conflict.pk}-1 failed")
    assert conflict.due_at == LATER + timedelta(days=1)
    assert_books_balance()
    decide(conflict, Resolution.REFUND, alice)
    carry_out.carry_out(ProviderDouble(), now=LATER)
    assert ProviderTransaction.objects.get(txn_no="txn_A").disposition == "RETURNED"
    assert follow_up(now=LATER) == (0, 0)
    assert_books_balance()


def test_the_number_of_the_refund_could_be_taken_by_the_merchant(
    account: ProviderAccount, alice: Person
) -> None:
    deciding.alone_up_to(account.merchant)
    conflict = deciding.late(account)
    deciding.order_of(account, "3003")
    tell_one(account, callback(txn_no="txn_C", order_no="3003"))
    number = f"conflict-{conflict.pk}-1"
    asked = request.Asked(order_no="3003", refund_no=number, money=None)
    request.request(merchant=account.merchant, asked=asked, now=LATER)

    with pytest.raises(DoesNotFit, match="exists with other"):
        decide(conflict, Resolution.REFUND, alice)
