"""A payment's room: how much of it is promised to refunds, refunded, or charged back.

`refund_reserved_minor` is what was refunded plus what refunds under way may still take; with what
was charged back it never exceeds the payment. Every change is one conditional UPDATE, and what
was refunded is told to the order that the payment paid, in the same transaction.
"""

from datetime import datetime
from typing import Final

from django.db import connection

from orders import refunding
from payments import conflicts, ledger
from payments.models import ConflictReason, Disposition, ProviderTransaction

_MOVE_SQL: Final = """
    UPDATE payments_providertransaction
       SET refund_reserved_minor = refund_reserved_minor + %(reserved)s::bigint,
           refunded_minor = refunded_minor + %(refunded)s::bigint,
           charged_back_minor = charged_back_minor + %(charged_back)s::bigint
     WHERE id = %(id)s AND kind = 'PAYMENT'
       AND refunded_minor + %(refunded)s::bigint >= 0
       AND charged_back_minor + %(charged_back)s::bigint >= 0
       AND refund_reserved_minor + %(reserved)s::bigint
        >= refunded_minor + %(refunded)s::bigint
       AND refund_reserved_minor + %(reserved)s::bigint
         + charged_back_minor + %(charged_back)s::bigint <= amount_minor
 RETURNING refund_reserved_minor, refunded_minor, charged_back_minor
"""
#: Questions about held money that are answered once all of it has gone back.
_ANSWERED_BY_RETURN: Final = (
    ConflictReason.LATE_PAYMENT,
    ConflictReason.DUPLICATE_PAYMENT,
    ConflictReason.PERHAPS_TOLD_TWICE,
    ConflictReason.AMOUNT_MISMATCH,
    ConflictReason.CURRENCY_MISMATCH,
    ConflictReason.MERCHANT_MISMATCH,
    ConflictReason.ORDER_NOT_FOUND,
)


class RoomLost(RuntimeError):
    """Room that was promised is not there: a fault of ours; nothing is written."""


def lock(payment_id: int) -> ProviderTransaction:
    """The payment with its account and merchant; its room is ours until the transaction ends."""
    payments = ProviderTransaction.objects.select_related("account", "merchant")
    return payments.select_for_update(no_key=True, of=("self",)).get(pk=payment_id)


def left(payment: ProviderTransaction) -> int:
    """What may still be refunded, in minor units."""
    return payment.amount_minor - payment.refund_reserved_minor - payment.charged_back_minor


def move(
    payment: ProviderTransaction,
    *,
    reserved: int = 0,
    refunded: int = 0,
    charged_back: int = 0,
    at: datetime,
    now: datetime,
) -> bool:
    """Change the room by these minor units; False, having done nothing, if they do not fit.

    `at` is when money moved in the world.
    """
    if max(abs(reserved), abs(refunded), abs(charged_back)) > payment.amount_minor:
        return False  # The sums could be larger than the database's numbers.
    values = {
        "id": payment.pk,
        "reserved": reserved,
        "refunded": refunded,
        "charged_back": charged_back,
    }
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_SQL, values)
        row = cursor.fetchone()
    if row is None:
        return False
    payment.refund_reserved_minor, payment.refunded_minor, payment.charged_back_minor = row
    if refunded:
        tell_refunded(payment, at=at, now=now)
    return True


def tell_refunded(payment: ProviderTransaction, *, at: datetime, now: datetime) -> None:
    """What follows from the refunded amount: the order's, or where held money stands."""
    if payment.disposition == Disposition.APPLIED and payment.order_id is not None:
        refunding.set_refunded(
            payment.order_id,
            merchant_code=payment.merchant.code,
            refunded_minor=payment.refunded_minor,
            at=at,
            now=now,
        )
    is_whole = payment.refunded_minor == payment.amount_minor
    if payment.disposition == Disposition.HELD and is_whole:
        _place(payment, Disposition.RETURNED)
        for reason in _ANSWERED_BY_RETURN:
            conflicts.answered_by_fact(
                reason,
                f"transaction:{payment.pk}",
                resolution="all of it was refunded",
                merchant_code=payment.merchant.code,
                now=now,
            )
    elif payment.disposition == Disposition.RETURNED and not is_whole:
        _place(payment, Disposition.HELD)


def _place(payment: ProviderTransaction, disposition: Disposition) -> None:
    ledger.place(payment.pk, disposition, order_id=None)
    payment.disposition = disposition
