"""What is known of the money that went back of a payment: the ledger's rows, and our refunds."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db.models import Q

from payments.callback import Kind, Outcome
from payments.models import (
    ConflictReason,
    Delivery,
    Disposition,
    ProviderTransaction,
    Refund,
    RefundStatus,
    TransactionKind,
)
from payments.refunds import rows
from payments.refunds.shares import Claim, Failed, Promise, Single, Total, owed_to_totals

UNDER_WAY: Final = (RefundStatus.REQUESTED, RefundStatus.PROCESSING)


@dataclass(slots=True)
class Reversals:
    """The rows that reverse a payment by their ids, and what each is owed, in minor units."""

    rows: dict[int, ProviderTransaction]
    promises: list[Promise] = field(default_factory=list)
    #: The rows of refunds of ours that have succeeded: their room was promised.
    ours: set[int] = field(default_factory=set)
    owed: dict[int, int] = field(default_factory=dict)
    #: What disputes that were won gave back, by the chargeback's row and by the reversal's.
    given_back: dict[int, int] = field(default_factory=dict)

    def claims(self) -> list[Claim]:
        """Ours first, and the totals last: they only count what nothing else tells."""
        found = [self._claim(row) for row in self.rows.values() if row.pk in self.owed]
        found.sort(key=lambda each: (each.pk not in self.ours, each.told_at is not None, each.pk))
        return found

    def _claim(self, row: ProviderTransaction) -> Claim:
        owed = self.owed[row.pk]
        has = owed if row.pk in self.ours else row.counted_minor
        if row.kind == TransactionKind.CHARGEBACK:
            has -= self._given_back_before(row)
        return Claim(
            pk=row.pk, owed=owed, has=max(0, has), told_at=row.recorded_at if row.is_total else None
        )

    def _given_back_before(self, taken: ProviderTransaction) -> int:
        back = _of_dispute(self.rows.values(), TransactionKind.CHARGEBACK_REVERSAL, taken.txn_no)
        return back.counted_minor if back else 0


def of(payment: ProviderTransaction, *, lost: str = "") -> Reversals:
    """What is known now, its rows locked. `lost` is a dispute that is just being told as lost."""
    found = Reversals(rows={row.pk: row for row in rows.of_payment(payment)})
    asked_at: dict[int, datetime] = {}
    for refund in Refund.objects.filter(payment=payment).order_by("pk"):
        if refund.status in UNDER_WAY:
            found.promises.append(Promise(amount=refund.amount_minor, since=refund.requested_at))
        elif refund.transaction_id is not None:
            asked_at[refund.transaction_id] = refund.requested_at
            if refund.status == RefundStatus.SUCCEEDED:
                found.ours.add(refund.transaction_id)
    agreeing = [
        row for row in found.rows.values() if row.pk in found.ours or rows.agrees(row, payment)
    ]
    _owe_refunds(found, agreeing, asked_at)
    _owe_disputes(found, agreeing, lost)
    return found


def _owe_refunds(
    found: Reversals, agreeing: list[ProviderTransaction], asked_at: dict[int, datetime]
) -> None:
    singles, failed, totals = [], [], []
    for row in agreeing:
        since = asked_at.get(row.pk)
        stated = row.occurred_at if row.occurred_at_is_stated else None
        if row.kind != TransactionKind.REFUND:
            continue
        if row.is_total:
            total = Total(pk=row.pk, amount=row.amount_minor, at=stated, told_at=row.recorded_at)
            totals.append(total)
        elif row.disposition == Disposition.RETURNED:
            told_at = row.failure_told_at
            failed.append(
                Failed(amount=row.amount_minor, since=since, at=row.failed_at, told_at=told_at)
            )
        else:
            singles.append(Single(amount=row.amount_minor, since=since))
            found.owed[row.pk] = row.amount_minor
    found.owed |= owed_to_totals(totals, singles, failed)


def _owe_disputes(found: Reversals, agreeing: list[ProviderTransaction], lost: str) -> None:
    """What a dispute takes is the same in whatever order its facts came."""
    for row in agreeing:
        if row.kind == TransactionKind.CHARGEBACK_REVERSAL:
            found.given_back[row.pk] = 0
    for taken in agreeing:
        if taken.kind != TransactionKind.CHARGEBACK:
            continue
        back = _of_dispute(agreeing, TransactionKind.CHARGEBACK_REVERSAL, taken.txn_no)
        returned = 0
        if back is not None and lost != taken.txn_no and not was_lost(taken):
            returned = min(back.amount_minor, taken.amount_minor)
            found.given_back[back.pk] = returned
        found.given_back[taken.pk] = returned
        found.owed[taken.pk] = taken.amount_minor - returned


def was_lost(dispute: ProviderTransaction) -> bool:
    """Whether the dispute has been told as lost, in news that was about this payment."""
    told = Delivery.objects.filter(
        account_id=dispute.account_id, txn_no=dispute.txn_no, kind=Kind.DISPUTE_LOST
    )
    refused = Q(outcome=Outcome.CONFLICT) & ~Q(reason=ConflictReason.REVERSAL_EXCEEDS_PAYMENT)
    return told.exclude(refused).exclude(outcome=Outcome.HELD).exists()


def _of_dispute(
    among: Iterable[ProviderTransaction], kind: TransactionKind, number: str
) -> ProviderTransaction | None:
    return next((row for row in among if row.kind == kind and row.txn_no == number), None)
