"""Policies: changed by two, tried out without a trace, carried out once and marked as theirs."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from audit.models import AuditEntry
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NoReason, NotAllowed
from payments.models import (
    Conflict,
    ConflictPolicy,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    Resolution,
)
from payments.policies import changing, current, document, rules, versions
from payments.policies.apply import apply_policies
from payments.policies.dry_run import Sum, dry_run
from payments.refunds import carry_out
from payments.tasks import decide_conflicts
from tests.books import books
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import LATER, can_send, cannot_send, somebody
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db

REFUND_UP_TO_50 = {"do": "refund", "limits": {"USD": 5000}}
CENTS = {"do": "accept", "tolerance_minor": 100, "limits": {"USD": 5000}}


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def admin() -> Person:
    return somebody("admin", "admin", "approver")


@pytest.fixture
def bob() -> Person:
    return somebody("bob", "approver")


def propose(account: ProviderAccount, who: Person, **content: Any) -> ConflictPolicy:
    return changing.propose(account.merchant, content, why="because", person=who, now=NOW)


def sweep() -> int:
    return apply_policies(client_for=can_send, now=LATER)


# --- Changing ---


def test_what_moves_money_counts_when_another_has_approved_it(
    account: ProviderAccount, admin: Person, bob: Person
) -> None:
    policy = propose(account, admin, late=REFUND_UP_TO_50)
    assert (policy.version, policy.status, policy.needs_two) == (1, "PROPOSED", True)
    assert current.rules_of(account.merchant_id) == rules.Rules()

    with pytest.raises(NotAllowed, match="another person must approve"):
        changing.approve(policy.pk, person=admin, now=NOW)
    changing.approve(policy.pk, person=bob, now=NOW)

    policy.refresh_from_db()
    assert (policy.status, policy.decided_by_id) == ("ACTIVE", bob.user_id)
    assert current.rules_of(account.merchant_id).rule(rules.Kind.LATE).do == "refund"
    actions = list(AuditEntry.objects.order_by("seq").values_list("action", "actor"))
    assert actions == [("policy.proposed", "admin"), ("policy.activated", "bob")]


def test_what_narrows_counts_at_once_and_keeps_the_versions_before(
    account: ProviderAccount, admin: Person, bob: Person
) -> None:
    first = propose(account, admin, late=REFUND_UP_TO_50)
    changing.approve(first.pk, person=bob, now=NOW)

    second = propose(account, admin)

    first.refresh_from_db()
    assert (first.status, second.status, second.version) == ("REPLACED", "ACTIVE", 2)
    entry = AuditEntry.objects.latest("seq")
    assert (entry.before, entry.after) == (
        {"version": 1, "rules": {"late": REFUND_UP_TO_50}},
        {"version": 2, "rules": {}, "status": "ACTIVE"},
    )


def test_one_version_waits_at_a_time_and_may_be_withdrawn_or_rejected(
    account: ProviderAccount, admin: Person, bob: Person
) -> None:
    first = propose(account, admin, late=REFUND_UP_TO_50)
    with pytest.raises(DoesNotFit, match="Another version waits"):
        propose(account, admin)
    with pytest.raises(NoReason):
        changing.decline(first.pk, why="", person=bob, now=NOW)
    assert changing.decline(first.pk, why="x", person=admin, now=NOW).status == "WITHDRAWN"
    with pytest.raises(DoesNotFit, match="Version 1 is WITHDRAWN"):
        changing.approve(first.pk, person=bob, now=NOW)

    second = propose(account, admin, late=REFUND_UP_TO_50)
    assert changing.decline(second.pk, why="too much", person=bob, now=NOW).status == "REJECTED"
    assert current.active(account.merchant_id) is None


def test_switching_off_counts_at_once_and_leaves_what_waits(
    account: ProviderAccount, admin: Person, bob: Person
) -> None:
    content = {"late": REFUND_UP_TO_50, "four_eyes_above": {"USD": 100}}
    first = changing.propose(account.merchant, content, why="x", person=admin, now=NOW)
    changing.approve(first.pk, person=bob, now=NOW)
    waiting = propose(account, admin, late={"do": "refund", "limits": {"USD": 9000}})
    values: dict[str, Any] = {"person": admin, "now": NOW}

    with pytest.raises(DoesNotFit, match="Version 1 counts by now, and not 0"):
        changing.switch_off(account.merchant, why="wrong refunds", seen=0, **values)
    with pytest.raises(NoReason):
        changing.switch_off(account.merchant, why=" ", **values)
    with pytest.raises(NotAllowed):
        changing.switch_off(account.merchant, why="x", person=bob, now=NOW)
    off = changing.switch_off(account.merchant, why="wrong refunds", seen=1, **values)
    with pytest.raises(DoesNotFit, match="nothing to switch off"):
        changing.switch_off(account.merchant, why="again", **values)

    assert (off.version, off.status, off.rules) == (3, "ACTIVE", {"four_eyes_above": {"USD": 100}})
    with pytest.raises(DoesNotFit, match="Version 3 counts by now, and not 1"):
        changing.approve(waiting.pk, person=bob, now=NOW, seen=1)
    changing.approve(waiting.pk, person=bob, now=NOW, seen=3)
    assert current.version_of(account.merchant_id) == 2
    assert list(AuditEntry.objects.order_by("-seq").values_list("action", "why")[:2]) == [
        ("policy.activated", "because"),
        ("policy.activated", "wrong refunds"),
    ]


def test_who_may_not_change_policies_does_not(account: ProviderAccount, bob: Person) -> None:
    reviewer = somebody("alice", "reviewer", "operator", "viewer")
    with pytest.raises(NotAllowed):
        propose(account, bob)
    with pytest.raises(NotAllowed):
        propose(account, reviewer)
    policy = propose(account, somebody("boss", "admin"), late=REFUND_UP_TO_50)
    with pytest.raises(NotAllowed):
        changing.approve(policy.pk, person=reviewer, now=NOW)
    with pytest.raises(versions.NoSuchPolicy):
        changing.approve(10**12, person=bob, now=NOW)


def test_a_policy_says_why_and_is_one(account: ProviderAccount, admin: Person) -> None:
    with pytest.raises(NoReason):
        changing.propose(account.merchant, {}, why=" ", person=admin, now=NOW)
    with pytest.raises(document.BadPolicy):
        propose(account, admin, early={})
    assert not ConflictPolicy.objects.exists()


def test_the_database_itself_lets_nobody_approve_his_own(
    account: ProviderAccount, admin: Person
) -> None:
    policy = propose(account, admin, late=REFUND_UP_TO_50)
    row = ConflictPolicy.objects.filter(pk=policy.pk)
    with pytest.raises(IntegrityError, match="policy_two_people_are_two"), transaction.atomic():
        row.update(status="ACTIVE", decided_by_id=admin.user_id, decided_at=NOW)
    with pytest.raises(IntegrityError), transaction.atomic():
        row.update(status="ACTIVE")


# --- Carrying out ---


@pytest.mark.parametrize(
    ("document", "make", "how"),
    [
        ({"late": REFUND_UP_TO_50}, deciding.late, "REFUND"),
        ({"late": {"do": "accept", "limits": {"USD": 5000}}}, deciding.late, "ACCEPT"),
        ({"under": CENTS}, deciding.mismatch, "ACCEPT_RECEIVED"),
        ({"over": CENTS}, lambda account: deciding.mismatch(account, 1199), "ACCEPT_RECEIVED"),
        ({"duplicate": REFUND_UP_TO_50}, deciding.duplicate, "REFUND"),
        ({"parked": REFUND_UP_TO_50}, deciding.parked, "REFUND"),
    ],
)
def test_a_policy_decides_what_it_may_and_says_so(
    account: ProviderAccount, document: Any, make: Any, how: str
) -> None:
    policy = deciding.alone_up_to(account.merchant, 0, **document)
    conflict = make(account)

    assert (sweep(), sweep()) == (1, 0)

    conflict.refresh_from_db()
    assert (conflict.status, conflict.decision, conflict.decided_as) == ("RESOLVED", how, "POLICY")
    assert (conflict.policy_id, conflict.decided_by, conflict.needs_two) == (policy.pk, None, False)
    entry = AuditEntry.objects.get(action="conflict.resolved")
    assert (entry.actor_kind, entry.actor_id) == ("POLICY", policy.pk)
    assert entry.actor == f"{account.merchant.code} policy version 1"
    assert Refund.objects.exists() == (how == "REFUND")
    carry_out.carry_out(ProviderDouble(), now=LATER)
    assert_books_balance()


@pytest.mark.parametrize(
    ("document", "make"),
    [
        ({}, deciding.late),
        ({"late": {"do": "refund", "limits": {"USD": 1098}}}, deciding.late),
        ({"under": {**CENTS, "tolerance_minor": 98}}, deciding.mismatch),
        ({"late": REFUND_UP_TO_50}, deciding.duplicate),
        ({"late": REFUND_UP_TO_50}, deciding.currency),
        ({"late": REFUND_UP_TO_50}, deciding.merchant),
        ({"late": REFUND_UP_TO_50}, deciding.altered),
        ({"over": REFUND_UP_TO_50, "under": REFUND_UP_TO_50}, deciding.external),
    ],
)
def test_what_a_policy_may_not_decide_waits_for_a_person(
    account: ProviderAccount, document: Any, make: Any
) -> None:
    deciding.alone_up_to(account.merchant, **document)
    conflict = make(account)

    assert sweep() == 0

    conflict.refresh_from_db()
    assert (conflict.status, conflict.version) == ("OPEN", 1)
    assert not AuditEntry.objects.exists()
    assert_books_balance()


def test_conflicts_from_before_a_policy_are_left_to_people(account: ProviderAccount) -> None:
    conflict = deciding.late(account)
    policy = deciding.alone_up_to(account.merchant, late=REFUND_UP_TO_50)
    ConflictPolicy.objects.filter(pk=policy.pk).update(decided_at=NOW + timedelta(seconds=1))

    assert sweep() == 0
    conflict.refresh_from_db()
    assert conflict.status == "OPEN"


def test_an_order_that_was_paid_since_is_not_accepted_by_a_policy(
    account: ProviderAccount,
) -> None:
    deciding.alone_up_to(account.merchant, under=CENTS)
    deciding.mismatch(account)
    tell_one(account, callback(txn_no="txn_right"))

    assert sweep() == 0
    assert_books_balance()


def test_a_refund_that_cannot_be_sent_is_left_to_people(account: ProviderAccount) -> None:
    deciding.alone_up_to(account.merchant, parked=REFUND_UP_TO_50)
    conflict = deciding.parked(account)

    assert apply_policies(client_for=cannot_send, now=LATER) == 0
    assert apply_policies(client_for=can_send, now=LATER) == 0  # It was looked at, once.

    conflict.refresh_from_db()
    money = ProviderTransaction.objects.get()
    assert (conflict.status, money.disposition, Refund.objects.count()) == ("OPEN", "PARKED", 0)
    assert_books_balance()


def test_a_refund_of_a_policy_that_fails_is_asked_of_a_person_and_not_repeated(
    account: ProviderAccount,
) -> None:
    deciding.alone_up_to(account.merchant, late=REFUND_UP_TO_50)
    conflict = deciding.late(account)
    sweep()
    carry_out.carry_out(ProviderDouble(refuses=True), now=LATER)

    decide_conflicts()

    conflict.refresh_from_db()
    assert (conflict.status, conflict.decision, sweep()) == ("OPEN", "", 0)
    assert_books_balance()


# --- Trying out ---


def test_a_dry_run_says_what_would_have_been_done_and_does_nothing(
    account: ProviderAccount,
) -> None:
    deciding.late(account)
    deciding.order_of(account, "2002")
    tell_one(account, callback(txn_no="txn_B", order_no="2002", amount_minor=1050))
    deciding.order_of(account, "3003")
    tell_one(account, callback(txn_no="txn_C", order_no="3003", amount_minor=500))
    tell_one(account, callback(txn_no="txn_D", order_no="1001"))
    deciding.late(ProviderAccountFactory.create())
    wanted = document.read({"late": REFUND_UP_TO_50, "under": CENTS})
    before = books()

    found = dry_run(account.merchant, wanted, now=NOW + timedelta(days=29))

    assert books() == before
    assert (found.looked_at, found.decided, found.asked) == (4, 3, 1)
    assert found.sums == {
        (Resolution.REFUND, "USD"): Sum(2, 2198),
        (Resolution.ACCEPT_RECEIVED, "USD"): Sum(1, 1050),
    }
    assert [(line.how, line.amount_minor) for line in found.lines] == [
        ("REFUND", 1099),
        ("ACCEPT_RECEIVED", 1050),
        ("REFUND", 1099),
    ]
    assert dry_run(account.merchant, wanted, now=NOW + timedelta(days=31)).looked_at == 0


def test_a_dry_run_looks_at_what_was_decided_too_as_it_was_opened(
    account: ProviderAccount,
) -> None:
    deciding.alone_up_to(account.merchant, under=CENTS)
    conflict = deciding.mismatch(account)
    wanted = document.read({"under": CENTS})
    before = dry_run(account.merchant, wanted, now=LATER)
    assert sweep() == 1

    assert dry_run(account.merchant, wanted, now=LATER) == before
    assert before.lines[0].conflict_id == conflict.pk


def test_the_pages_of_a_dry_run_leave_nothing_out(account: ProviderAccount) -> None:
    conflict = deciding.late(account)
    Conflict.objects.bulk_create(
        Conflict(
            merchant=account.merchant,
            reason=conflict.reason,
            subject=f"transaction:{number}",
            severity=conflict.severity,
            expected=conflict.expected,
            received=conflict.received,
            opened_at=NOW,
            due_at=NOW,
        )
        for number in range(-4, 0)
    )

    wanted = document.read({"late": REFUND_UP_TO_50})
    for page in (1, 2, 5, 6):
        found = dry_run(account.merchant, wanted, now=LATER, lines_max=3, page=page)

        assert (found.decided, len(found.lines)) == (5, 3)
        assert found.sums == {(Resolution.REFUND, "USD"): Sum(5, 5 * 1099)}
        assert not found.is_cut
    for most, is_cut in ((4, True), (5, False)):
        found = dry_run(account.merchant, wanted, now=LATER, most=most)
        assert (found.looked_at, found.is_cut) == (most, is_cut)
