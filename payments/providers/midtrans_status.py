"""What Midtrans's statuses mean, and which signed codes they come with.

A captured card payment is paid if the fraud check accepts it; challenged, a person at the
merchant must first accept it. A refund states the total refunded so far.
https://docs.midtrans.com/reference/transaction-status
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from orders.money import NotMoney
from orders.strict_json import at, identifier, text
from payments.callback import Callback, Kind
from payments.providers.stated_money import MAJOR, Stated

CURRENCY: Final = "IDR"


class _Status(NamedTuple):
    kind: Kind
    codes: frozenset[str]


def _status(kind: Kind, *codes: str) -> _Status:
    return _Status(kind, frozenset(codes))


_STATUSES: Final[Mapping[str, _Status]] = {
    "settlement": _status(Kind.PAID, "200"),
    "capture": _status(Kind.PAID, "200", "201"),
    "authorize": _status(Kind.AUTHORIZED, "200", "201"),
    "pending": _status(Kind.PENDING, "201"),
    "deny": _status(Kind.FAILED, "200", "202"),
    "failure": _status(Kind.FAILED, "200", "202", "400", "500"),
    "cancel": _status(Kind.CLOSED, "200", "202"),
    "expire": _status(Kind.CLOSED, "200", "202", "407"),
    "refund": _status(Kind.REFUNDED, "200"),
    "partial_refund": _status(Kind.REFUNDED, "200"),
    "chargeback": _status(Kind.DISPUTED, "200"),
    "partial_chargeback": _status(Kind.DISPUTED, "200"),
}
#: The same for people, by ``transaction_status``; a capture then by ``fraud_status``.
MEANINGS: Final[Mapping[str, Kind | Mapping[str, Kind]]] = {
    **{name: status.kind for name, status in _STATUSES.items()},
    "capture": {"accept": Kind.PAID, "challenge": Kind.PENDING},
}
_REVERSALS: Final = frozenset({Kind.REFUNDED, Kind.DISPUTED})
#: With an unknown status only these codes are known to be sent at all.
_CODES: Final = frozenset().union(*(status.codes for status in _STATUSES.values()))


def fits(document: object) -> bool:
    """Whether the status fits the code that is signed. Raises StrictJsonError."""
    status = _STATUSES.get(text(document, "transaction_status") or "")
    return text(document, "status_code") in (_CODES if status is None else status.codes)


def callback_of(document: object, event_id: str) -> Callback:
    """The callback. Raises StrictJsonError, NotMoney or Invalid."""
    event_type = text(document, "transaction_status") or "(no status)"
    kind = _STATUSES[event_type].kind if event_type in _STATUSES else Kind.IGNORED
    if kind is Kind.IGNORED:
        return Callback(event_id=event_id, event_type=event_type, kind=kind)
    if event_type == "capture" and not _is_accepted(document):
        kind = Kind.PENDING
    money, words = _money(document, kind)
    order_no = text(document, "order_id") or ""
    transaction_id = identifier(document, "transaction_id")
    return Callback(
        event_id=event_id,
        event_type=event_type,
        kind=kind,
        txn_no=order_no,
        order_no=order_no,
        money=money,
        stated_amount=words,
        account_no=identifier(document, "merchant_id"),
        linked_nos=(transaction_id,) if transaction_id else (),
        reverses=order_no if kind in _REVERSALS else "",
        cumulative=kind is Kind.REFUNDED,
    )


def _is_accepted(document: object) -> bool:
    """Whether the fraud check has accepted a capture; the code of one under review is another."""
    accepted = text(document, "fraud_status") in {None, "accept"}
    return accepted and text(document, "status_code") == "200"


def _money(document: object, kind: Kind) -> Stated:
    if text(document, "currency") not in {None, CURRENCY}:
        raise NotMoney("another currency than rupiah, and no signature says so")
    refunded = kind is Kind.REFUNDED and at(document, "refund_amount") is not None
    amount = text(document, "refund_amount" if refunded else "gross_amount")
    return MAJOR.money(amount or "", CURRENCY)
