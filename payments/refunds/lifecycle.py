"""The life of a refund: which status may follow which, and the only code that changes one.

A claim is a lease by the database's clock with a random owner token and a fence. Whoever has lost
it can change nothing any more; a refund whose lease has ended is asked about, never sent again
before the provider has been asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import connection
from django.db.models import F

from payments.models import Refund, RefundStatus

#: Each status, and the statuses it may be entered from. SUCCEEDED to FAILED is a provider that
#: takes back its word; PROCESSING to PROCESSING is the recovery taking over.
ENTERED_FROM: Final[Mapping[RefundStatus, frozenset[RefundStatus]]] = {
    RefundStatus.REQUESTED: frozenset({RefundStatus.PROCESSING}),
    RefundStatus.PROCESSING: frozenset({RefundStatus.REQUESTED, RefundStatus.PROCESSING}),
    RefundStatus.SUCCEEDED: frozenset({RefundStatus.REQUESTED, RefundStatus.PROCESSING}),
    RefundStatus.FAILED: frozenset(
        {RefundStatus.REQUESTED, RefundStatus.PROCESSING, RefundStatus.SUCCEEDED}
    ),
}
WHY_LENGTH_MAX: Final = 300
_LONG: Final = timedelta(days=3650)

_CLAIM_SQL: Final = """
    UPDATE payments_refund AS refund
       SET status = 'PROCESSING', owner_token = %(owner)s, fence = refund.fence + 1,
           lease_until = clock_timestamp() + %(lease)s, due_at = NULL {sent}
      FROM (SELECT id FROM payments_refund WHERE {due}
             LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS due
     WHERE refund.id = due.id
 RETURNING refund.id, refund.fence, refund.asks
"""
_TO_SEND_SQL: Final = _CLAIM_SQL.format(
    sent=""", sent_at = clock_timestamp(),
           first_sent_at = coalesce(refund.first_sent_at, clock_timestamp())""",
    due="status = 'REQUESTED' AND due_at <= clock_timestamp() ORDER BY due_at",
)
_TO_ASK_SQL: Final = _CLAIM_SQL.format(
    sent="",
    due="status = 'PROCESSING' AND lease_until <= clock_timestamp() ORDER BY lease_until",
)
_OURS: Final = "id = %(id)s AND owner_token = %(owner)s AND fence = %(fence)s"
_ASK_LATER_SQL: Final = f"""
    UPDATE payments_refund
       SET lease_until = clock_timestamp() + %(wait)s, why = %(why)s,
           asks = CASE WHEN %(heard)s THEN 0 ELSE asks + 1 END,
           provider_refund_no = CASE WHEN %(number)s <> '' THEN %(number)s
                                     ELSE provider_refund_no END
     WHERE {_OURS} AND status = 'PROCESSING'
"""  # noqa: S608 - constants only
# Only where the provider must have seen it by now if it ever will, has never known it, and still
# takes the number for the same refund.
_SEND_AGAIN_SQL: Final = f"""
    UPDATE payments_refund
       SET status = 'REQUESTED', owner_token = NULL, lease_until = NULL, asks = asks + 1,
           due_at = clock_timestamp(), why = %(why)s
     WHERE {_OURS} AND status = 'PROCESSING' AND provider_refund_no = ''
       AND sent_at <= clock_timestamp() - %(window)s::interval
       AND first_sent_at > clock_timestamp() - %(repeatable_for)s::interval
"""  # noqa: S608 - constants only
_NOT_SENT_SQL: Final = f"""
    UPDATE payments_refund
       SET status = 'REQUESTED', owner_token = NULL, lease_until = NULL, asks = asks + 1,
           due_at = clock_timestamp() + %(wait)s, why = %(why)s,
           first_sent_at = CASE WHEN first_sent_at < sent_at THEN first_sent_at END
     WHERE {_OURS} AND status = 'PROCESSING'
"""  # noqa: S608 - constants only


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One refund that is ours until the lease ends."""

    refund_id: int
    owner: UUID
    fence: int
    asks: int


class NotThatStatus(RuntimeError):
    """The refund was not in a status that allows this: a fault of ours; nothing is written."""


def claim_to_send(lease: timedelta) -> Claim | None:
    """Take the refund that has been due for longest; None if none is."""
    return _claim(_TO_SEND_SQL, lease)


def claim_to_ask(lease: timedelta) -> Claim | None:
    """Take over the refund whose lease ended first; None if none has."""
    return _claim(_TO_ASK_SQL, lease)


def ask_later(
    claim: Claim, wait: timedelta, *, why: str, heard: bool = False, provider_refund_no: str = ""
) -> bool:
    """Leave the refund to be asked about after that; `heard`: the provider knows of it.

    False if it is ours no more.
    """
    return _ours(_ASK_LATER_SQL, claim, wait=wait, why=why, heard=heard, number=provider_refund_no)


def send_again(claim: Claim, *, window: timedelta, repeatable_for: timedelta, why: str) -> bool:
    """Have the refund sent again under its number; else False.

    Only if it was sent longer than `window` ago, for the first time within `repeatable_for`.
    """
    # The database's times do not reach as far back as "for ever".
    bounded = min(repeatable_for, _LONG)
    return _ours(_SEND_AGAIN_SQL, claim, window=window, repeatable_for=bounded, why=why)


def not_sent(claim: Claim, wait: timedelta, *, why: str) -> bool:
    """Nothing has left us: have it sent later. False if it is ours no more."""
    return _ours(_NOT_SENT_SQL, claim, wait=wait, why=why)


def lock_ours(claim: Claim) -> Refund | None:
    """The refund, locked, if the claim still holds it."""
    return (
        Refund.objects.select_for_update(no_key=True)
        .filter(
            pk=claim.refund_id,
            owner_token=claim.owner,
            fence=claim.fence,
            status=RefundStatus.PROCESSING,
        )
        .first()
    )


def end(
    refund: Refund,
    status: RefundStatus,
    *,
    transaction_id: int | None = None,
    provider_refund_no: str = "",
    why: str = "",
    now: datetime,
) -> None:
    """Move a refund that is locked to SUCCEEDED or FAILED. Raises NotThatStatus."""
    values: dict[str, Any] = {
        "status": status,
        "owner_token": None,
        "lease_until": None,
        "due_at": None,
        "finished_at": now,
        "why": why[:WHY_LENGTH_MAX],
        "transaction_id": transaction_id or refund.transaction_id,
        "provider_refund_no": provider_refund_no or refund.provider_refund_no,
    }
    allowed = [str(present) for present in ENTERED_FROM[status]]
    moved = Refund.objects.filter(pk=refund.pk, status__in=allowed).update(
        **values, version=F("version") + 1
    )
    if moved != 1:
        raise NotThatStatus(f"refund {refund.pk} cannot become {status}")
    for name, value in values.items():
        setattr(refund, name, value)
    refund.version += 1


def _claim(sql: str, lease: timedelta) -> Claim | None:
    owner = uuid4()
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"owner": owner, "lease": lease}
        cursor.execute(sql, values)
        row = cursor.fetchone()
    if row is None:
        return None
    return Claim(refund_id=row[0], owner=owner, fence=row[1], asks=row[2])


def _ours(sql: str, claim: Claim, *, why: str, **values: Any) -> bool:
    values |= {"id": claim.refund_id, "owner": claim.owner, "fence": claim.fence}
    values["why"] = why[:WHY_LENGTH_MAX]
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return bool(cursor.rowcount == 1)
