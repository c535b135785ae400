"""Count anew what has gone back of a payment, whenever a fact of it or its room has changed.

Some providers state each refund under its own number, some all that was refunded so far, and
some both, in any order. What a payment has refunded is then the larger of the two stories, never
their sum (`shares.py`). Whatever finds no room waits, and takes it, the oldest first, as soon as
it is free. The caller holds the payment's row, then our refund's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from payments.models import (
    Conflict,
    ConflictReason,
    Disposition,
    ProviderTransaction,
    TransactionKind,
)
from payments.refunds import questions, reversals, room, rows, shares
from payments.refunds.reversals import Reversals


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """By row, in minor units: what waits for room, and what nobody here has asked for."""

    missing: Mapping[int, int]
    external: Mapping[int, int]


def recount(
    payment: ProviderTransaction,
    *,
    at: datetime,
    now: datetime,
    told: int | None = None,
    lost: str = "",
) -> Counted:
    """Let the room, the order and every row say what the facts say together.

    Asks about what does not fit and about what nobody here has asked for, and answers what was
    asked as soon as all of it counts; the row `told` is left to the caller, whose delivery it is.
    `at` is when money moved in the world. Raises RoomLost.
    """
    known = reversals.of(payment, lost=lost)
    claims = known.claims()
    got, reserved = shares.share_out(payment.amount_minor, claims, known.promises)
    if any(got[pk] < known.owed[pk] for pk in known.ours):
        raise room.RoomLost(f"transaction {payment.pk}")
    _move(payment, known, got, reserved, at=at, now=now)
    for row in known.rows.values():
        _write(row, known, got)
    counted = Counted(
        missing={pk: owed - got[pk] for pk, owed in known.owed.items() if owed > got[pk]},
        external=_external(known, got),
    )
    _ask(payment, known, counted, told=told, now=now)
    return counted


def _move(
    payment: ProviderTransaction,
    known: Reversals,
    got: Mapping[int, int],
    reserved: int,
    *,
    at: datetime,
    now: datetime,
) -> None:
    is_refund = {pk: row.kind == TransactionKind.REFUND for pk, row in known.rows.items()}
    refunded = sum(part for pk, part in got.items() if is_refund[pk])
    charged_back = sum(part for pk, part in got.items() if not is_refund[pk])
    change = {
        "reserved": refunded + reserved - payment.refund_reserved_minor,
        "refunded": refunded - payment.refunded_minor,
        "charged_back": charged_back - payment.charged_back_minor,
    }
    if any(change.values()) and not room.move(payment, **change, at=at, now=now):
        raise room.RoomLost(f"transaction {payment.pk}")


def _write(row: ProviderTransaction, known: Reversals, got: Mapping[int, int]) -> None:
    if row.pk not in known.owed and row.pk not in known.given_back:
        came_back = row.disposition == Disposition.RETURNED
        place = Disposition.RETURNED if came_back else Disposition.HELD
        rows.set_(row, counted_minor=0, disposition=place)
        return
    counted = got.get(row.pk, 0) + known.given_back.get(row.pk, 0)
    waits = not counted and known.owed.get(row.pk, 0)
    disposition = Disposition.HELD if waits else Disposition.APPLIED
    rows.set_(row, counted_minor=counted, disposition=disposition)


def _external(known: Reversals, got: Mapping[int, int]) -> dict[int, int]:
    parts, external = {}, {}
    for pk, part in got.items():
        row = known.rows[pk]
        if row.is_total:
            parts[pk] = (row.recorded_at, part)
        elif row.kind == TransactionKind.REFUND and pk not in known.ours:
            external[pk] = part
    external |= shares.beyond_promises(parts, known.promises)
    return {pk: part for pk, part in external.items() if part}


def _ask(
    payment: ProviderTransaction,
    known: Reversals,
    counted: Counted,
    *,
    told: int | None,
    now: datetime,
) -> None:
    asked: dict[str, set[int | None]] = {reason: set() for reason in ConflictReason}
    about = Conflict.objects.filter(transaction_id__in=known.rows)
    for reason, row_id in about.values_list("reason", "transaction_id"):
        asked[reason].add(row_id)
    exceeding = asked[ConflictReason.REVERSAL_EXCEEDS_PAYMENT]
    for pk, missing in counted.missing.items():
        if pk != told and pk not in exceeding:
            case = questions.exceeds(payment, known.rows[pk], missing)
            questions.ask(case, payment, now=now)
    explained = (
        {told} | asked[ConflictReason.EXTERNAL_REFUND] | asked[ConflictReason.REFUND_REVERSED]
    )
    for pk, part in counted.external.items():
        if pk not in explained and pk not in counted.missing:
            questions.ask(questions.external(payment, pk, part), payment, now=now)
    for pk, row in known.rows.items():
        if pk in exceeding and pk not in counted.missing:
            questions.answer(
                ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
                questions.subject(pk),
                _why_it_fits(row, known),
                payment,
                now=now,
            )


def _why_it_fits(row: ProviderTransaction, known: Reversals) -> str:
    if row.disposition == Disposition.RETURNED:
        return "the refund failed: its money came back"
    if row.pk in known.ours:
        return "it is a refund that was asked for here"
    if known.owed.get(row.pk):
        return "room became free: all of it counts"
    return "other facts of this payment explain all of it"
