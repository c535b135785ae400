"""Receive callbacks: the specification of this service, as one transaction.

A delivery, its provider transaction, the order's move, and the conflict or the event commit
together or not at all. What must be remembered is returned and commits; what must be tried
again is raised and leaves no trace.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from django.db import connection, transaction

from idempotency.deadlocks import retry_deadlocks
from payments import conflicts, deliveries, paid
from payments.accounts import Endpoint
from payments.callback import Callback, Kind, Outcome, Reading, Unreadable
from payments.decision import Decision
from payments.deliveries import Intake
from payments.held import WAITING_MAX, hold
from payments.providers.port import Assurance
from payments.refunds import disputed, told
from payments.settle import Payee

_KNOWN_PAYMENT_SQL: Final = """
    SELECT EXISTS (SELECT FROM payments_providertransaction
                    WHERE account_id = %s AND kind = 'PAYMENT' AND txn_no = ANY(%s))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one callback, and the rows that show it."""

    outcome: Outcome
    reason: str
    order_no: str
    delivery_id: int
    transaction_id: int | None


def _always(_verdicts: Sequence[Verdict]) -> bool:
    return True


def receive(
    intake: Intake,
    readings: Sequence[Reading],
    *,
    keep: Callable[[Sequence[Verdict]], bool] = _always,
) -> list[Verdict]:
    """Apply each callback of one authentic request exactly once; verdicts in their order.

    `keep` is asked last, in the same transaction: if it says no, nothing of all this has happened.
    It may be asked again where a deadlock made the transaction run again.

    Raises OperationalError when the database cannot say yes, also when it is unknown whether
    it did: the provider's repeat will find out.
    """
    return retry_deadlocks(partial(_receive, intake, readings, keep))


@transaction.atomic(durable=True)
def _receive(
    intake: Intake, readings: Sequence[Reading], keep: Callable[[Sequence[Verdict]], bool]
) -> list[Verdict]:
    verdicts: dict[int, Verdict] = {}
    # Items lock orders, or transactions where they name none: taken in the order of these
    # numbers, two batches cannot cross. What is said of one order stays in its order.
    for item_no in sorted(range(len(readings)), key=lambda item: _locked_by(readings[item])):
        verdicts[item_no] = _take(intake, item_no, readings[item_no])
    told = [verdicts[item_no] for item_no in range(len(readings))]
    if not keep(told):
        transaction.set_rollback(True)
    return told


def _take(intake: Intake, item_no: int, reading: Reading) -> Verdict:
    decision = _decide(intake, reading)
    delivery_id = deliveries.record(
        intake,
        item_no,
        reading,
        outcome=decision.outcome,
        reason=decision.reason,
        transaction_id=decision.transaction_id,
    )
    if decision.case is not None:
        conflicts.open_conflict(
            replace(decision.case, delivery_id=delivery_id),
            merchant_id=intake.endpoint.merchant_id,
            merchant_code=intake.endpoint.merchant_code,
            now=intake.received_at,
        )
    return Verdict(
        outcome=decision.outcome,
        reason=decision.reason,
        order_no=_order_no(reading),
        delivery_id=delivery_id,
        transaction_id=decision.transaction_id,
    )


def _decide(intake: Intake, reading: Reading) -> Decision:
    if isinstance(reading, Unreadable):
        return Decision(outcome=Outcome.QUARANTINED, reason="UNREADABLE")
    if reading.live is not None and reading.live != intake.endpoint.account.live:
        return Decision(outcome=Outcome.QUARANTINED, reason="WRONG_MODE")
    match reading.kind:
        case Kind.IGNORED:
            return Decision(outcome=Outcome.IGNORED)
        case Kind.PAID:
            return _paid(intake, reading)
        case Kind.AUTHORIZED | Kind.PENDING | Kind.FAILED | Kind.CLOSED:
            stale = _has_arrived(intake.endpoint.account_id, reading)
            return Decision(outcome=Outcome.RECORDED, reason="STALE" if stale else "")
        case _:
            return _reversed(intake, reading)


#: Who decides about money that goes back.
_REVERSALS: Final[Mapping[Kind, Callable[..., Decision]]] = {
    Kind.REFUNDED: told.decide_refunded,
    Kind.REFUND_FAILED: told.decide_failed,
    Kind.DISPUTED: disputed.decide,
    Kind.DISPUTE_WON: disputed.decide,
    Kind.DISPUTE_LOST: disputed.decide,
}


def _reversed(intake: Intake, callback: Callback) -> Decision:
    if not intake.is_confirmed:
        # Nothing that could be forged takes money back; reconciliation, or asking, will tell.
        return Decision(outcome=Outcome.HELD, reason="UNCONFIRMED")
    endpoint = intake.endpoint
    return _REVERSALS[callback.kind](
        callback, _payee(endpoint), account_id=endpoint.account_id, now=intake.received_at
    )


def _paid(intake: Intake, callback: Callback) -> Decision:
    endpoint = intake.endpoint
    if callback.needs_api or not intake.is_confirmed:
        return hold(
            callback,
            account_id=endpoint.account_id,
            merchant_id=endpoint.merchant_id,
            now=intake.received_at,
            limit=WAITING_MAX if intake.assurance is Assurance.NONE else None,
        )
    return paid.decide(
        callback, _payee(endpoint), account_id=endpoint.account_id, now=intake.received_at
    )


def _payee(endpoint: Endpoint) -> Payee:
    return Payee(
        merchant_id=endpoint.merchant_id,
        merchant_code=endpoint.merchant_code,
        account_no=endpoint.account.account_no,
        endpoint=endpoint.name,
    )


def _has_arrived(account_id: int, callback: Callback) -> bool:
    """Whether the money that this is about has arrived: then no earlier stage of it is news."""
    numbers = [callback.txn_no, *callback.linked_nos]
    with connection.cursor() as cursor:
        cursor.execute(_KNOWN_PAYMENT_SQL, [account_id, numbers])
        row = cursor.fetchone()
    return bool(row and row[0])


def _locked_by(reading: Reading) -> tuple[str, str]:
    order_no = _order_no(reading)
    return order_no, "" if order_no or isinstance(reading, Unreadable) else reading.txn_no


def _order_no(reading: Reading) -> str:
    return (reading.order_no or "") if isinstance(reading, Callback) else ""
