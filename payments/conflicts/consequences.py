"""What each resolution that fits would do, in one plain sentence with its amounts and numbers."""

from collections.abc import Callable, Mapping
from typing import Final

from orders.models import OrderStatus
from payments.conflicts.facts import Facts, MoneyFacts, OrderFacts, shown
from payments.models import ConflictReason, Disposition, Resolution


def _says_accept(facts: Facts) -> str:
    return _says_paid(facts.order, facts.money)


def _says_accept_received(facts: Facts) -> str:
    money, order = facts.money, facts.order
    if money is None or order is None:
        return ""
    difference = money.amount_minor - order.amount_minor
    much = shown(abs(difference), money.currency)
    kept = f"{much} more than it costs, which stay with the merchant"
    waived = f"{much} less than it costs, which are owed no more"
    end = kept if difference > 0 else waived
    return f"{_says_paid(order, money)[:-1]} instead of {order.shown}: {end}."


def _says_accept_owed(facts: Facts) -> str:
    money, order = facts.money, facts.order
    if money is None or order is None:
        return ""
    excess = shown(money.amount_minor - order.amount_minor, money.currency)
    return (
        f"{_says_paid(order, money)} {excess} of it, which are more than the {order.shown} that "
        f"are owed, go back to the payer through {money.endpoint}."
    )


def _says_paid(order: OrderFacts | None, money: MoneyFacts | None) -> str:
    if order is None or money is None:
        return ""
    again = ", which is closed, is opened again and" if order.status == OrderStatus.CLOSED else ""
    return f"Order {order.order_no}{again} becomes PAID by {money.txn_no} with {money.shown}."


def _says_refund(facts: Facts) -> str:
    money = facts.money
    if money is None:
        return ""
    left = shown(money.left_minor, money.currency)
    order = f"order {facts.order.order_no} does not move" if facts.order else "no order moves"
    moved = f"{left} of {money.txn_no} go back to the payer through {money.endpoint}; {order}."
    if facts.reason is ConflictReason.PERHAPS_TOLD_TWICE:
        return (
            f"{moved} If it is the payment that was told before, the order's own money goes back."
        )
    return moved


def _says_match(facts: Facts) -> str:
    if facts.target is not None:
        return _says_paid(facts.target, facts.money)
    money = facts.money
    return (
        f"Another order that costs {money.shown} becomes PAID by {money.txn_no}." if money else ""
    )


def _says_not_ours(facts: Facts) -> str:
    money = facts.money
    if money is None:
        return ""
    left = shown(money.left_minor, money.currency)
    return f"Nothing moves: {left} of {money.txn_no} stay held and never pay an order from here."


def _says_dismiss(facts: Facts) -> str:
    money = facts.money
    if money is not None and money.disposition == Disposition.PARKED and money.is_undecided:
        return (
            f"Nothing moves: {money.txn_no} goes on waiting for its order; nobody is asked again."
        )
    return "Nothing moves, and nobody is asked again."


def _says_ask(facts: Facts) -> str:
    money = facts.money
    if money is None:
        return ""
    if facts.reason is ConflictReason.REFUND_IN_DOUBT:
        return (
            f"{money.endpoint} is asked what became of the refund of {money.txn_no}; a clear "
            "answer settles it, and the conflict with it."
        )
    return (
        f"{money.endpoint} is asked about {money.txn_no}; its answer is received like a callback, "
        "and the conflict stays undecided."
    )


CONSEQUENCES: Final[Mapping[Resolution, Callable[[Facts], str]]] = {
    Resolution.ACCEPT: _says_accept,
    Resolution.ACCEPT_RECEIVED: _says_accept_received,
    Resolution.ACCEPT_OWED: _says_accept_owed,
    Resolution.REFUND: _says_refund,
    Resolution.MATCH: _says_match,
    Resolution.NOT_OURS: _says_not_ours,
    Resolution.DISMISS: _says_dismiss,
    Resolution.ASK_PROVIDER: _says_ask,
}
