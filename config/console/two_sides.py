"""A conflict as a question, and its two sides with what differs between them."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from config.console import cells, related
from payments.models import Conflict, ConflictReason

#: What a person is asked. Names in braces are those of `words`.
QUESTIONS: Final[Mapping[str, str]] = {
    ConflictReason.AMOUNT_MISMATCH: "{came} came for order {order}, which costs {owed}: "
    "shall the order take it, or does it go back?",
    ConflictReason.CURRENCY_MISMATCH: "{came} came for order {order}, which costs {owed} in "
    "another currency: shall the order take it, or does it go back?",
    ConflictReason.MERCHANT_MISMATCH: "{came} for order {order} came through {endpoint}, which "
    "does not fit the account that was named or agreed: whose money is it?",
    ConflictReason.TRANSACTION_ALTERED: "Transaction {txn} was told again with other facts, "
    "{came} for order {order}: which of the two is true?",
    ConflictReason.LATE_PAYMENT: "{came} came for order {order} after it was closed: "
    "shall the order be opened again, or does the money go back?",
    ConflictReason.DUPLICATE_PAYMENT: "Order {order} was paid by {paid_txn} already, and {txn} "
    "brings {came} more: does that go back?",
    ConflictReason.ORDER_NOT_FOUND: "{came} came for order {order}, which nobody has placed: "
    "what was it paid for?",
    ConflictReason.PAYMENT_NOT_FOUND: "{came} went back under {txn}, of a payment that nobody has "
    "told of: what is it about?",
    ConflictReason.EXTERNAL_REFUND: "{came} of payment {payment} went back, and nobody here has "
    "asked for it: who did, and why?",
    ConflictReason.REFUND_REVERSED: "The provider has taken back its word about a refund of {came} "
    "of payment {payment}: has the payer the money, or must it be paid another way?",
    ConflictReason.REFUND_IN_DOUBT: "A refund of {came} of payment {payment} was sent, and the "
    "provider does not say what became of it: what do its own pages show?",
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: "{came} of payment {payment} went back, more than was "
    "left of {owed}: what has really moved?",
    ConflictReason.PERHAPS_TOLD_TWICE: "Order {order} was paid by {paid_txn}, and {txn} tells of "
    "{came}: a link or a checkout names no payment, so is this the same money or a second time?",
    ConflictReason.UNCONFIRMED_PAYMENTS: "{claims} payments were claimed through {endpoint}, and "
    "nobody could confirm them: what does the provider's own page show?",
    ConflictReason.UNKNOWN_KEY: "Callbacks through {endpoint} name the key {key}, which is not "
    "known here, and are refused: has the provider a new key?",
}


class Line(NamedTuple):
    """One fact on both sides, as text; empty where a side says nothing."""

    name: str
    expected: str
    received: str
    differs: bool


def question(conflict: Conflict) -> str:
    """What a person is to decide, in one sentence."""
    return QUESTIONS[conflict.reason].format_map(words(conflict.expected, conflict.received))


def came(conflict: Conflict) -> str:
    """The money that the provider stated, or its own words where they are no money."""
    return _money(conflict.received) or "?"


def lines(conflict: Conflict) -> list[Line]:
    """The facts side by side, those with names of our own first, then whatever else was kept."""
    expected, received = conflict.expected, conflict.received
    shown = [
        Line(name, ours, theirs, _differs(ours, theirs) or name == _DECISIVE.get(conflict.reason))
        for name, ours, theirs in (
            (name, read_ours(expected), read_theirs(received))
            for name, read_ours, read_theirs in _LINES
        )
        if ours or theirs
    ]
    others = sorted((expected.keys() | received.keys()) - _NAMED)
    for key in others:
        ours, theirs = _value(key)(expected), _value(key)(received)
        shown.append(Line(key.replace("_", " "), ours, theirs, _differs(ours, theirs)))
    return shown


Side = Mapping[str, Any]


def _value(*keys: str) -> Callable[[Side], str]:
    """Reads the first of these that the side states."""

    def read(side: Side) -> str:
        return next((str(side[key]) for key in keys if side.get(key) not in (None, "")), "")

    return read


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


_LINES: Final[tuple[tuple[str, Callable[[Side], str], Callable[[Side], str]], ...]] = (
    ("Amount", _money, _money),
    ("Order", _value("order_no"), _value("order_no")),
    ("Order status", _value("order_status"), _value("order_status")),
    ("Transaction", _value("txn_no", "paid_txn_no"), _value("txn_no")),
    ("Account", _value("account_no"), _value("account_no")),
    ("Through", _value("payable_through", "endpoint"), _value("endpoint")),
    ("Merchant", _value("merchant"), _value("merchant")),
    ("Occurred at", _moment, _moment),
)
_NAMED: Final = frozenset(
    {"amount_minor", "currency", "stated_amount", "order_no", "order_status", "txn_no"}
    | {"paid_txn_no", "account_no", "payable_through", "endpoint", "merchant", "occurred_at"}
)
_ANY_ACCOUNT: Final = "any account"
#: The line that makes the case where the two sides do not contradict each other.
_DECISIVE: Final[Mapping[str, str]] = {
    ConflictReason.LATE_PAYMENT: "Order status",
    ConflictReason.ORDER_NOT_FOUND: "Order",
}


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
    return {name: value or "(not stated)" for name, value in known.items()}
