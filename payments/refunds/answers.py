"""What a provider's answer makes of a refund, whether it was sent just now or asked about.

One short transaction, guarded by the owner's token and fence: an owner whose lease was taken over
changes nothing, whatever the provider told it.
"""

from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import connection, transaction

from payments import conflicts
from payments.clients.port import VISIBILITY_WINDOW, Answer, RefundAnswer
from payments.models import ConflictReason, ProviderTransaction, Refund
from payments.refunds import lifecycle, room, settling
from payments.refunds.lifecycle import Claim

log = structlog.get_logger(__name__)

#: After so many answers that say nothing, about an hour, a person is told; asking goes on.
ASKS_BEFORE_DOUBT: Final = 10
#: A refund that was sent this long ago and is still only accepted: a person is told, once, and
#: asking goes on. Banks may take days over one; longer than this something is stuck.
PENDING_BEFORE_DOUBT: Final = timedelta(days=3)
_WAIT_FIRST: Final = timedelta(seconds=5)
_WAIT_MAX: Final = timedelta(hours=1)
_WAIT_ACCEPTED: Final = timedelta(minutes=5)

_SENT_BEFORE_SQL: Final = """
    SELECT first_sent_at <= clock_timestamp() - %s FROM payments_refund WHERE id = %s
"""

LOST: Final = "LOST"
"""What is said of an owner who came too late."""
NOT_SENT: Final = "NOT_SENT"


def record(claim: Claim, answer: RefundAnswer, *, now: datetime) -> str:
    """Settle the refund, or leave it to be asked about; the answer in one word, or LOST."""
    match answer.answer:
        case Answer.SUCCEEDED:
            done = _succeeded(claim, answer, now=now)
        case Answer.REFUSED:
            done = _refused(claim, answer, now=now)
        case Answer.PENDING:
            done = _accepted(claim, answer, now=now)
        case Answer.NOT_FOUND if answer.is_spent and _sent_before(claim, VISIBILITY_WINDOW):
            # Ours would be shown by now: what is left was spent by others.
            done = _refused(claim, answer, now=now)
        case Answer.NOT_FOUND | Answer.UNKNOWN:
            done = not_known(claim, why=answer.why, now=now)
    return str(answer.answer) if done else LOST


def not_sent(claim: Claim, *, why: str, now: datetime) -> str:
    """There is no client to send it with: it waits, and at last a person is asked."""
    if not lifecycle.not_sent(claim, backoff(claim.asks), why=why):
        return LOST
    _ask_if_long(claim, why=why, now=now)
    return NOT_SENT


def not_known(claim: Claim, *, why: str, now: datetime) -> bool:
    """Nobody knows whether it happened: ask again, further off each time, and at last a person."""
    if not lifecycle.ask_later(claim, backoff(claim.asks), why=why):
        return False
    _ask_if_long(claim, why=why, now=now)
    return True


def _accepted(claim: Claim, answer: RefundAnswer, *, now: datetime) -> bool:
    """The provider knows of it and has not done it: ask again, and after days a person too."""
    if not lifecycle.ask_later(
        claim,
        _WAIT_ACCEPTED,
        why=answer.why,
        heard=True,
        provider_refund_no=answer.provider_refund_no,
    ):
        return False
    if _sent_before(claim, PENDING_BEFORE_DOUBT):
        why = f"accepted, and not done after {PENDING_BEFORE_DOUBT.days} days: {answer.why}"
        _ask_a_person(claim.refund_id, why=why, asks=claim.asks + 1, now=now)
    return True


def _sent_before(claim: Claim, ago: timedelta) -> bool:
    """Whether it was sent for the first time longer ago than that, by the database's clock."""
    values: list[Any] = [ago, claim.refund_id]
    with connection.cursor() as cursor:
        cursor.execute(_SENT_BEFORE_SQL, values)
        row = cursor.fetchone()
    return bool(row and row[0])


def _ask_if_long(claim: Claim, *, why: str, now: datetime) -> None:
    if claim.asks + 1 >= ASKS_BEFORE_DOUBT:
        _ask_a_person(claim.refund_id, why=why, asks=claim.asks + 1, now=now)


def backoff(asks: int) -> timedelta:
    """How long to wait after so many answers that said nothing: doubling to a ceiling."""
    return min(_WAIT_MAX, _WAIT_FIRST * (1 << min(asks, 20)))


@transaction.atomic(durable=True)
def _succeeded(claim: Claim, answer: RefundAnswer, *, now: datetime) -> bool:
    held = _hold(claim)
    if held is None:
        return False
    refund, payment = held
    if answer.amount is not None and answer.amount != refund.money:
        return _contradicted(claim, refund, payment, f"the provider says {answer.amount}", now=now)
    number = answer.provider_refund_no or refund.provider_refund_no
    try:
        settling.succeed(refund, payment, provider_refund_no=number, now=now)
    except settling.OtherMoney as error:
        return _contradicted(claim, refund, payment, str(error), now=now)
    return True


@transaction.atomic(durable=True)
def _refused(claim: Claim, answer: RefundAnswer, *, now: datetime) -> bool:
    held = _hold(claim)
    if held is None:
        return False
    refund, payment = held
    settling.fail(refund, payment, why=answer.why, now=now)
    return True


def _hold(claim: Claim) -> tuple[Refund, ProviderTransaction] | None:
    """The refund and its payment, locked in the order that everybody takes: payment first."""
    payment_id = (
        Refund.objects.filter(pk=claim.refund_id).values_list("payment_id", flat=True).get()
    )
    payment = room.lock(payment_id)
    refund = lifecycle.lock_ours(claim)
    return None if refund is None else (refund, payment)


def _contradicted(
    claim: Claim, refund: Refund, payment: ProviderTransaction, why: str, *, now: datetime
) -> bool:
    """It succeeded, but as something else than was asked for: no rule may decide that."""
    _open_doubt(refund, payment, why=why, asks=claim.asks + 1, now=now)
    return lifecycle.ask_later(claim, _WAIT_MAX, why=why)


@transaction.atomic(durable=True)
def _ask_a_person(refund_id: int, *, why: str, asks: int, now: datetime) -> None:
    refund = Refund.objects.get(pk=refund_id)
    _open_doubt(refund, room.lock(refund.payment_id), why=why, asks=asks, now=now)


def _open_doubt(
    refund: Refund, payment: ProviderTransaction, *, why: str, asks: int, now: datetime
) -> None:
    received = {"refund_no": refund.refund_no, "why": why, "asked": asks}
    case = conflicts.Case(
        reason=ConflictReason.REFUND_IN_DOUBT,
        subject=f"refund:{refund.pk}",
        **settling.sides(payment, refund.amount_minor, **received),
        order_id=refund.order_id,
        transaction_id=payment.pk,
    )
    opened = conflicts.open_conflict(
        case, merchant_id=payment.merchant_id, merchant_code=payment.merchant.code, now=now
    )
    if opened is not None:
        log.error("refund in doubt", refund_id=refund.pk, asks=asks)
