"""Which resolutions fit a conflict as it stands: a table, then the present state narrows it."""

from collections.abc import Callable, Mapping
from typing import Final

from django.utils.translation import gettext_noop as _

from payments.conflicts.facts import Facts, MoneyFacts, OrderFacts, shown
from payments.conflicts.lifecycle import UNDECIDED
from payments.models import ConflictReason, Disposition, Resolution
from payments.saying import says

_HELD_PAYMENT: Final = frozenset(
    {
        Resolution.REFUND,
        Resolution.MATCH,
        Resolution.NOT_OURS,
        Resolution.DISMISS,
        Resolution.ASK_PROVIDER,
    }
)
_ONLY_DISMISS: Final = frozenset({Resolution.DISMISS})
#: What may ever be done about each reason; the present state then narrows it.
FITS: Final[Mapping[ConflictReason, frozenset[Resolution]]] = {
    ConflictReason.AMOUNT_MISMATCH: _HELD_PAYMENT
    | {Resolution.ACCEPT_RECEIVED, Resolution.ACCEPT_OWED},
    ConflictReason.CURRENCY_MISMATCH: _HELD_PAYMENT,
    ConflictReason.MERCHANT_MISMATCH: _HELD_PAYMENT
    | {Resolution.ACCEPT, Resolution.ACCEPT_RECEIVED, Resolution.ACCEPT_OWED},
    ConflictReason.LATE_PAYMENT: _HELD_PAYMENT | {Resolution.ACCEPT},
    ConflictReason.DUPLICATE_PAYMENT: _HELD_PAYMENT,
    ConflictReason.ORDER_NOT_FOUND: _HELD_PAYMENT,
    ConflictReason.PERHAPS_TOLD_TWICE: _HELD_PAYMENT,
    ConflictReason.TRANSACTION_ALTERED: frozenset({Resolution.DISMISS, Resolution.ASK_PROVIDER}),
    ConflictReason.PAYMENT_NOT_FOUND: _ONLY_DISMISS,
    ConflictReason.EXTERNAL_REFUND: _ONLY_DISMISS,
    ConflictReason.REFUND_REVERSED: _ONLY_DISMISS,
    ConflictReason.REFUND_IN_DOUBT: frozenset({Resolution.DISMISS, Resolution.ASK_PROVIDER}),
    ConflictReason.UNCONFIRMED_PAYMENTS: _ONLY_DISMISS,
    ConflictReason.UNKNOWN_KEY: _ONLY_DISMISS,
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: _ONLY_DISMISS,
}
#: Reasons whose money must not be left lying without a word: it is not simply dismissed.
_HOLDS_MONEY: Final = frozenset(
    reason for reason, fitting in FITS.items() if Resolution.REFUND in fitting
)
#: What moves money, or gives a claim to it up: two people above the merchant's amount.
NEEDS_EYES: Final = frozenset(
    {
        Resolution.ACCEPT,
        Resolution.ACCEPT_RECEIVED,
        Resolution.ACCEPT_OWED,
        Resolution.REFUND,
        Resolution.MATCH,
        Resolution.NOT_OURS,
    }
)
#: What goes through the refunds machine, and so needs an account that can send refunds.
ASKS_FOR_REFUND: Final = frozenset({Resolution.REFUND, Resolution.ACCEPT_OWED})
#: What leaves a question or money behind says why.
NEEDS_REASON: Final = frozenset({Resolution.DISMISS, Resolution.NOT_OURS})
#: Reasons that leave no money and nobody's question behind when they are dismissed by the dozen:
#: the first is counted already, the second is when its payment comes. Others are looked at singly.
HARMLESS: Final = (ConflictReason.EXTERNAL_REFUND, ConflictReason.PAYMENT_NOT_FOUND)


def why_not(how: Resolution, facts: Facts) -> str:
    """Why the resolution does not fit now, in one sentence; empty if it does."""
    if facts.status not in UNDECIDED:
        return says(_("The conflict is %(status)s."), status=facts.status)
    if how not in FITS[facts.reason]:
        return says(_("%(how)s is no answer to %(reason)s."), how=how, reason=facts.reason)
    return _CHECKS[how](facts)


def _accept(facts: Facts) -> str:
    money, order = facts.money, facts.order
    hindrance = _cannot_apply(money) or _cannot_be_paid(order)
    if hindrance or money is None or order is None:
        return hindrance
    if money.currency != order.currency or money.amount_minor != order.amount_minor:
        return says(
            _("%(came)s came and order %(order)s costs %(owed)s."),
            came=money.shown,
            order=order.order_no,
            owed=order.shown,
        )
    return ""


def _accept_received(facts: Facts) -> str:
    money, order = facts.money, facts.order
    hindrance = _cannot_apply(money) or _cannot_be_paid(order)
    if hindrance or money is None or order is None:
        return hindrance
    if money.currency != order.currency:
        return says(
            _("%(came)s came and order %(order)s is in %(currency)s."),
            came=money.shown,
            order=order.order_no,
            currency=order.currency,
        )
    if money.amount_minor == order.amount_minor:
        return says(
            _("%(came)s is what order %(order)s costs."), came=money.shown, order=order.order_no
        )
    return ""


def _accept_owed(facts: Facts) -> str:
    money, order = facts.money, facts.order
    hindrance = _accept_received(facts)
    if hindrance or money is None or order is None:
        return hindrance
    if money.amount_minor < order.amount_minor:
        return says(
            _("%(came)s is less than order %(order)s costs: there is no excess."),
            came=money.shown,
            order=order.order_no,
        )
    return ""


def _refund(facts: Facts) -> str:
    hindrance = _not_held(facts.money)
    if hindrance or facts.money is None:
        return hindrance
    return (
        ""
        if facts.money.left_minor
        else says(_("Nothing is left of %(txn)s."), txn=facts.money.txn_no)
    )


def _match(facts: Facts) -> str:
    money, target = facts.money, facts.target
    hindrance = _cannot_apply(money)
    if hindrance or money is None or not facts.target_no:
        return hindrance
    if target is None:
        return says(_("The merchant has no order %(order)s."), order=facts.target_no)
    if facts.order is not None and facts.order.order_no == target.order_no:
        return says(_("%(order)s is the order that the payment named."), order=target.order_no)
    if target.payable_through not in ("", money.endpoint):
        return says(
            _("Order %(order)s is payable through %(account)s only."),
            order=target.order_no,
            account=target.payable_through,
        )
    if (money.amount_minor, money.currency) != (target.amount_minor, target.currency):
        return says(
            _("%(came)s came and order %(order)s costs %(owed)s."),
            came=money.shown,
            order=target.order_no,
            owed=target.shown,
        )
    return _cannot_be_paid(target)


def _not_ours(facts: Facts) -> str:
    return _not_held(facts.money)


def _dismiss(facts: Facts) -> str:
    money = facts.money
    if facts.reason not in _HOLDS_MONEY or money is None or not money.is_undecided:
        return ""
    if money.disposition == Disposition.HELD and money.left_minor:
        left = shown(money.left_minor, money.currency)
        return says(
            _("%(left)s of %(txn)s are held: decide what becomes of them."),
            left=left,
            txn=money.txn_no,
        )
    return ""


def _ask_provider(facts: Facts) -> str:
    if facts.money is None:
        return says(_("No transaction was entered that could be asked about."))
    return ""


def _not_held(money: MoneyFacts | None) -> str:
    if money is None:
        return says(_("No money was entered in the ledger."))
    if not money.is_undecided:
        return says(
            _("%(txn)s is a %(kind)s that is %(disposition)s."),
            txn=money.txn_no,
            kind=money.kind,
            disposition=money.disposition,
        )
    return ""


def _cannot_apply(money: MoneyFacts | None) -> str:
    hindrance = _not_held(money)
    if hindrance or money is None:
        return hindrance
    return (
        ""
        if money.is_untouched
        else says(_("A part of %(txn)s has gone back, or is about to."), txn=money.txn_no)
    )


def _cannot_be_paid(order: OrderFacts | None) -> str:
    if order is None:
        return says(_("There is no such order."))
    return (
        ""
        if order.is_unpaid
        else says(_("Order %(order)s is %(status)s."), order=order.order_no, status=order.status)
    )


_CHECKS: Final[Mapping[Resolution, Callable[[Facts], str]]] = {
    Resolution.ACCEPT: _accept,
    Resolution.ACCEPT_RECEIVED: _accept_received,
    Resolution.ACCEPT_OWED: _accept_owed,
    Resolution.REFUND: _refund,
    Resolution.MATCH: _match,
    Resolution.NOT_OURS: _not_ours,
    Resolution.DISMISS: _dismiss,
    Resolution.ASK_PROVIDER: _ask_provider,
}
