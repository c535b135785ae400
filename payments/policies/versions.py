"""The versions of a merchant's policy: the only code that makes one or moves it.

Callers hold the merchant's lock, and have seen that the person may.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db.models import Max
from django.utils.translation import gettext_noop as _

from audit import chain
from orders.models import Merchant
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit
from payments.models import WHY_LENGTH_MAX, ConflictPolicy, PolicyStatus
from payments.policies import current
from payments.saying import says

#: Each status, and the statuses it may be entered from.
ENTERED_FROM: Final[Mapping[PolicyStatus, frozenset[PolicyStatus]]] = {
    PolicyStatus.PROPOSED: frozenset(),
    PolicyStatus.ACTIVE: frozenset({PolicyStatus.PROPOSED}),
    PolicyStatus.REPLACED: frozenset({PolicyStatus.ACTIVE}),
    PolicyStatus.REJECTED: frozenset({PolicyStatus.PROPOSED}),
    PolicyStatus.WITHDRAWN: frozenset({PolicyStatus.PROPOSED}),
}


class NoSuchPolicy(LookupError):
    """There is no such version."""


class NotThatStatus(RuntimeError):
    """A version was not in the status that this needs: a fault of ours; nothing is written."""


def add(
    merchant: Merchant,
    content: Any,
    *,
    needs_two: bool,
    why: str,
    person: Person,
    now: datetime,
    **decided: Any,
) -> ConflictPolicy:
    """The version after the last; it waits, unless `decided` says more."""
    last = ConflictPolicy.objects.filter(merchant=merchant).aggregate(last=Max("version"))["last"]
    return ConflictPolicy.objects.create(
        merchant=merchant,
        version=(last or 0) + 1,
        rules=content,
        needs_two=needs_two,
        why=why.strip()[:WHY_LENGTH_MAX],
        proposed_by_id=person.user_id,
        proposed_at=now,
        **decided,
    )


def must_count(merchant_id: int, seen: int | None) -> None:
    """Raise DoesNotFit if another version counts than was seen; the caller holds the lock."""
    counts = current.version_of(merchant_id)
    if seen is not None and seen != counts:
        raise DoesNotFit(
            says(
                _("Version %(now)s counts by now, and not %(then)s: look at it first."),
                now=counts,
                then=seen,
            )
        )


def activate(policy: ConflictPolicy, person: Person, *, why: str, now: datetime) -> None:
    """Let it count, in place of the one that does."""
    before = current.active(policy.merchant_id)
    if before is not None:
        replace(before)
    move(policy, PolicyStatus.ACTIVE, person, why=why, now=now)
    record("policy.activated", policy, person, before=before, why=why or policy.why)


def replace(before: ConflictPolicy) -> None:
    """The version that counted counts no more. Raises NotThatStatus."""
    moved = ConflictPolicy.objects.filter(pk=before.pk, status=PolicyStatus.ACTIVE)
    if moved.update(status=PolicyStatus.REPLACED) != 1:
        raise NotThatStatus(f"policy {before.pk} is not active")


def waiting(policy_id: int) -> ConflictPolicy:
    """A version that waits, under its merchant's lock."""
    policies = ConflictPolicy.objects.select_related("merchant")
    known = policies.filter(pk=policy_id).first()
    if known is None:
        raise NoSuchPolicy(f"there is no policy {policy_id}")
    lock(known.merchant_id)
    policy = policies.get(pk=policy_id)
    if policy.status != PolicyStatus.PROPOSED:
        raise DoesNotFit(
            says(
                _("Version %(version)s is %(status)s."),
                version=policy.version,
                status=policy.status,
            )
        )
    return policy


def lock(merchant_id: int) -> None:
    """One change of a merchant's policy at a time; no callback waits for this lock."""
    Merchant.objects.select_for_update(no_key=True).get(pk=merchant_id)


def move(
    policy: ConflictPolicy, status: PolicyStatus, person: Person, *, why: str, now: datetime
) -> None:
    """Move it, and stamp who did. Raises NotThatStatus."""
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


def record(
    action: str, policy: ConflictPolicy, person: Person, *, before: ConflictPolicy | None, why: str
) -> None:
    """Enter it in the audit, as the last statement."""
    chain.record(
        by=person.actor,
        action=action,
        object_type="policy",
        object_id=f"{policy.merchant.code}/{policy.version}",
        before={"version": before.version, "rules": before.rules} if before else {},
        after={"version": policy.version, "rules": policy.rules, "status": str(policy.status)},
        why=why,
    )
