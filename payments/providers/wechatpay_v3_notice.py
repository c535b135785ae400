"""What WeChat Pay's APIv3 notifications mean, by ``event_type`` and the decrypted state.

- TRANSACTION.SUCCESS is paid when ``trade_state`` says SUCCESS too; the other states are told
  below. TRANSACTION.FAIL comes for entrusted debits only.
- REFUND.SUCCESS is one refund. REFUND.ABNORMAL (the payer's card cannot take it: somebody must
  act) and REFUND.CLOSED are refunds that did not happen.
- every other type is ignored: contracts, pay scores, complaints.

``amount.total`` is the order's price and is compared. ``payer_total`` is that less the coupons:
those that WeChat gives are still settled to the merchant. A refund's is ``amount.refund``, in
``CNY`` where no currency is stated. All are fen.

The account's number is the ``mchid``; in partner mode ``sp_mchid/sub_mchid``. Setting ``appids``
binds the apps as well. Combined payments (several orders in one) are unreadable.
"""

from collections.abc import Mapping
from typing import Final

from orders.strict_json import StrictJsonError, at, identifier, required, text
from payments.callback import Callback, Kind
from payments.providers.port import Account
from payments.providers.stated_money import AmountRule, json_amount
from payments.providers.times import instant

DEFAULT_CURRENCY: Final = "CNY"
_FEN: Final = AmountRule("minor", {})
TRADE_STATES: Final[Mapping[str, Kind]] = {
    "SUCCESS": Kind.PAID,
    "ACCEPT": Kind.PENDING,
    "NOTPAY": Kind.PENDING,
    "USERPAYING": Kind.PENDING,
    "CLOSED": Kind.CLOSED,
    "REVOKED": Kind.CLOSED,
    "PAYERROR": Kind.FAILED,
}
_REFUND_STATUSES: Final[Mapping[str, Kind]] = {
    "SUCCESS": Kind.REFUNDED,
    "PROCESSING": Kind.PENDING,
    "ABNORMAL": Kind.REFUND_FAILED,
    "CLOSED": Kind.REFUND_FAILED,
}
#: For people: by ``event_type``, then by ``trade_state`` or ``refund_status``.
MEANINGS: Final = {
    "TRANSACTION.SUCCESS": TRADE_STATES,
    "TRANSACTION.FAIL": {k: v for k, v in TRADE_STATES.items() if v is not Kind.PAID},
    "REFUND.SUCCESS": _REFUND_STATUSES,
    "REFUND.ABNORMAL": {k: v for k, v in _REFUND_STATUSES.items() if v is not Kind.REFUNDED},
    "REFUND.CLOSED": {k: v for k, v in _REFUND_STATUSES.items() if v is not Kind.REFUNDED},
}


def notice(envelope: object, resource: object, event_id: str, account: Account) -> Callback:
    """The callback. Raises StrictJsonError, NotMoney or Invalid."""
    event_type = required(text(envelope, "event_type"), "event_type")
    match event_type:
        case "TRANSACTION.SUCCESS" | "TRANSACTION.FAIL":
            kind = _state(resource, "trade_state", TRADE_STATES)
            number, amount_name, time_name = "transaction_id", "total", "success_time"
            payment, refund_no = None, None
            if kind is Kind.PAID and event_type == "TRANSACTION.FAIL":
                raise StrictJsonError("a failed transaction whose trade_state is SUCCESS")
        case "REFUND.SUCCESS" | "REFUND.ABNORMAL" | "REFUND.CLOSED":
            kind = _state(resource, "refund_status", _REFUND_STATUSES)
            number, amount_name, time_name = "refund_id", "refund", "success_time"
            payment = identifier(resource, "transaction_id")
            refund_no = identifier(resource, "out_refund_no")
            if kind is Kind.REFUNDED and event_type != "REFUND.SUCCESS":
                raise StrictJsonError("a refund that failed and whose refund_status is SUCCESS")
        case _:
            return Callback(event_id=event_id, event_type=event_type, kind=Kind.IGNORED)
    amount = json_amount(resource, "amount", amount_name)
    if amount is None:
        raise StrictJsonError(f"amount.{amount_name} is missing")
    currency = text(resource, "amount", "currency") or DEFAULT_CURRENCY
    money, words = _FEN.money(amount, currency)
    return Callback(
        event_id=event_id,
        event_type=event_type,
        kind=kind,
        txn_no=required(identifier(resource, number), number),
        order_no=identifier(resource, "out_trade_no"),
        money=money,
        stated_amount=words,
        account_no=_account_no(resource, account),
        occurred_at=instant(at(resource, time_name)),
        linked_nos=tuple(each for each in (payment, refund_no) if each),
        reverses=payment or "",
        refund_no=refund_no or "",
    )


def _state(resource: object, name: str, kinds: Mapping[str, Kind]) -> Kind:
    state = required(text(resource, name), name)
    if state not in kinds:
        raise StrictJsonError(f"{name} is none of: {', '.join(kinds)}")
    return kinds[state]


def _account_no(resource: object, account: Account) -> str:
    """The merchant; with the app behind it where that is none of the account's."""
    merchant = identifier(resource, "mchid")
    if merchant is None:
        partner = required(identifier(resource, "sp_mchid"), "mchid")
        merchant = f"{partner}/{required(identifier(resource, 'sub_mchid'), 'sub_mchid')}"
    app = identifier(resource, "appid") or identifier(resource, "sp_appid")
    allowed = account.settings.get("appids") or ()
    # Refunds name no app.
    return merchant if not allowed or app is None or app in allowed else f"{merchant}:{app}"
