"""Change a merchant's policy: each change is a new version, two people's if it widens anything."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext_noop as _

from orders.models import Merchant
from payments.conflicts import people
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NoReason, NotAllowed
from payments.models import WHY_LENGTH_MAX, ConflictPolicy, PolicyStatus
from payments.policies import current, document, rules, versions
from payments.saying import says

PROPOSE: Final = "payments.propose_policy"
APPROVE: Final = "payments.approve_policy"


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
        raise NoReason
    versions.lock(merchant.pk)
    versions.must_count(merchant.pk, seen)
    if ConflictPolicy.objects.filter(merchant=merchant, status=PolicyStatus.PROPOSED).exists():
        raise DoesNotFit(
            says(_("Another version waits for approval: approve, reject or withdraw it."))
        )
    needs_two = rules.widens(current.rules_of(merchant.pk), wanted)
    policy = versions.add(merchant, content, needs_two=needs_two, why=why, person=person, now=now)
    if needs_two:
        versions.record(
            "policy.proposed", policy, person, before=current.active(merchant.pk), why=why
        )
        return policy
    versions.activate(policy, person, why=why, now=now)
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
        raise NoReason
    versions.lock(merchant.pk)
    versions.must_count(merchant.pk, seen)
    before = current.active(merchant.pk)
    if before is None or not current.rules_of(merchant.pk).by_kind:
        raise DoesNotFit(says(_("No rule decides anything: there is nothing to switch off.")))
    limits = before.rules.get("four_eyes_above")
    content = {"four_eyes_above": limits} if limits else {}
    versions.replace(before)
    # Made as one that counts: there may be another that waits, and two cannot.
    policy = versions.add(
        *(merchant, content),
        needs_two=False,
        why=why,
        person=person,
        now=now,
        status=PolicyStatus.ACTIVE,
        decided_by_id=person.user_id,
        decided_at=now,
        decided_why=why.strip()[:WHY_LENGTH_MAX],
    )
    versions.record("policy.activated", policy, person, before=before, why=why)
    return policy


@transaction.atomic(durable=True)
def approve(
    policy_id: int, *, person: Person, now: datetime, seen: int | None = None
) -> ConflictPolicy:
    """Let what another has proposed count; `seen` as for `propose`.

    Raises NoSuchPolicy, NotAllowed, DoesNotFit.
    """
    people.must_hold(person, APPROVE)
    policy = versions.waiting(policy_id)
    if policy.proposed_by_id == person.user_id:
        raise NotAllowed(
            says(_("%(who)s proposed it: another person must approve it."), who=person.name)
        )
    versions.must_count(policy.merchant_id, seen)
    versions.activate(policy, person, why="", now=now)
    return policy


@transaction.atomic(durable=True)
def decline(policy_id: int, *, why: str, person: Person, now: datetime) -> ConflictPolicy:
    """Withdraw one's own version that waits, or reject another's. Raises as `approve` does."""
    policy = versions.waiting(policy_id)
    is_own = policy.proposed_by_id == person.user_id
    people.must_hold(person, PROPOSE if is_own else APPROVE)
    if not why.strip():
        raise NoReason
    status = PolicyStatus.WITHDRAWN if is_own else PolicyStatus.REJECTED
    versions.move(policy, status, person, why=why, now=now)
    versions.record(f"policy.{status.lower()}", policy, person, before=None, why=why)
    return policy
