"""The life of a refund: which status may follow which, and the only code that changes one.

A claim is a lease of the kernel (`idempotency/lease.py`): whoever has lost it can change nothing
any more. A refund whose lease has ended is asked about, never sent again before the provider has
been asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import uuid4

from django.db.models import F

from idempotency import lease
from idempotency.lease import NOW, Held
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

_TABLE: Final = "payments_refund"
_TO_SEND_SQL: Final = lease.entering(
    _TABLE,
    which=f"status = 'REQUESTED' AND due_at <= {NOW}",
    order="due_at",
    moves=f""", due_at = NULL, sent_at = {NOW},
           first_sent_at = coalesce(leased.first_sent_at, {NOW})""",
    returning=", leased.asks",
)
_TO_ASK_SQL: Final = lease.entering(
    _TABLE, which=lease.EXPIRED, order="lease_until", moves="", returning=", leased.asks"
)
_ASK_ONE_SQL: Final = lease.entering(
    _TABLE,
    which="id = %(refund_id)s AND status = 'PROCESSING'",
    moves="",
    returning=", leased.asks",
)
_ASK_LATER_SQL: Final = lease.owned(
    _TABLE,
    moves=f"""lease_until = {NOW} + %(wait)s, why = %(why)s,
           asks = CASE WHEN %(heard)s THEN 0 ELSE asks + 1 END,
           provider_refund_no = CASE WHEN %(number)s <> '' THEN %(number)s
                                     ELSE provider_refund_no END""",
)
_LET_GO: Final = """status = 'REQUESTED', owner_token = NULL, lease_until = NULL,
           asks = asks + 1, why = %(why)s"""
# Only where the provider must have seen it by now if it ever will, has never known it, and still
# takes the number for the same refund.
_SEND_AGAIN_SQL: Final = lease.owned(
    _TABLE,
    moves=f"{_LET_GO}, due_at = {NOW}",
    only_if=f"""provider_refund_no = '' AND sent_at <= {NOW} - %(window)s::interval
       AND first_sent_at > {NOW} - %(repeatable_for)s::interval""",
)
_NOT_SENT_SQL: Final = lease.owned(
    _TABLE,
    moves=f"""{_LET_GO}, due_at = {NOW} + %(wait)s,
           first_sent_at = CASE WHEN first_sent_at < sent_at THEN first_sent_at END""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Held):
    """One refund that is ours until the lease ends; so many answers about it said nothing."""

    asks: int

    @property
    def refund_id(self) -> int:
        """The refund's row."""
        return self.row_id


class NotThatStatus(RuntimeError):
    """The refund was not in a status that allows this: a fault of ours; nothing is written."""


def claim_to_send(length: timedelta) -> Claim | None:
    """Take the refund that has been due for longest, for so long; None if none is."""
    return _claim(_TO_SEND_SQL, length)


def claim_to_ask(length: timedelta) -> Claim | None:
    """Take over the refund whose lease ended first, for so long; None if none has."""
    return _claim(_TO_ASK_SQL, length)


def claim_one(refund_id: int, length: timedelta) -> Claim | None:
    """Take over this refund, whoever has it now; None if it is not under way, or moving."""
    return _claim(_ASK_ONE_SQL, length, refund_id=refund_id)


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
    return lease.lock(Refund.objects.all(), claim)


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


def link(refund: Refund, transaction_id: int) -> None:
    """The ledger has a refund that failed: it was told as done after that. The first row stays."""
    if refund.transaction_id is None:
        Refund.objects.filter(pk=refund.pk).update(transaction_id=transaction_id)
        refund.transaction_id = transaction_id


def _claim(sql: str, length: timedelta, **values: Any) -> Claim | None:
    taken = lease.enter(sql, owner=uuid4(), lease=length, **values)
    if taken is None:
        return None
    held, (asks,) = taken
    return Claim(row_id=held.row_id, owner=held.owner, fence=held.fence, asks=asks)


def _ours(sql: str, claim: Claim, *, why: str, **values: Any) -> bool:
    return lease.move(sql, claim, why=why[:WHY_LENGTH_MAX], **values)
