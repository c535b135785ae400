"""A conflict as a question, and its two sides with what differs between them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.console import cells, related
from payments.models import Conflict, ConflictReason

#: What a person is asked. Their placeholders are those of `words`.
QUESTIONS: Final[Mapping[str, Promise]] = {
    ConflictReason.AMOUNT_MISMATCH: _(
        "%(came)s came for order %(order)s, which costs %(owed)s: "
        "shall the order take it, or does it go back?"
    ),
    ConflictReason.CURRENCY_MISMATCH: _(
        "%(came)s came for order %(order)s, which costs %(owed)s in "
        "another currency: whose money is it, and does it go back?"
    ),
    ConflictReason.MERCHANT_MISMATCH: _(
        "%(came)s for order %(order)s came through %(endpoint)s, which "
        "does not fit the account that was named or agreed: whose money is it?"
    ),
    ConflictReason.TRANSACTION_ALTERED: _(
        "Transaction %(txn)s was told again with other facts, "
        "%(came)s for order %(order)s: which of the two is true?"
    ),
    ConflictReason.LATE_PAYMENT: _(
        "%(came)s came for order %(order)s after it was closed: "
        "shall the order be opened again, or does the money go back?"
    ),
    ConflictReason.DUPLICATE_PAYMENT: _(
        "Order %(order)s was paid by %(paid_txn)s already, and %(txn)s "
        "brings %(came)s more: does that go back?"
    ),
    ConflictReason.ORDER_NOT_FOUND: _(
        "%(came)s came for order %(order)s, which nobody has placed: what was it paid for?"
    ),
    ConflictReason.PAYMENT_NOT_FOUND: _(
        "%(came)s went back under %(txn)s, of a payment that nobody has told of: what is it about?"
    ),
    ConflictReason.EXTERNAL_REFUND: _(
        "%(came)s of payment %(payment)s went back, and nobody here has "
        "asked for it: who did, and why?"
    ),
    ConflictReason.REFUND_REVERSED: _(
        "The provider has taken back its word about a refund of %(came)s "
        "of payment %(payment)s: has the payer the money, or must it be paid another way?"
    ),
    ConflictReason.REFUND_IN_DOUBT: _(
        "A refund of %(came)s of payment %(payment)s was sent, and the "
        "provider does not say what became of it: what do its own pages show?"
    ),
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: _(
        "%(came)s of payment %(payment)s went back, more than was "
        "left of %(owed)s: what has really moved?"
    ),
    ConflictReason.PERHAPS_TOLD_TWICE: _(
        "Order %(order)s was paid by %(paid_txn)s, and %(txn)s tells of %(came)s: "
        "a link or a checkout names no payment, so is this the same money or a second time?"
    ),
    ConflictReason.UNCONFIRMED_PAYMENTS: _(
        "%(claims)s payments were claimed through %(endpoint)s, and "
        "nobody could confirm them: what does the provider's own page show?"
    ),
    ConflictReason.UNKNOWN_KEY: _(
        "Callbacks through %(endpoint)s name the key %(key)s, which is not "
        "known here, and are refused: has the provider a new key?"
    ),
}


class Line(NamedTuple):
    """One fact on both sides, as text; empty where a side says nothing."""

    name: str
    expected: str
    received: str
    differs: bool


def question(conflict: Conflict) -> str:
    """What a person is to decide, in one sentence."""
    return str(QUESTIONS[conflict.reason]) % words(conflict.expected, conflict.received)


def order_named(conflict: Conflict) -> str:
    """The number that the payment named, which may be no order's; empty if it named none."""
    return _value("order_no")(conflict.received)


def came(conflict: Conflict) -> str:
    """The money that the provider stated, or its own words where they are no money."""
    return _money(conflict.received) or "?"


def lines(conflict: Conflict) -> list[Line]:
    """The facts side by side, those with names of our own first, then whatever else was kept."""
    expected, received = conflict.expected, conflict.received
    decisive = _DECISIVE.get(conflict.reason)
    shown = [
        Line(str(name), _shown(ours), theirs, _differs(ours, theirs) or name == decisive)
        for name, ours, theirs in (
            (name, read_ours(expected), read_theirs(received))
            for name, read_ours, read_theirs in _LINES
        )
        if ours or theirs
    ]
    others = sorted((expected.keys() | received.keys()) - _NAMED)
    currency = str(received.get("currency") or expected.get("currency") or "")
    for key in others:
        ours, theirs = (_other(key, side, currency) for side in (expected, received))
        name = str(_OTHERS.get(key) or _name(key))
        shown.append(Line(name, ours, theirs, _differs(ours, theirs)))
    return shown


Side = Mapping[str, Any]
_MINOR: Final = "_minor"


def _value(*keys: str) -> Callable[[Side], str]:
    """Reads the first of these that the side states."""

    def read(side: Side) -> str:
        return next((str(side[key]) for key in keys if side.get(key) not in (None, "")), "")

    return read


def _other(key: str, side: Side, currency: str) -> str:
    """A fact without a name of our own; an amount of money as people write it."""
    value = side.get(key)
    if key.endswith(_MINOR) and currency and isinstance(value, int):
        return related.money(value, currency)
    return _value(key)(side)


def _name(key: str) -> str:
    return key.removesuffix(_MINOR).replace("_", " ").capitalize()


def _money(side: Side) -> str:
    amount, currency = side.get("amount_minor"), side.get("currency")
    if isinstance(amount, int) and isinstance(currency, str):
        return related.money(amount, currency)
    return str(side.get("stated_amount") or "")


def _moment(side: Side) -> str:
    stated = side.get("occurred_at")
    try:
        return cells.moment(datetime.fromisoformat(stated)) if stated else ""
    except (TypeError, ValueError):
        return str(stated)


_LINES: Final[tuple[tuple[Promise, Callable[[Side], str], Callable[[Side], str]], ...]] = (
    (_("Amount"), _money, _money),
    (_("Order"), _value("order_no"), _value("order_no")),
    (_("Order status"), _value("order_status"), _value("order_status")),
    (_("Transaction"), _value("txn_no", "paid_txn_no"), _value("txn_no")),
    (_("Account"), _value("account_no"), _value("account_no")),
    (_("Through"), _value("payable_through", "endpoint"), _value("endpoint")),
    (_("Merchant"), _value("merchant"), _value("merchant")),
    (_("Occurred at"), _moment, _moment),
)
#: What some conflicts tell besides.
_OTHERS: Final[Mapping[str, Promise]] = {
    "kind": _("Kind"),
    "payment": _("Payment"),
    "claims": _("Claims"),
    "transactions": _("Transactions"),
    "orders": _("Orders"),
    "why": _("Why"),
    "waiting_since": _("Waiting since"),
    "key_id": _("Key id"),
    "known_keys": _("Known keys"),
    "refunded_minor": _("Refunded"),
    "reserved_minor": _("Reserved for refunds"),
    "charged_back_minor": _("Charged back"),
    "not_counted_minor": _("Not counted"),
}
_NAMED: Final = frozenset(
    {"amount_minor", "currency", "stated_amount", "order_no", "order_status", "txn_no"}
    | {"paid_txn_no", "account_no", "payable_through", "endpoint", "merchant", "occurred_at"}
)
#: As the domain writes it.
_ANY_ACCOUNT: Final = "any account"
#: The line that makes the case where the two sides do not contradict each other.
_DECISIVE: Final[Mapping[str, Promise]] = {
    ConflictReason.LATE_PAYMENT: _("Order status"),
    ConflictReason.ORDER_NOT_FOUND: _("Order"),
}


def _shown(ours: str) -> str:
    return gettext("any account") if ours == _ANY_ACCOUNT else ours


def _differs(ours: str, theirs: str) -> bool:
    return bool(ours and theirs) and ours not in (theirs, _ANY_ACCOUNT)


def words(expected: Side, received: Side) -> Mapping[str, str]:
    """What sentences about a conflict name; what is not stated says so."""
    known = {
        "came": _money(received),
        "owed": _money(expected),
        "order": _value("order_no")(received) or _value("order_no")(expected),
        "txn": _value("txn_no")(received),
        "paid_txn": _value("paid_txn_no")(expected),
        "endpoint": _value("endpoint")(received),
        "payment": _value("payment")(expected),
        "claims": _value("claims")(received),
        "key": _value("key_id")(received),
    }
    return {name: value or gettext("(not stated)") for name, value in known.items()}
