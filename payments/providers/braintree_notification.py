"""What a Braintree notification says, by its ``kind``.

A transaction is paid when it has settled, unless it is a credit: that is a refund, and has a
number of its own, while its order number may be the payment's. A subscription's charge is paid
when it succeeded, told by its newest transaction, which may settle and be told again under the
same number. Most card sales are told by no webhook at all. A disbursement is a payout, no news of
a payment.

``order-id`` is the merchant's order number. Amounts are texts in major units; a subscription's
transaction may lack its currency.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from orders.money import NotMoney
from payments.callback import Callback, Kind
from payments.providers.port import Account
from payments.providers.stated_money import MAJOR, Stated
from payments.providers.times import instant


class NotANotification(ValueError):
    """The payload is not one; the message never quotes it."""


class _Meaning(NamedTuple):
    """What is told, and of which subject; `credit`: what it says of money that goes back."""

    kind: Kind
    subject: str
    credit: Kind | None = None


_MEANINGS: Final[Mapping[str, _Meaning]] = {
    "transaction_settled": _Meaning(Kind.PAID, "transaction", Kind.REFUNDED),
    "transaction_settlement_declined": _Meaning(Kind.FAILED, "transaction", Kind.REFUND_FAILED),
    "refund_failed": _Meaning(Kind.REFUND_FAILED, "transaction"),
    "subscription_charged_successfully": _Meaning(Kind.PAID, "subscription"),
    "subscription_charged_unsuccessfully": _Meaning(Kind.FAILED, "subscription"),
    "dispute_opened": _Meaning(Kind.DISPUTED, "dispute"),
    "dispute_under_review": _Meaning(Kind.DISPUTED, "dispute"),
    "dispute_disputed": _Meaning(Kind.DISPUTED, "dispute"),
    "dispute_won": _Meaning(Kind.DISPUTE_WON, "dispute"),
    "dispute_lost": _Meaning(Kind.DISPUTE_LOST, "dispute"),
    "dispute_accepted": _Meaning(Kind.DISPUTE_LOST, "dispute"),
    "dispute_auto_accepted": _Meaning(Kind.DISPUTE_LOST, "dispute"),
    "dispute_expired": _Meaning(Kind.DISPUTE_LOST, "dispute"),
}
#: The same for people, by ``kind``, then by the transaction's ``type``.
MEANINGS: Final[Mapping[str, Kind | Mapping[str, Kind]]] = {
    event_type: {"sale": meaning.kind, "credit": meaning.credit} if meaning.credit else meaning.kind
    for event_type, meaning in _MEANINGS.items()
}


def opened(payload: bytes) -> Element:
    """The notification in a payload. Raises NotANotification.

    A DOCTYPE and entities are refused; nothing is ever fetched.
    """
    try:
        document = base64.b64decode(payload.replace(b"\n", b""), validate=True).decode("utf-8")
        root: Element = fromstring(document.strip(), forbid_dtd=True)
    except (binascii.Error, UnicodeDecodeError):
        raise NotANotification("the payload is not base64 of UTF-8") from None
    except DefusedXmlException:
        raise NotANotification("a DOCTYPE or an entity") from None
    except (ParseError, ValueError):
        raise NotANotification("the payload is not XML") from None
    if root.tag != "notification":
        raise NotANotification("another root element")
    return root


def callback_of(notification: Element, account: Account, event_id: str) -> Callback:
    """The callback. Raises NotANotification, NotMoney or Invalid."""
    event_type = _required(notification, "kind")
    meaning = _MEANINGS.get(event_type)
    if meaning is None:
        return Callback(event_id=event_id, event_type=event_type, kind=Kind.IGNORED)
    subject = _one(notification, "subject", meaning.subject)
    if meaning.subject == "subscription":
        subject = _newest(subject)
    payment = _one(subject, "transaction") if meaning.subject == "dispute" else subject
    kind = meaning.kind
    if meaning.credit and _text(subject, "type") == "credit":
        kind = meaning.credit
    money, words = _money(subject, account, kind)
    reversed_ids = [
        *([_required(payment, "id")] if payment is not subject else []),
        _text(subject, "refunded-transaction-id") or _text(subject, "refunded-transaction-fk"),
    ]
    linked = [number for number in reversed_ids if number]
    return Callback(
        event_id=event_id,
        event_type=event_type,
        kind=kind,
        txn_no=_required(subject, "id"),
        order_no=_text(payment, "order-id"),
        money=money,
        stated_amount=words,
        account_no=_account_no(subject, account),
        occurred_at=instant(_text(notification, "timestamp")),
        linked_nos=tuple(linked),
        reverses=linked[0] if linked else "",
    )


def _money(subject: Element, account: Account, kind: Kind) -> Stated:
    amount = _text(subject, "amount")
    currency = _text(subject, "currency-iso-code") or account.settings.get("currency")
    if amount and currency:
        return MAJOR.money(amount, currency)
    if kind is Kind.PAID and not amount:
        raise NotMoney("a payment without an amount")
    return Stated()


def _account_no(subject: Element, account: Account) -> str | None:
    """The account's own number for each of the bound merchant accounts; a foreign one as it is."""
    ours = account.settings.get("merchant_accounts")
    stated = _text(subject, "merchant-account-id")
    if not ours or not stated:
        return None
    return account.account_no if stated in ours else stated


def _newest(subscription: Element) -> Element:
    """A subscription's newest transaction, which is the first."""
    transactions = _one(subscription, "transactions").findall("transaction")
    if not transactions:
        raise NotANotification("a subscription's charge without a transaction")
    return transactions[0]


def _one(node: Element, *path: str) -> Element:
    for name in path:
        found = node.findall(name)
        if len(found) != 1:
            raise NotANotification(f"{name} occurs {len(found)} times")
        node = found[0]
    return node


def _text(node: Element, name: str) -> str | None:
    """An element's text; absent and empty are both None."""
    if node.find(name) is None:
        return None
    found = _one(node, name)
    if len(found):
        raise NotANotification(f"{name} is not text")
    return (found.text or "").strip() or None


def _required(node: Element, name: str) -> str:
    value = _text(node, name)
    if value is None:
        raise NotANotification(f"{name} is missing")
    return value
