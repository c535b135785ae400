"""A conflict in one plain sentence: what was expected, what came, and how it stands now."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import related, two_sides
from config.console.conflict import advice
from orders.models import OrderStatus
from payments.conflicts.facts import Facts, MoneyFacts
from payments.conflicts.seen import Held
from payments.models import ConflictReason, Disposition
from payments.providers import registry

_AMOUNTS: Final = gettext_lazy(
    "Order %(order)s expects %(owed)s; %(provider)s reports %(came)s paid under %(txn)s."
)
#: What happened, by the reason.
FACTS: Final[Mapping[str, Any]] = {
    ConflictReason.AMOUNT_MISMATCH: _AMOUNTS,
    ConflictReason.CURRENCY_MISMATCH: _AMOUNTS,
    ConflictReason.MERCHANT_MISMATCH: gettext_lazy(
        "Order %(order)s expects %(owed)s through another account; %(provider)s reports %(came)s "
        "paid under %(txn)s."
    ),
    ConflictReason.TRANSACTION_ALTERED: gettext_lazy(
        "%(provider)s has told of %(txn)s again with other facts: %(came)s for order %(order)s, "
        "where %(owed)s were told before."
    ),
    ConflictReason.LATE_PAYMENT: gettext_lazy(
        "Order %(order)s over %(owed)s was closed; after that %(provider)s reports %(came)s paid "
        "under %(txn)s."
    ),
    ConflictReason.DUPLICATE_PAYMENT: gettext_lazy(
        "Order %(order)s over %(owed)s was paid by %(paid_txn)s; %(provider)s reports %(came)s "
        "more, paid under %(txn)s."
    ),
    ConflictReason.ORDER_NOT_FOUND: gettext_lazy(
        "%(provider)s reports %(came)s paid under %(txn)s for order %(order)s, which nobody has "
        "placed."
    ),
    ConflictReason.PAYMENT_NOT_FOUND: gettext_lazy(
        "%(provider)s reports that %(came)s went back under %(txn)s, of a payment that nobody has "
        "told of."
    ),
    ConflictReason.EXTERNAL_REFUND: gettext_lazy(
        "%(provider)s reports that %(came)s of payment %(payment)s went back; nobody here has "
        "asked for it."
    ),
    ConflictReason.REFUND_REVERSED: gettext_lazy(
        "%(provider)s has taken back its word about a refund of %(came)s of payment %(payment)s."
    ),
    ConflictReason.REFUND_IN_DOUBT: gettext_lazy(
        "A refund of %(came)s of payment %(payment)s was sent to %(provider)s, which does not say "
        "what became of it."
    ),
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: gettext_lazy(
        "%(provider)s reports that %(came)s of payment %(payment)s over %(owed)s went back, more "
        "than was left of it."
    ),
    ConflictReason.PERHAPS_TOLD_TWICE: gettext_lazy(
        "Order %(order)s over %(owed)s was paid by %(paid_txn)s; %(provider)s tells of %(came)s "
        "under %(txn)s, which may be the same money."
    ),
    ConflictReason.UNCONFIRMED_PAYMENTS: gettext_lazy(
        "%(claims)s payments were claimed through %(provider)s, and nobody could confirm them."
    ),
    ConflictReason.UNKNOWN_KEY: gettext_lazy(
        "Callbacks through %(provider)s name the key %(key)s, which is not known here, and are "
        "refused."
    ),
}
_CONFIGURED: Final = "custom"
_TAKE_OR_RETURN: Final = gettext_lazy("Shall the order take the money, or does it go back?")
_WHY: Final = gettext_lazy("Who did that, and is it right?")
#: What a person is to find out or to decide.
ASKS: Final[Mapping[str, Any]] = {
    ConflictReason.AMOUNT_MISMATCH: _TAKE_OR_RETURN,
    ConflictReason.CURRENCY_MISMATCH: gettext_lazy("Whose money is it, and does it go back?"),
    ConflictReason.MERCHANT_MISMATCH: gettext_lazy("Whose money is it?"),
    ConflictReason.TRANSACTION_ALTERED: gettext_lazy("Which of the two is true?"),
    ConflictReason.LATE_PAYMENT: gettext_lazy(
        "Shall the order be opened again, or does the money go back?"
    ),
    ConflictReason.DUPLICATE_PAYMENT: gettext_lazy("Does the second payment go back?"),
    ConflictReason.ORDER_NOT_FOUND: gettext_lazy("What was it paid for?"),
    ConflictReason.PAYMENT_NOT_FOUND: gettext_lazy("What is it about?"),
    ConflictReason.EXTERNAL_REFUND: _WHY,
    ConflictReason.REFUND_REVERSED: gettext_lazy(
        "Has the payer the money, or must it be paid another way?"
    ),
    ConflictReason.REFUND_IN_DOUBT: gettext_lazy("What do the provider's own pages show?"),
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: gettext_lazy("What has really moved?"),
    ConflictReason.PERHAPS_TOLD_TWICE: gettext_lazy("Is it the same money, or a second payment?"),
    ConflictReason.UNCONFIRMED_PAYMENTS: gettext_lazy("What does the provider's own page show?"),
    ConflictReason.UNKNOWN_KEY: gettext_lazy("Has the provider a new key?"),
}
#: Of what has no name of its own.
_TITLES: Final[Mapping[str, Any]] = {
    "simulator": gettext_lazy("The provider simulator"),
}
_OF_REVERSALS: Final = frozenset(
    {
        ConflictReason.EXTERNAL_REFUND,
        ConflictReason.REFUND_REVERSED,
        ConflictReason.REFUND_IN_DOUBT,
        ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
        ConflictReason.PAYMENT_NOT_FOUND,
        ConflictReason.TRANSACTION_ALTERED,
    }
)
_DISPOSITIONS: Final[Mapping[str, Any]] = {
    Disposition.HELD: gettext_lazy("The payer has paid, and the money pays no order."),
    Disposition.PARKED: gettext_lazy("The payer has paid, and the money waits for its order."),
}
_ORDERS: Final[Mapping[str, Any]] = {
    OrderStatus.WAIT_PAY: gettext_lazy("The order is still waiting to be paid."),
    OrderStatus.PAID: gettext_lazy("The order is paid, by %(txn)s."),
    OrderStatus.CLOSED: gettext_lazy("The order is closed."),
    OrderStatus.REFUNDED: gettext_lazy("The order was paid by %(txn)s and refunded."),
}


class Question(NamedTuple):
    """What happened and how it stands now, what is asked about it, and what helps to answer."""

    says: str
    asks: str
    helps: str


def of(held: Held) -> Question:
    """The conflict as it stands in the rows that were read."""
    conflict = held.conflict
    happened = FACTS[conflict.reason] % _words(held)
    says = f"{happened} {_now(held)}".strip()
    return Question(says, str(ASKS[conflict.reason]), advice.of(held.facts))


def _now(held: Held) -> str:
    """How money and order stand at this moment."""
    facts = held.facts
    return " ".join(filter(None, (_money_now(facts), _order_now(facts, held))))


def _money_now(facts: Facts) -> str:
    money = facts.money
    if money is None or facts.reason in _OF_REVERSALS:
        return ""
    where = _DISPOSITIONS.get(money.disposition)
    says = str(where) if where is not None and money.is_undecided else ""
    if money.disposition == Disposition.RETURNED:
        return _("All of it has gone back to the payer.")
    if money.is_undecided and not money.is_untouched:
        if not money.left_minor:
            return _("All of it goes back to the payer.")
        left = related.money(money.left_minor, money.currency)
        partly = _("Of it %(left)s are left; the rest has gone back, or is about to.")
        return f"{says} {partly % {'left': left}}"
    return says


def _order_now(facts: Facts, held: Held) -> str:
    order, row = facts.order, held.order
    if order is None or row is None:
        return ""
    says = _ORDERS[order.status]
    if order.status == OrderStatus.PAID and _is_paid_by(facts.money, row.paid_txn_no):
        return _("The order has been paid by this payment.")
    return str(says) % {"txn": row.paid_txn_no}


def _is_paid_by(money: MoneyFacts | None, txn_no: str) -> bool:
    is_applied = money is not None and money.disposition == Disposition.APPLIED
    return is_applied and money is not None and money.txn_no == txn_no


def _words(held: Held) -> Mapping[str, str]:
    conflict = held.conflict
    words = two_sides.words(conflict.expected, conflict.received)
    return {**words, "provider": _provider(words["endpoint"])}


def _provider(endpoint: str) -> str:
    """The provider's own name, and the account: Stripe (stripe/main).

    One that is only configured has no name of its own.
    """
    name = endpoint.partition("/")[0]
    known = registry.find(name) if name != _CONFIGURED else None
    return endpoint if known is None else f"{_TITLES.get(name, known.facts.title)} ({endpoint})"
