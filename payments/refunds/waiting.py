"""Refunds and chargebacks that came before their payment: counted when it arrives."""

from datetime import datetime

from django.db.models import Q

from payments import conflicts
from payments.models import (
    ConflictReason,
    Disposition,
    ProviderTransaction,
    TransactionKind,
)
from payments.refunds import booking, disputed, facts, room, settling
from payments.settle import Payee


def apply_to(payment_id: int, payee: Payee, *, now: datetime) -> None:
    """Count all that waits for this payment, in the transaction that enters or settles it."""
    payment = room.lock(payment_id)
    by_order = Q(reverses_no="", order_no=payment.order_no, merchant_id=payment.merchant_id)
    named = Q(account_id=payment.account_id, reverses_no=payment.txn_no)
    rows = (
        ProviderTransaction.objects.select_for_update(no_key=True)
        .filter(named | by_order if payment.order_no else named)
        .filter(disposition=Disposition.PARKED, account_id=payment.account_id)
        .exclude(kind=TransactionKind.PAYMENT)
    )
    # Single refunds before totals, small totals before large ones: each then counts its own part.
    for row in rows.order_by("is_total", "amount_minor", "pk"):
        _count(payment, row, payee, now=now)


def _count(
    payment: ProviderTransaction, row: ProviderTransaction, payee: Payee, *, now: datetime
) -> None:
    if row.currency != payment.currency or row.stated_account_no not in ("", payee.account_no):
        return  # The sweep asks a person about it.
    fits = True
    if row.kind != TransactionKind.REFUND:
        fits = disputed.count_waiting(payment, row, now=now)
    elif row.is_total:
        booking.adopt_total(payment, row, now=now)
    else:
        booking.adopt_item(payment, row, now=now)
    row.refresh_from_db()
    if row.disposition == Disposition.HELD or not fits:
        case = facts.does_not_fit(row, payment).case
        assert case is not None  # noqa: S101 - that is what it is for
        conflicts.open_conflict(
            case, merchant_id=payment.merchant_id, merchant_code=payment.merchant.code, now=now
        )
    elif row.kind == TransactionKind.REFUND and row.counted_minor:
        settling.ask_about_external(payment, row.pk, row.counted_minor, now=now)
    conflicts.answered_by_fact(
        ConflictReason.PAYMENT_NOT_FOUND,
        f"transaction:{row.pk}",
        resolution="the payment appeared",
        merchant_code=payment.merchant.code,
        now=now,
    )
