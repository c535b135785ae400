"""Let the merchants' policies decide what they may, right after the conflicts were opened.

A sweep does it, not the callback: a callback never waits for the audit's chain, nor for a refund's
room. Each conflict is looked at once by a version of a policy, and only if it was opened after
that version counted; what the rules do not decide waits for a person.
"""

from datetime import datetime
from functools import partial
from typing import Final

import structlog
from django.db import DatabaseError, connection, transaction

from audit.actors import Actor
from audit.models import ActorKind
from idempotency.deadlocks import retry_deadlocks
from payments.conflicts import resolve
from payments.conflicts import seen as seeing
from payments.conflicts.checking import Wanted
from payments.conflicts.facts import Facts
from payments.conflicts.fitting import why_not
from payments.conflicts.lifecycle import Decider
from payments.conflicts.refusals import DoesNotFit
from payments.conflicts.seen import Held
from payments.models import (
    Conflict,
    ConflictPolicy,
    ConflictStatus,
    DecidedAs,
    PolicyStatus,
    Resolution,
)
from payments.policies import document, rules
from payments.policies.rules import REASONS, Question
from payments.refunds.asking import ClientFor

log = structlog.get_logger(__name__)

#: How many conflicts one sweep looks at; the next tick takes the rest.
SWEEP_MAX: Final = 200

_DUE_SQL: Final = """
    SELECT c.id, p.id FROM payments_conflict c
      JOIN payments_conflictpolicy p ON p.merchant_id = c.merchant_id AND p.status = 'ACTIVE'
     WHERE c.status = 'OPEN' AND c.reason = ANY(%s) AND c.policy_seen < p.id
       AND c.opened_at >= p.decided_at
  ORDER BY c.id LIMIT %s
"""


def apply_policies(*, client_for: ClientFor, now: datetime, limit: int = SWEEP_MAX) -> int:
    """How many conflicts the policies have decided."""
    with connection.cursor() as cursor:
        cursor.execute(_DUE_SQL, [[str(reason) for reason in REASONS], limit])
        due = cursor.fetchall()
    return sum(_alone(conflict_id, policy_id, client_for, now) for conflict_id, policy_id in due)


def _alone(conflict_id: int, policy_id: int, client_for: ClientFor, now: datetime) -> bool:
    """One conflict's transaction; its failure is logged and must not hold up the others."""
    try:
        return retry_deadlocks(partial(_apply, conflict_id, policy_id, client_for, now))
    except DatabaseError as error:
        log.error("policy failed", conflict_id=conflict_id, error=type(error).__name__)  # noqa: TRY400 - the name is enough; a trace would hold values
        return False


@transaction.atomic(durable=True)
def _apply(conflict_id: int, policy_id: int, client_for: ClientFor, now: datetime) -> bool:
    held = seeing.lock(conflict_id)
    policy = (
        ConflictPolicy.objects.select_for_update(no_key=True)
        .filter(pk=policy_id, status=PolicyStatus.ACTIVE)
        .first()
    )
    if policy is None or held.conflict.status != ConflictStatus.OPEN:
        return False  # Switched off, or a person was faster.
    Conflict.objects.filter(pk=conflict_id).update(policy_seen=policy_id)
    how = _chosen(policy, held.facts)
    return how is not None and _settled(held, how, policy, client_for, now)


def _chosen(policy: ConflictPolicy, facts: Facts) -> Resolution | None:
    money, order = facts.money, facts.order
    if money is None:
        return None
    question = Question(
        reason=facts.reason,
        came_minor=money.amount_minor,
        currency=money.currency,
        owed_minor=order.amount_minor if order else None,
        owed_currency=order.currency if order else "",
    )
    how = rules.decide(document.read(policy.rules), question)
    return None if how is None or why_not(how, facts) else how


def _settled(
    held: Held, how: Resolution, policy: ConflictPolicy, client_for: ClientFor, now: datetime
) -> bool:
    name = f"{held.conflict.merchant.code} policy version {policy.version}"
    decider = Decider(decided_as=DecidedAs.POLICY, name=name, policy_id=policy.pk)
    by = Actor(kind=ActorKind.POLICY, name=name, id=policy.pk, origin="policy sweep")
    wanted = Wanted(how=how, why=f"by {name}")
    try:
        with transaction.atomic():
            resolve.settle(held, wanted, decider=decider, by=by, client_for=client_for, now=now)
    except DoesNotFit as refusal:
        # A refund that cannot be sent, say: a person is asked, as without a policy.
        log.warning("policy not carried out", conflict_id=held.conflict.pk, why=str(refusal))
        return False
    return True
