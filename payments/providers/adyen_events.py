"""What Adyen's notifications mean, by ``eventCode`` and ``success``.

A payment's number is the ``pspReference`` of its authorisation. What happens to it later has a
number of its own and names the payment in ``originalReference``; a capture is the same money, so
its transaction is the payment's.

- AUTHORISATION is an authorisation. Where the account captures automatically (setting
  ``auto_capture``) it is the payment, because then no CAPTURE follows.
- REFUND with success says that the refund was accepted. It may still fail, days later:
  REFUND_FAILED, REFUNDED_REVERSED.
- CANCEL_OR_REFUND gives a payment's money back whichever of the two it became. Which one it was
  is not signed; its amount is not stated.
- A request for information, and a notice that a chargeback is coming, move no money.

``eventDate`` is not signed, so it is not used: a fact happened when it was received. Amounts are
minor units by Adyen's own table: https://docs.adyen.com/development-resources/currency-codes
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from orders.money import NotMoney
from orders.strict_json import StrictJsonError
from payments.callback import Callback, Kind
from payments.providers.adyen_item import Item
from payments.providers.port import Account
from payments.providers.stated_money import AmountRule, Stated

#: Currencies whose minor unit at Adyen is not ISO 4217's.
EXPONENTS: Final[Mapping[str, int]] = {"CLP": 2, "CVE": 0, "IDR": 0, "ISK": 2}
_AMOUNTS: Final = AmountRule("minor", EXPONENTS)


class _Meaning(NamedTuple):
    """What a success and a failure say; `of_payment`: it is the payment itself that is told."""

    success: Kind
    failure: Kind = Kind.IGNORED
    of_payment: bool = False


_MEANINGS: Final[Mapping[str, _Meaning]] = {
    "AUTHORISATION": _Meaning(Kind.AUTHORIZED, Kind.FAILED, of_payment=True),
    "PENDING": _Meaning(Kind.PENDING, of_payment=True),
    "CAPTURE": _Meaning(Kind.PAID, Kind.FAILED, of_payment=True),
    "CAPTURE_FAILED": _Meaning(Kind.FAILED, of_payment=True),
    "CANCELLATION": _Meaning(Kind.CLOSED, of_payment=True),
    "TECHNICAL_CANCEL": _Meaning(Kind.CLOSED, of_payment=True),
    "EXPIRE": _Meaning(Kind.CLOSED, of_payment=True),
    "OFFER_CLOSED": _Meaning(Kind.CLOSED, of_payment=True),
    "REFUND": _Meaning(Kind.REFUNDED, Kind.REFUND_FAILED),
    "CANCEL_OR_REFUND": _Meaning(Kind.REFUNDED, Kind.REFUND_FAILED),
    "REFUND_FAILED": _Meaning(Kind.REFUND_FAILED),
    "REFUNDED_REVERSED": _Meaning(Kind.REFUND_FAILED),
    "REQUEST_FOR_INFORMATION": _Meaning(Kind.PENDING),
    "NOTIFICATION_OF_CHARGEBACK": _Meaning(Kind.DISPUTED),
    "CHARGEBACK": _Meaning(Kind.DISPUTED),
    "CHARGEBACK_REVERSED": _Meaning(Kind.DISPUTE_WON),
    "SECOND_CHARGEBACK": _Meaning(Kind.DISPUTE_LOST),
    "PREARBITRATION_WON": _Meaning(Kind.DISPUTE_WON),
    "PREARBITRATION_LOST": _Meaning(Kind.DISPUTE_LOST),
}
_IGNORED: Final = _Meaning(Kind.IGNORED)
#: Their reference is the refund's, where the refund was asked for with one.
_REFUNDS: Final = frozenset({Kind.REFUNDED, Kind.REFUND_FAILED})
#: The same for people: by ``eventCode``, then by ``success``.
MEANINGS: Final = {
    event_code: {"true": meaning.success, "false": meaning.failure}
    for event_code, meaning in _MEANINGS.items()
}


def event_id_of(item: Item) -> str:
    """What tells a repeat from news: Adyen has no ids for notifications."""
    return f"{item.psp_reference}:{item.event_code}:{item.success}"


def callback_of(item: Item, account: Account, *, live: bool | None) -> Callback:
    """The callback. Raises StrictJsonError, NotMoney or Invalid."""
    if ":" in item.merchant_account:
        raise StrictJsonError("merchantAccountCode has a colon, so the signed text is ambiguous")
    meaning = _MEANINGS.get(item.event_code, _IGNORED)
    kind = meaning.success if item.success == "true" else meaning.failure
    if kind is Kind.IGNORED:
        return Callback(
            event_id=event_id_of(item), event_type=item.event_code, kind=kind, live=live
        )
    if _is_payment(item, kind, account):
        kind = Kind.PAID
    own, payment = item.psp_reference, item.original_reference
    txn_no, linked = (payment or own, own) if meaning.of_payment else (own, payment)
    money, words = _money(item, kind)
    return Callback(
        event_id=event_id_of(item),
        event_type=item.event_code,
        kind=kind,
        txn_no=txn_no,
        order_no=item.merchant_reference or None,
        money=money,
        stated_amount=words,
        account_no=_account_no(item, account),
        live=live,
        linked_nos=() if linked in {"", txn_no} else (linked,),
        reverses="" if meaning.of_payment else payment,
        refund_no=item.merchant_reference if kind in _REFUNDS else "",
    )


def _is_payment(item: Item, kind: Kind, account: Account) -> bool:
    """Whether an authorisation is the payment; one of nothing only stores a card."""
    auto_capture = account.settings.get("auto_capture") is True
    return auto_capture and kind is Kind.AUTHORIZED and item.value not in {"", "0"}


def _money(item: Item, kind: Kind) -> Stated:
    if item.value and item.event_code != "CANCEL_OR_REFUND":
        return _AMOUNTS.money(item.value, item.currency)
    if kind is Kind.PAID:
        raise NotMoney("a payment without an amount")
    return Stated()


def _account_no(item: Item, account: Account) -> str:
    """The account's own number for each of its merchant accounts; a foreign one as it stands."""
    ours = {account.account_no, *account.settings.get("merchant_accounts", ())}
    return account.account_no if item.merchant_account in ours else item.merchant_account
