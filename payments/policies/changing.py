"""Change a merchant's policy: each change is a new version, two people's if it widens anything."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Max

from audit import chain
from orders.models import Merchant
from payments.conflicts import people
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NoReason, NotAllowed
from payments.models import WHY_LENGTH_MAX, ConflictPolicy, PolicyStatus
from payments.policies import current, document, rules

#: Each status, and the statuses it may be entered from.
ENTERED_FROM: Final[Mapping[PolicyStatus, frozenset[PolicyStatus]]] = {
    PolicyStatus.PROPOSED: frozenset(),
    PolicyStatus.ACTIVE: frozenset({PolicyStatus.PROPOSED}),
    PolicyStatus.REPLACED: frozenset({PolicyStatus.ACTIVE}),
    PolicyStatus.REJECTED: frozenset({PolicyStatus.PROPOSED}),
    PolicyStatus.WITHDRAWN: frozenset({PolicyStatus.PROPOSED}),
}
PROPOSE: Final = "payments.propose_policy"
APPROVE: Final = "payments.approve_policy"


class NoSuchPolicy(LookupError):
    """There is no such version."""


class NotThatStatus(RuntimeError):
    """A version was not in the status that this needs: a fault of ours; nothing is written."""


@transaction.atomic(durable=True)
def propose(
    merchant: Merchant,
    content: Any,
    *,
    why: str,
    person: Person,
    now: datetime,
    seen: int | None = None,
) -> ConflictPolicy:
    """Make the next version: it counts at once if it widens nothing, else when it is approved.

    `seen`: the version that counted when the person looked, 0 for none; None does not ask.
    Raises BadPolicy, and a Refused: NotAllowed, NoReason, DoesNotFit if another version waits or
    another counts by now.
    """
    people.must_hold(person, PROPOSE)
    wanted = document.read(content)
    if not why.strip():
        raise NoReason(NoReason.__doc__)
    _lock(merchant.pk)
    _must_count(merchant.pk, seen)
    if ConflictPolicy.objects.filter(merchant=merchant, status=PolicyStatus.PROPOSED).exists():
        raise DoesNotFit("Another version waits for approval: approve, reject or withdraw it.")
    needs_two = rules.widens(current.rules_of(merchant.pk), wanted)
    policy = _next(merchant, content, needs_two=needs_two, why=why, person=person, now=now)
    if needs_two:
        _record("policy.proposed", policy, person, before=current.active(merchant.pk), why=why)
        return policy
    _activate(policy, person, why=why, now=now)
    return policy


@transaction.atomic(durable=True)
def switch_off(
    merchant: Merchant, *, why: str, person: Person, now: datetime, seen: int | None = None
) -> ConflictPolicy:
    """Let no rule decide any more, at once; above which amount two people decide stays.

    It does not wait for a version that waits: that one may still be approved, and then counts.
    `seen` as for `propose`. Raises NotAllowed, NoReason, DoesNotFit.
    """
    people.must_hold(person, PROPOSE)
    if not why.strip():
        raise NoReason(NoReason.__doc__)
    _lock(merchant.pk)
    _must_count(merchant.pk, seen)
    before = current.active(merchant.pk)
    if before is None or not current.rules_of(merchant.pk).by_kind:
        raise DoesNotFit("No rule decides anything: there is nothing to switch off.")
    limits = before.rules.get("four_eyes_above")
    content = {"four_eyes_above": limits} if limits else {}
    policy = _next(merchant, content, needs_two=False, why=why, person=person, now=now)
    _activate(policy, person, why=why, now=now)
    return policy


@transaction.atomic(durable=True)
def approve(
    policy_id: int, *, person: Person, now: datetime, seen: int | None = None
) -> ConflictPolicy:
    """Let what another has proposed count; `seen` as for `propose`.

    Raises NoSuchPolicy, NotAllowed, DoesNotFit.
    """
    people.must_hold(person, APPROVE)
    policy = _waiting(policy_id)
    if policy.proposed_by_id == person.user_id:
        raise NotAllowed(f"{person.name} proposed it: another person must approve it.")
    _must_count(policy.merchant_id, seen)
    _activate(policy, person, why="", now=now)
    return policy


@transaction.atomic(durable=True)
def decline(policy_id: int, *, why: str, person: Person, now: datetime) -> ConflictPolicy:
    """Withdraw one's own version that waits, or reject another's. Raises as `approve` does."""
    policy = _waiting(policy_id)
    is_own = policy.proposed_by_id == person.user_id
    people.must_hold(person, PROPOSE if is_own else APPROVE)
    if not why.strip():
        raise NoReason(NoReason.__doc__)
    status = PolicyStatus.WITHDRAWN if is_own else PolicyStatus.REJECTED
    _move(policy, status, person, why=why, now=now)
    _record(f"policy.{status.lower()}", policy, person, before=None, why=why)
    return policy


def _next(
    merchant: Merchant, content: Any, *, needs_two: bool, why: str, person: Person, now: datetime
) -> ConflictPolicy:
    """The version after the last, which counts for nothing yet."""
    last = ConflictPolicy.objects.filter(merchant=merchant).aggregate(last=Max("version"))["last"]
    return ConflictPolicy.objects.create(
        merchant=merchant,
        version=(last or 0) + 1,
        rules=content,
        needs_two=needs_two,
        why=why.strip()[:WHY_LENGTH_MAX],
        proposed_by_id=person.user_id,
        proposed_at=now,
    )


def _must_count(merchant_id: int, seen: int | None) -> None:
    """Raise DoesNotFit if another version counts than was seen; the caller holds the lock."""
    counts = current.version_of(merchant_id)
    if seen is not None and seen != counts:
        raise DoesNotFit(f"Version {counts} counts by now, and not {seen}: look at it first.")


def _activate(policy: ConflictPolicy, person: Person, *, why: str, now: datetime) -> None:
    before = current.active(policy.merchant_id)
    if before is not None:
        moved = ConflictPolicy.objects.filter(pk=before.pk, status=PolicyStatus.ACTIVE)
        if moved.update(status=PolicyStatus.REPLACED) != 1:
            raise NotThatStatus(f"policy {before.pk} is not active")
    _move(policy, PolicyStatus.ACTIVE, person, why=why, now=now)
    _record("policy.activated", policy, person, before=before, why=why or policy.why)


def _waiting(policy_id: int) -> ConflictPolicy:
    """A version that waits, under its merchant's lock."""
    policies = ConflictPolicy.objects.select_related("merchant")
    known = policies.filter(pk=policy_id).first()
    if known is None:
        raise NoSuchPolicy(f"there is no policy {policy_id}")
    _lock(known.merchant_id)
    policy = policies.get(pk=policy_id)
    if policy.status != PolicyStatus.PROPOSED:
        raise DoesNotFit(f"Version {policy.version} is {policy.status}.")
    return policy


def _lock(merchant_id: int) -> None:
    """One change of a merchant's policy at a time; no callback waits for this lock."""
    Merchant.objects.select_for_update(no_key=True).get(pk=merchant_id)


def _move(
    policy: ConflictPolicy, status: PolicyStatus, person: Person, *, why: str, now: datetime
) -> None:
    allowed = [str(present) for present in ENTERED_FROM[status]]
    values = {
        "status": status,
        "decided_by_id": person.user_id,
        "decided_at": now,
        "decided_why": why.strip()[:WHY_LENGTH_MAX],
    }
    if ConflictPolicy.objects.filter(pk=policy.pk, status__in=allowed).update(**values) != 1:
        raise NotThatStatus(f"policy {policy.pk} cannot become {status}")
    for name, value in values.items():
        setattr(policy, name, value)


def _record(
    action: str, policy: ConflictPolicy, person: Person, *, before: ConflictPolicy | None, why: str
) -> None:
    chain.record(
        by=person.actor,
        action=action,
        object_type="policy",
        object_id=f"{policy.merchant.code}/{policy.version}",
        before={"version": before.version, "rules": before.rules} if before else {},
        after={"version": policy.version, "rules": policy.rules, "status": str(policy.status)},
        why=why,
    )
