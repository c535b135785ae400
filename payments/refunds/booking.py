"""Book refunds into their payment, whether they are told one by one or as a running total.

Some providers state each refund under its own number, some all that was refunded so far, and
some both, in any order. What a payment has refunded is then the larger of the two stories, never
their sum: a total counts for what goes beyond all that is known, and a refund that is told by
itself later takes the place of that part.
"""

from datetime import datetime

from django.db.models import Sum

from payments.models import Disposition, ProviderTransaction, TransactionKind
from payments.refunds import room, rows
from payments.refunds.rows import Fact


def book_item(payment: ProviderTransaction, fact: Fact, *, now: datetime) -> int | None:
    """Count a refund that nobody here asked for; None if the ledger has its number.

    Where it does not fit into the payment its row is HELD and counts nothing.
    """
    amount_minor = fact.money.amount_minor
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.APPLIED,
        counted_minor=amount_minor,
        now=now,
    )
    if row_id is not None:
        _take_in(payment, row_id, amount_minor, at=fact.occurred_at, now=now)
    return row_id


def adopt_item(payment: ProviderTransaction, row: ProviderTransaction, *, now: datetime) -> None:
    """Count a refund whose row waited for its payment; HELD if it does not fit."""
    rows.count(row, row.amount_minor, Disposition.APPLIED, payment=payment)
    _take_in(payment, row.pk, row.amount_minor, at=row.occurred_at, now=now)


def book_total(payment: ProviderTransaction, fact: Fact, *, now: datetime) -> int | None:
    """Count what a total states beyond all that is known; None if that is nothing.

    Refunds of ours that are under way may be what it tells: it uses their room first. Where it
    does not fit its row is HELD.
    """
    beyond = fact.money.amount_minor - ever_refunded(payment)
    if beyond <= 0:
        return None
    row_id = rows.insert(
        fact,
        account_id=payment.account_id,
        merchant_id=payment.merchant_id,
        payment=payment,
        disposition=Disposition.APPLIED,
        counted_minor=beyond,
        now=now,
    )
    if row_id is not None:
        _take_in_total(payment, row_id, beyond, at=fact.occurred_at, now=now)
    return row_id


def adopt_total(payment: ProviderTransaction, row: ProviderTransaction, *, now: datetime) -> None:
    """Count a total that waited for its payment."""
    beyond = max(0, row.amount_minor - ever_refunded(payment))
    rows.count(row, beyond, Disposition.APPLIED, payment=payment)
    if beyond:
        _take_in_total(payment, row.pk, beyond, at=row.occurred_at, now=now)


def ever_refunded(payment: ProviderTransaction) -> int:
    """What was refunded, with the refunds that failed after that, in minor units.

    A provider may repeat a total that it stated before a refund failed: that is no news.
    """
    failed = ProviderTransaction.objects.filter(
        reverses=payment, kind=TransactionKind.REFUND, disposition=Disposition.RETURNED
    ).aggregate(total=Sum("amount_minor"))
    return payment.refunded_minor + (failed["total"] or 0)


def cover(payment: ProviderTransaction, amount_minor: int, *, since: datetime | None = None) -> int:
    """Let a refund that is told by itself take the place of its part of the totals.

    Returns how many minor units of it the totals (told since then) had counted.
    """
    wanted = amount_minor
    for row in totals(payment, since=since):
        part = min(wanted, row.counted_minor)
        rows.count(row, row.counted_minor - part, Disposition.APPLIED)
        wanted -= part
        if not wanted:
            break
    return amount_minor - wanted


def totals(
    payment: ProviderTransaction, *, since: datetime | None = None
) -> list[ProviderTransaction]:
    """The totals of which a part is not explained by single refunds, locked."""
    found = ProviderTransaction.objects.select_for_update(no_key=True).filter(
        reverses=payment, is_total=True, counted_minor__gt=0
    )
    if since is not None:
        found = found.filter(recorded_at__gte=since)
    return list(found.order_by("pk"))


def _take_in(
    payment: ProviderTransaction, row_id: int, amount_minor: int, *, at: datetime, now: datetime
) -> None:
    told = sum(row.counted_minor for row in totals(payment))
    grown = amount_minor - min(amount_minor, told)
    if grown and not room.move(payment, reserved=grown, refunded=grown, at=at, now=now):
        _hold(row_id)
        return
    cover(payment, amount_minor)


def _take_in_total(
    payment: ProviderTransaction, row_id: int, beyond: int, *, at: datetime, now: datetime
) -> None:
    grown = beyond - min(beyond, room.under_way(payment))
    if not room.move(payment, reserved=grown, refunded=beyond, at=at, now=now):
        _hold(row_id)


def _hold(row_id: int) -> None:
    ProviderTransaction.objects.filter(pk=row_id).update(
        counted_minor=0, disposition=Disposition.HELD
    )
