"""Decisions that race with each other, with callbacks and with policies: one is carried out."""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from django.db import OperationalError

from audit import chain, verify
from audit.models import AuditEntry
from outbox.models import Event
from payments.conflicts import four_eyes
from payments.conflicts.people import Person
from payments.models import (
    Conflict,
    ConflictPolicy,
    Proposal,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    Resolution,
)
from payments.policies.apply import apply_policies
from payments.sweep import sweep
from tests.concurrency.crew import Crew
from tests.concurrency.deeds import close, deliver, place
from tests.concurrency.onlooker import Onlooker, query
from tests.concurrency.refund_deeds import ask
from tests.concurrency.tally import tally
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import (
    LATER,
    approve,
    can_send,
    decide,
    outcome,
    propose,
    seen_now,
    somebody,
)
from tests.payments.telling import NOW, callback

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 4


@pytest.fixture
def people(transactional_db: None) -> list[Person]:
    return [somebody(f"reviewer-{number}", "reviewer", "approver") for number in range(4)]


def shop(*, alone: bool = True, **rules: Any) -> ProviderAccount:
    account = ProviderAccountFactory.create()
    if alone:
        deciding.alone_up_to(account.merchant, **rules)
    return account


def by_policy() -> str:
    return "done" if apply_policies(client_for=can_send, now=LATER) else "nothing"


def assert_all_is_right() -> None:
    assert_books_balance()
    assert verify.walk().broken == ""


def test_of_many_reviewers_and_double_clicks_one_decides_and_the_others_are_told_who(
    crew: Crew, people: list[Person]
) -> None:
    hows = [Resolution.ACCEPT, Resolution.REFUND, Resolution.NOT_OURS]
    for number in range(ROUNDS):
        account = shop()
        conflict = deciding.late(account)
        form = seen_now(conflict)
        work = [
            partial(outcome, partial(decide, conflict, how, who, seen=form))
            for who in people
            for how in hows[: 1 + number % 3]
            for _ in range(2)
        ]

        ends = Counter(crew.race(*work[: crew.size]))

        assert ends == {"done": 1, "AlreadyDecided": len(work[: crew.size]) - 1}
        told = Event.objects.filter(aggregate_id=str(conflict.pk), type="conflict.resolved")
        assert told.count() == 1
        tries = AuditEntry.objects.filter(object_type="conflict", object_id=str(conflict.pk))
        assert Counter(tries.values_list("action", flat=True)) == {
            "conflict.resolved": 1,
            "conflict.refused": ends["AlreadyDecided"],
        }
    tally["races of reviewers"] += ROUNDS
    assert_all_is_right()


def test_a_reviewer_and_the_callback_that_was_missing_pay_the_order_once(
    crew: Crew, people: list[Person]
) -> None:
    for _ in range(ROUNDS):
        account = shop()
        conflict = deciding.mismatch(account)
        work = partial(
            decide, conflict, Resolution.ACCEPT_RECEIVED, people[0], seen=seen_now(conflict)
        )

        ended, told = crew.race(
            partial(outcome, work),
            partial(deliver, account, callback(txn_no="txn_right")),
            spread=0.004,
        )

        assert (ended, told) in [
            ("done", ["CONFLICT DUPLICATE_PAYMENT"]),
            ("done", ["CONFLICT AMOUNT_MISMATCH"]),
            ("Moved", ["APPLIED"]),
        ]
        assert (
            Event.objects.filter(type="order.paid", payload__merchant=account.merchant.code).count()
            == 1
        )
    assert_all_is_right()


def test_a_reviewer_and_the_same_callback_again_apply_it_once(
    crew: Crew, people: list[Person]
) -> None:
    for _ in range(ROUNDS):
        account = shop()
        conflict = deciding.late(account)
        work = partial(decide, conflict, Resolution.ACCEPT, people[0], seen=seen_now(conflict))
        again = partial(deliver, account, callback(txn_no="txn_A"))

        ended, *told = crew.race(partial(outcome, work), again, again, again)

        assert (ended, told) == ("done", [["DUPLICATE"]] * 3)
    assert_all_is_right()


def test_money_that_waits_goes_back_or_pays_its_order_and_never_both(
    crew: Crew, people: list[Person]
) -> None:
    for _ in range(ROUNDS):
        account = shop()
        deliver(account, callback(txn_no="txn_A"))
        sweep(now=LATER, grace=LATER - NOW)
        conflict = Conflict.objects.get(merchant=account.merchant)
        work = partial(decide, conflict, Resolution.REFUND, people[0], seen=seen_now(conflict))

        ended, status = crew.race(
            partial(outcome, work), partial(place, account.merchant, "1001"), spread=0.004
        )

        assert (ended, status) in [("done", "WAIT_PAY"), ("AlreadyDecided", "PAID")]
        assert Refund.objects.filter(merchant=account.merchant).exists() == (ended == "done")
    assert_all_is_right()


def test_two_payments_are_not_matched_to_one_order(crew: Crew, people: list[Person]) -> None:
    for _ in range(ROUNDS):
        account = shop()
        deciding.duplicate(account)
        deliver(account, callback(txn_no="txn_B"))
        deciding.order_of(account, "2002")
        work = [
            partial(
                decide,
                conflict,
                Resolution.MATCH,
                people[0],
                order_no="2002",
                seen=seen_now(conflict, "2002"),
            )
            for conflict in Conflict.objects.filter(merchant=account.merchant)
        ]

        ends = crew.race(*[partial(outcome, one) for one in work])

        assert sorted(ends) == ["Moved", "done"]
    assert_all_is_right()


def test_a_refund_that_is_decided_and_one_that_the_merchant_asks_for_share_the_room(
    crew: Crew, people: list[Person]
) -> None:
    for number in range(ROUNDS):
        account = shop()
        conflict = deciding.duplicate(account)
        work = partial(decide, conflict, Resolution.REFUND, people[0], seen=seen_now(conflict))
        first = partial(ask, account, f"R-{number}", 1099, "1001")

        ends = crew.race(partial(outcome, work), first, spread=0.002)

        assert ends in (["done", "REQUESTED"], ["Moved", "REQUESTED"])
    assert_all_is_right()


def test_closing_and_accepting_leave_the_order_as_one_of_them_says(
    crew: Crew, people: list[Person]
) -> None:
    for _ in range(ROUNDS):
        account = shop()
        conflict = deciding.merchant(account)
        work = partial(decide, conflict, Resolution.ACCEPT, people[0], seen=seen_now(conflict))

        ends = crew.race(
            partial(outcome, work), partial(close, account.merchant, "1001"), spread=0.002
        )

        assert ends in (["done", "PAID"], ["Moved", "CLOSED"])
    assert_all_is_right()


def test_of_two_approvers_one_approves(crew: Crew, people: list[Person]) -> None:
    proposer, *others = people
    for _ in range(ROUNDS):
        conflict = deciding.late(shop(alone=False))
        proposal = propose(conflict, Resolution.REFUND, proposer)
        work = [partial(outcome, partial(approve, proposal, who)) for who in people * 2]

        ends = Counter(crew.race(*work))

        # His own two attempts are refused, or come too late.
        assert ends["done"] == 1
        assert ends["AlreadyDecided"] + ends["NotAllowed"] == len(work) - 1
        proposal.refresh_from_db()
        assert proposal.decided_by_id in [other.user_id for other in others]
    assert_all_is_right()


def test_an_approval_and_a_withdrawal_have_one_winner(crew: Crew, people: list[Person]) -> None:
    for _ in range(ROUNDS):
        conflict = deciding.late(shop(alone=False))
        proposal = propose(conflict, Resolution.ACCEPT, people[0])
        withdraw = partial(
            four_eyes.withdraw, proposal.pk, why="wrong", person=people[0], now=LATER
        )

        ends = crew.race(
            partial(outcome, partial(approve, proposal, people[1])), partial(outcome, withdraw)
        )

        assert ends in (["done", "AlreadyDecided"], ["DoesNotFit", "done"])
        proposal.refresh_from_db()
        assert proposal.status == ("APPROVED" if ends[0] == "done" else "WITHDRAWN")
    assert_all_is_right()


def test_an_approval_and_the_callback_that_voids_it(crew: Crew, people: list[Person]) -> None:
    for _ in range(ROUNDS):
        account = shop(alone=False)
        proposal = propose(deciding.mismatch(account), Resolution.ACCEPT_RECEIVED, people[0])

        ended, told = crew.race(
            partial(outcome, partial(approve, proposal, people[1])),
            partial(deliver, account, callback(txn_no="txn_right")),
            spread=0.004,
        )

        assert (ended, told) in [
            ("done", ["CONFLICT DUPLICATE_PAYMENT"]),
            ("done", ["CONFLICT AMOUNT_MISMATCH"]),
            ("Moved", ["APPLIED"]),
        ]
    assert_all_is_right()


def test_two_proposals_of_one_conflict_are_one(crew: Crew, people: list[Person]) -> None:
    for _ in range(ROUNDS):
        conflict = deciding.late(shop(alone=False))
        form = seen_now(conflict)
        work = [
            partial(outcome, partial(propose, conflict, Resolution.REFUND, who, seen=form))
            for who in people
        ]

        assert Counter(crew.race(*work)) == {"done": 1, "AlreadyProposed": 3}
        assert Proposal.objects.filter(conflict=conflict).count() == 1
    assert_all_is_right()


def test_a_policy_and_a_reviewer_do_one_thing(crew: Crew, people: list[Person]) -> None:
    rule = {"do": "refund", "limits": {"USD": 5000}}
    for _ in range(ROUNDS):
        account = shop(late=rule)
        conflict = deciding.late(account)
        work = partial(decide, conflict, Resolution.ACCEPT, people[0], seen=seen_now(conflict))

        ended, *policies = crew.race(partial(outcome, work), by_policy, by_policy, spread=0.004)

        conflict.refresh_from_db()
        assert [ended, *policies].count("done") == 1
        assert (conflict.decided_as, conflict.decision) == (
            ("PERSON", "ACCEPT") if ended == "done" else ("POLICY", "REFUND")
        )
        money = ProviderTransaction.objects.get(merchant=account.merchant, txn_no="txn_A")
        assert money.disposition == ("APPLIED" if ended == "done" else "HELD")
        ConflictPolicy.objects.filter(merchant=account.merchant).update(status="REPLACED")
    assert_all_is_right()


def test_callbacks_do_not_wait_for_the_audits_chain(
    onlooker: Onlooker, people: list[Person]
) -> None:
    account = shop()
    conflict = deciding.late(account)
    onlooker.do(partial(query, "SELECT pg_advisory_lock(%s)", chain.LOCK))
    try:
        assert deliver(account, callback(txn_no="txn_B", order_no="1001")) == [
            "CONFLICT LATE_PAYMENT"
        ]
        with pytest.raises(OperationalError, match="lock timeout"):
            decide(conflict, Resolution.ACCEPT, people[0])
    finally:
        onlooker.do(partial(query, "SELECT pg_advisory_unlock(%s)", chain.LOCK))

    conflict.refresh_from_db()
    assert (conflict.status, AuditEntry.objects.count()) == ("OPEN", 0)
    decide(conflict, Resolution.ACCEPT, people[0])
    assert_all_is_right()
