"""What each resolution that fits would do, in one plain sentence with its amounts and numbers."""

from collections.abc import Callable, Mapping
from typing import Final

from django.utils.translation import gettext_noop as _

from orders.models import OrderStatus
from payments.conflicts.facts import Facts, MoneyFacts, OrderFacts, shown
from payments.models import ConflictReason, Disposition, Resolution
from payments.saying import says


def _says_accept(facts: Facts) -> str:
    return _says_paid(facts.order, facts.money)


def _says_accept_received(facts: Facts) -> str:
    money, order = facts.money, facts.order
    if money is None or order is None:
        return ""
    difference = money.amount_minor - order.amount_minor
    return says(
        _RECEIVED[order.status == OrderStatus.CLOSED, difference > 0],
        order=order.order_no,
        txn=money.txn_no,
        came=money.shown,
        owed=order.shown,
        much=shown(abs(difference), money.currency),
    )


def _says_accept_owed(facts: Facts) -> str:
    money, order = facts.money, facts.order
    if money is None or order is None:
        return ""
    return says(
        _(
            "%(paid)s %(excess)s of it, which are more than the %(owed)s that are owed, go back to "
            "the payer through %(account)s."
        ),
        paid=_says_paid(order, money),
        excess=shown(money.amount_minor - order.amount_minor, money.currency),
        owed=order.shown,
        account=money.endpoint,
    )


def _says_paid(order: OrderFacts | None, money: MoneyFacts | None) -> str:
    if order is None or money is None:
        return ""
    message = _REOPENED if order.status == OrderStatus.CLOSED else _PAID
    return says(message, order=order.order_no, txn=money.txn_no, came=money.shown)


def _says_refund(facts: Facts) -> str:
    money, order = facts.money, facts.order
    if money is None:
        return ""
    named = {
        "left": shown(money.left_minor, money.currency),
        "txn": money.txn_no,
        "account": money.endpoint,
    }
    moved = (
        says(_NO_ORDER_MOVES, **named)
        if order is None
        else says(_ORDER_STAYS, order=order.order_no, **named)
    )
    if facts.reason is ConflictReason.PERHAPS_TOLD_TWICE:
        return says(_ORDERS_OWN, moved=moved)
    return moved


def _says_match(facts: Facts) -> str:
    if facts.target is not None:
        return _says_paid(facts.target, facts.money)
    money = facts.money
    if money is None:
        return ""
    return says(
        _("Another order that costs %(came)s becomes PAID by %(txn)s."),
        came=money.shown,
        txn=money.txn_no,
    )


def _says_not_ours(facts: Facts) -> str:
    money = facts.money
    if money is None:
        return ""
    return says(
        _("Nothing moves: %(left)s of %(txn)s stay held and never pay an order from here."),
        left=shown(money.left_minor, money.currency),
        txn=money.txn_no,
    )


def _says_dismiss(facts: Facts) -> str:
    money = facts.money
    if money is not None and money.disposition == Disposition.PARKED and money.is_undecided:
        return says(
            _("Nothing moves: %(txn)s goes on waiting for its order; nobody is asked again."),
            txn=money.txn_no,
        )
    return says(_("Nothing moves, and nobody is asked again."))


def _says_ask(facts: Facts) -> str:
    money = facts.money
    if money is None:
        return ""
    message = _ASK_REFUND if facts.reason is ConflictReason.REFUND_IN_DOUBT else _ASK_PAYMENT
    return says(message, account=money.endpoint, txn=money.txn_no)


_PAID: Final = _("Order %(order)s becomes PAID by %(txn)s with %(came)s.")
_REOPENED: Final = _(
    "Order %(order)s, which is closed, is opened again and becomes PAID by %(txn)s with %(came)s."
)
#: By whether the order is closed, and whether more came than it costs.
_RECEIVED: Final[Mapping[tuple[bool, bool], str]] = {
    (False, True): _(
        "Order %(order)s becomes PAID by %(txn)s with %(came)s instead of %(owed)s: %(much)s more "
        "than it costs, which stay with the merchant."
    ),
    (False, False): _(
        "Order %(order)s becomes PAID by %(txn)s with %(came)s instead of %(owed)s: %(much)s less "
        "than it costs, which are owed no more."
    ),
    (True, True): _(
        "Order %(order)s, which is closed, is opened again and becomes PAID by %(txn)s with "
        "%(came)s instead of %(owed)s: %(much)s more than it costs, which stay with the merchant."
    ),
    (True, False): _(
        "Order %(order)s, which is closed, is opened again and becomes PAID by %(txn)s with "
        "%(came)s instead of %(owed)s: %(much)s less than it costs, which are owed no more."
    ),
}
_ORDER_STAYS: Final = _(
    "%(left)s of %(txn)s go back to the payer through %(account)s; order %(order)s does not move."
)
_NO_ORDER_MOVES: Final = _(
    "%(left)s of %(txn)s go back to the payer through %(account)s; no order moves."
)
_ORDERS_OWN: Final = _(
    "%(moved)s If it is the payment that was told before, the order's own money goes back."
)
_ASK_REFUND: Final = _(
    "%(account)s is asked what became of the refund of %(txn)s; a clear answer settles it, and the "
    "conflict with it."
)
_ASK_PAYMENT: Final = _(
    "%(account)s is asked about %(txn)s; its answer is received like a callback, and the conflict "
    "stays undecided."
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
