"""What a decision does to the money and to the order, in the transaction that ends the conflict.

The caller holds all the rows and has seen that the resolution fits; no rule about money is left
out here: one payment pays one order, in one currency, and what goes back goes through refunds.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

from orders import paying
from orders.models import Order
from orders.money import Money
from payments import ledger
from payments.conflicts.refusals import DoesNotFit
from payments.conflicts.seen import Held
from payments.models import Disposition, ProviderTransaction, Refund, Resolution
from payments.refunds import request
from payments.refunds.asking import ClientFor

#: What the payer may be shown as the reason of a refund that was decided here.
_REASON: Final = "The payment could not be matched to an open order"
_EXCESS: Final = "More was paid than was owed"


_REFUSED: Final = (
    request.NotRefundable,
    request.RefundNoNotTaken,
    request.RefundExceeds,
    request.RefundExists,
)


class HeldRowMoved(RuntimeError):
    """A row that is locked was not as it was seen: a fault of ours; nothing is written."""


class Effect(NamedTuple):
    """What was done, in a few words, and the refund that was asked for, if one was."""

    text: str
    refund: Refund | None = None


def carry_out(held: Held, how: Resolution, *, client_for: ClientFor, now: datetime) -> Effect:
    """Do it. Raises DoesNotFit where the refunds machine refuses."""
    return _EFFECTS[how](held, client_for, now)


def refund_no(held: Held) -> str:
    """The number of the refund that this decision asks for; another decision, another number.

    Of what every provider takes as a number: letters, digits and hyphens.
    """
    return f"conflict-{held.conflict.pk}-{held.conflict.version}"


def _accept(held: Held, _: ClientFor, now: datetime) -> Effect:
    order, money = _both(held.order, held.money)
    _apply(money, order, now=now)
    return Effect(f"accepted for order {order.order_no}")


def _accept_owed(held: Held, client_for: ClientFor, now: datetime) -> Effect:
    """The order takes the payment, and what is more than it cost goes back out of it."""
    order, money = _both(held.order, held.money)
    excess = Money(money.amount_minor - order.amount_minor, money.currency)
    _apply(money, order, now=now)
    refund = _give_back(held, money, excess, reason=_EXCESS, client_for=client_for, now=now)
    return Effect(f"accepted, and refund {refund.refund_no} of {excess}", refund)


def _match(held: Held, _: ClientFor, now: datetime) -> Effect:
    order, money = _both(held.target, held.money)
    _apply(money, order, now=now)
    return Effect(f"matched to order {order.order_no}")


def _refund(held: Held, client_for: ClientFor, now: datetime) -> Effect:
    money = _hold(held)
    refund = _give_back(held, money, None, reason=_REASON, client_for=client_for, now=now)
    return Effect(f"refund {refund.refund_no}", refund)


def _not_ours(held: Held, _: ClientFor, __: datetime) -> Effect:
    _hold(held)
    return Effect("not ours")


def _dismiss(_: Held, __: ClientFor, ___: datetime) -> Effect:
    return Effect("dismissed")


_EFFECTS: Final[Mapping[Resolution, Callable[[Held, ClientFor, datetime], Effect]]] = {
    Resolution.ACCEPT: _accept,
    Resolution.ACCEPT_RECEIVED: _accept,
    Resolution.ACCEPT_OWED: _accept_owed,
    Resolution.REFUND: _refund,
    Resolution.MATCH: _match,
    Resolution.NOT_OURS: _not_ours,
    Resolution.DISMISS: _dismiss,
}


def _apply(money: ProviderTransaction, order: Order, *, now: datetime) -> None:
    """Pay the order with all of the payment: what came is what the order costs from now on."""
    if money.currency != order.currency:
        raise HeldRowMoved(f"transaction {money.pk} is in another currency")
    paid = paying.pay_by_decision(
        order.pk,
        merchant_code=money.merchant.code,
        order_no=order.order_no,
        accepted=Money(money.amount_minor, money.currency),
        txn_no=money.txn_no,
        paid_at=money.occurred_at,
        now=now,
    )
    if not paid:
        raise HeldRowMoved(f"order {order.pk} could not be paid")
    ledger.place(money.pk, Disposition.APPLIED, order_id=order.pk)
    money.disposition, money.order = Disposition.APPLIED, order


def _give_back(
    held: Held,
    payment: ProviderTransaction,
    part: Money | None,
    *,
    reason: str,
    client_for: ClientFor,
    now: datetime,
) -> Refund:
    """Ask for a refund of this much of the payment, or of all that is left. Raises DoesNotFit."""
    try:
        requested = request.give_back(
            payment,
            refund_no=refund_no(held),
            part=part,
            reason=reason,
            client_for=client_for,
            now=now,
        )
    except _REFUSED as error:
        raise DoesNotFit(error.args[0]) from error
    return requested.refund


def _hold(held: Held) -> ProviderTransaction:
    """A payment that waits for its order waits no more: the order may not take it later."""
    money = held.money
    if money is None:
        raise HeldRowMoved(f"conflict {held.conflict.pk} has no money")
    if money.disposition == Disposition.PARKED:
        ledger.place(money.pk, Disposition.HELD, order_id=None)
        money.disposition = Disposition.HELD
    return money


def _both(
    order: Order | None, money: ProviderTransaction | None
) -> tuple[Order, ProviderTransaction]:
    if order is None or money is None:
        raise HeldRowMoved("there is no order, or no money")
    return order, money
