"""Who has taken a conflict on, and which of many may be dismissed at once."""

import pytest
from django.contrib.auth.models import User

from audit.models import AuditEntry
from payments.conflicts import assigning, bulk
from payments.conflicts.assigning import Assignment, assign
from payments.conflicts.people import Person
from payments.conflicts.refusals import AlreadyDecided, DoesNotFit, Moved, NoReason, NotAllowed
from payments.models import Conflict, ConflictReason, ProviderAccount, Resolution
from tests.factories import ConflictFactory, ProviderAccountFactory
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import LATER, somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def alice() -> Person:
    return somebody("alice", "reviewer")


def give(conflict: Conflict, who: Person, to: Person | None, seen: Person | None = None) -> bool:
    wanted = Assignment(to=to.user_id if to else None, seen=seen.user_id if seen else None)
    return assign(conflict.pk, wanted, person=who, now=LATER)


def test_a_conflict_is_taken_on_given_away_and_laid_back(
    account: ProviderAccount, alice: Person
) -> None:
    conflict, bob = deciding.late(account), somebody("bob", "reviewer")
    form = deciding.seen_now(conflict)

    assert give(conflict, alice, alice)
    assert not give(conflict, alice, alice)
    conflict.refresh_from_db()
    assert (conflict.assignee_id, conflict.assigned_at) == (alice.user_id, LATER)
    assert give(conflict, alice, bob, seen=alice)
    assert give(conflict, bob, None, seen=bob)
    conflict.refresh_from_db()

    assert (conflict.assignee_id, conflict.assigned_at) == (None, None)
    told = AuditEntry.objects.order_by("seq").values_list("action", "before", "after")
    assert list(told) == [
        ("conflict.assigned", {"assignee": then}, {"assignee": now})
        for then, now in (("nobody", "alice"), ("alice", "bob"), ("bob", "nobody"))
    ]
    assert deciding.seen_now(conflict) == form


def test_of_two_who_take_it_on_the_second_is_told(account: ProviderAccount, alice: Person) -> None:
    conflict, bob = deciding.late(account), somebody("bob", "reviewer")
    give(conflict, alice, alice)

    with pytest.raises(Moved, match="assignee was nobody and is alice"):
        give(conflict, bob, bob)

    conflict.refresh_from_db()
    assert conflict.assignee_id == alice.user_id


def test_only_who_may_decide_takes_one_on_and_only_while_it_is_undecided(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.parked(account)
    vera, gone = somebody("vera", "viewer"), somebody("gone", "reviewer")
    User.objects.filter(pk=gone.user_id).update(is_active=False)

    with pytest.raises(NotAllowed):
        give(conflict, vera, vera)
    for other in (vera, gone):
        with pytest.raises(DoesNotFit):
            give(conflict, alice, other)
    deciding.decide(conflict, Resolution.DISMISS, alice)
    with pytest.raises(AlreadyDecided):
        give(conflict, alice, alice)
    assert [user.get_username() for user in assigning.who_decide()] == ["alice"]


def test_of_many_only_the_harmless_that_have_not_moved_are_dismissed(
    account: ProviderAccount, alice: Person
) -> None:
    external = deciding.external(account)
    late = ConflictFactory.create(reason=ConflictReason.LATE_PAYMENT)
    moved = ConflictFactory.create(reason=ConflictReason.PAYMENT_NOT_FOUND, version=3)
    decided = ConflictFactory.create(
        reason=ConflictReason.EXTERNAL_REFUND,
        subject="transaction:of another",
        status="RESOLVED",
        resolved_at=LATER,
    )
    versions = {one.pk: one.version for one in (external, late, decided)} | {moved.pk: 2, 0: 1}

    told = bulk.dismiss(versions, why="known to the shop", person=alice, now=LATER)

    assert {one.conflict_id: one.refused for one in told} == {
        external.pk: "",
        late.pk: "LATE_PAYMENT is decided one by one.",
        moved.pk: "It has moved since: conflict.version was 2 and is 3.",
        decided.pk: ("A fact that came decided it at 2026-03-01 14:00:00 UTC: RESOLVED, ."),
        0: "there is no conflict 0",
    }
    statuses = Conflict.objects.filter(status="DISMISSED").values_list("pk", "why")
    assert list(statuses) == [(external.pk, "known to the shop")]
    assert AuditEntry.objects.filter(action="conflict.refused").count() == 3


def test_nothing_is_dismissed_without_the_right_or_a_reason(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.external(account)

    with pytest.raises(NotAllowed):
        bulk.dismiss({conflict.pk: 1}, why="x", person=somebody("vera", "viewer"), now=LATER)
    with pytest.raises(NoReason):
        bulk.dismiss({conflict.pk: 1}, why=" ", person=alice, now=LATER)
    assert Conflict.objects.get().status == "OPEN"


def test_what_came_is_kept_for_lists(account: ProviderAccount) -> None:
    conflict = deciding.late(account)

    assert (conflict.amount_minor, conflict.currency) == (1099, "USD")
