"""The life of a conflict: which status may follow which, and the only code that changes one.

Every move counts the version up and is told as an event under that version.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

from outbox.event_types import EventType
from outbox.events import emit
from payments.conflict_events import (
    CONFLICT_PROPOSED,
    CONFLICT_REOPENED,
    CONFLICT_RESOLVED,
    ConflictProposedPayload,
    ConflictReopenedPayload,
    ConflictResolvedPayload,
)
from payments.models import (
    Conflict,
    ConflictReason,
    ConflictStatus,
    DecidedAs,
    Refund,
    Resolution,
)

#: Each status, and the statuses it may be entered from. RESOLVED to OPEN: the refund that was to
#: resolve it has failed, so the question stands again.
ENTERED_FROM: Final[Mapping[ConflictStatus, frozenset[ConflictStatus]]] = {
    ConflictStatus.OPEN: frozenset({ConflictStatus.PROPOSED, ConflictStatus.RESOLVED}),
    ConflictStatus.PROPOSED: frozenset({ConflictStatus.OPEN}),
    ConflictStatus.RESOLVED: frozenset({ConflictStatus.OPEN, ConflictStatus.PROPOSED}),
    ConflictStatus.DISMISSED: frozenset({ConflictStatus.OPEN}),
}
UNDECIDED: Final = (ConflictStatus.OPEN, ConflictStatus.PROPOSED)
_RESOLUTION_LENGTH_MAX: Final = 60

_ANSWERED_SQL: Final = """
    UPDATE payments_conflict
       SET status = 'RESOLVED', resolved_at = %s, resolution = %s, decided_as = 'FACT',
           version = version + 1
     WHERE reason = %s AND subject = %s AND status = ANY(%s)
 RETURNING id, version
"""


class NotThatStatus(RuntimeError):
    """The conflict was not in a status that allows this: a fault of ours; nothing is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """Who decided: a person, perhaps on the proposal of another, or a policy."""

    decided_as: DecidedAs
    name: str
    user_id: int | None = None
    proposed_by_id: int | None = None
    needs_two: bool = False
    policy_id: int | None = None


def answered_by_fact(
    reason: ConflictReason, subject: str, *, resolution: str, merchant_code: str, now: datetime
) -> None:
    """Resolve a conflict whose question has answered itself, if it is still undecided."""
    undecided = [str(status) for status in ENTERED_FROM[ConflictStatus.RESOLVED]]
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERED_SQL, [now, resolution, reason, subject, undecided])
        row = cursor.fetchone()
    if row is not None:
        conflict_id, version = row
        payload = ConflictResolvedPayload(
            conflict_id=str(conflict_id),
            merchant=merchant_code,
            reason=reason,
            resolution=resolution,
            status=ConflictStatus.RESOLVED,
            how="FACT",
            decided_as=DecidedAs.FACT,
        )
        tell(CONFLICT_RESOLVED, conflict_id, seq=version, payload=payload, now=now)


def end(
    conflict: Conflict,
    how: Resolution,
    *,
    text: str,
    why: str,
    decider: Decider,
    refund: Refund | None = None,
    now: datetime,
) -> None:
    """End a conflict that the caller holds, as it was decided, and tell it."""
    dismissed = how is Resolution.DISMISS
    status = ConflictStatus.DISMISSED if dismissed else ConflictStatus.RESOLVED
    _move(
        conflict,
        status,
        resolved_at=now,
        resolution=text[:_RESOLUTION_LENGTH_MAX],
        decision=how,
        decided_as=decider.decided_as,
        decided_by_id=decider.user_id,
        proposed_by_id=decider.proposed_by_id,
        needs_two=decider.needs_two,
        policy_id=decider.policy_id,
        refund_id=refund.pk if refund else None,
        why=why,
    )
    payload = ConflictResolvedPayload(
        conflict_id=str(conflict.pk),
        merchant=conflict.merchant.code,
        reason=ConflictReason(conflict.reason),
        resolution=conflict.resolution,
        status=status,
        how=how,
        decided_as=decider.decided_as,
        refund_no=refund.refund_no if refund else None,
    )
    tell(CONFLICT_RESOLVED, conflict.pk, seq=conflict.version, payload=payload, now=now)


def propose(conflict: Conflict, how: Resolution, *, now: datetime) -> None:
    """A person has proposed a decision; another one is asked."""
    _move(conflict, ConflictStatus.PROPOSED)
    payload = ConflictProposedPayload(
        conflict_id=str(conflict.pk),
        merchant=conflict.merchant.code,
        reason=ConflictReason(conflict.reason),
        status=ConflictStatus.PROPOSED,
        how=how,
    )
    tell(CONFLICT_PROPOSED, conflict.pk, seq=conflict.version, payload=payload, now=now)


def reopen(conflict: Conflict, *, why: str, due_at: datetime, now: datetime) -> None:
    """The question stands again: a proposal was taken back, or what was decided did not happen."""
    _move(
        conflict,
        ConflictStatus.OPEN,
        resolved_at=None,
        resolution="",
        decision="",
        decided_as="",
        decided_by_id=None,
        proposed_by_id=None,
        needs_two=False,
        policy_id=None,
        refund_id=None,
        why=why,
        due_at=due_at,
    )
    payload = ConflictReopenedPayload(
        conflict_id=str(conflict.pk),
        merchant=conflict.merchant.code,
        reason=ConflictReason(conflict.reason),
        status=ConflictStatus.OPEN,
        why=why,
    )
    tell(CONFLICT_REOPENED, conflict.pk, seq=conflict.version, payload=payload, now=now)


def tell(
    event: EventType, conflict_id: int, *, seq: int, payload: Mapping[str, Any], now: datetime
) -> None:
    """Write `conflict.opened`, `conflict.resolved` .. beside the move."""
    emit(
        aggregate_id=str(conflict_id),
        seq=seq,
        payload=payload,
        at=now,
        tenant=payload["merchant"],
        **event.names,
    )


def _move(conflict: Conflict, status: ConflictStatus, **values: Any) -> None:
    """One conditional UPDATE; `conflict` then shows the move. Raises NotThatStatus."""
    allowed = [str(present) for present in ENTERED_FROM[status]]
    values |= {"status": status, "version": conflict.version + 1}
    moved = Conflict.objects.filter(
        pk=conflict.pk, status__in=allowed, version=conflict.version
    ).update(**values)
    if moved != 1:
        raise NotThatStatus(f"conflict {conflict.pk} cannot become {status}")
    for name, value in values.items():
        setattr(conflict, name, value)
