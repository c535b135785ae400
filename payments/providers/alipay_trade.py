"""What Alipay's trade notifications mean, by ``trade_status``.

- TRADE_SUCCESS is paid. TRADE_FINISHED is the same payment, no longer refundable: it has the
  same ``trade_no``, so it is one transaction however late it comes.
- with ``refund_fee`` or ``gmt_refund`` either of them, and TRADE_CLOSED, is a refund.
  ``refund_fee`` is the trade's *total* refunded so far; ``out_biz_no`` is the refund request.
- TRADE_CLOSED without them is a trade that nobody paid in time. WAIT_BUYER_PAY is pending.

``total_amount`` is what the order costs and is compared. ``receipt_amount`` leaves out the
merchant's own discounts, ``buyer_pay_amount`` what Alipay gave; neither is used. All amounts are
yuan with two decimals. Times are Beijing's.
"""

from collections.abc import Mapping
from typing import Final

from payments.callback import Callback, Kind
from payments.providers.beijing_time import beijing_instant
from payments.providers.port import Account
from payments.providers.sorted_params import NotParams, ascii_required, ascii_text
from payments.providers.stated_money import AmountRule, Stated

CURRENCY: Final = "CNY"
_YUAN: Final = AmountRule("major", {})
_STATUSES: Final[Mapping[str, Kind]] = {
    "TRADE_SUCCESS": Kind.PAID,
    "TRADE_FINISHED": Kind.PAID,
    "TRADE_CLOSED": Kind.CLOSED,
    "WAIT_BUYER_PAY": Kind.PENDING,
}
#: The same for people, by ``trade_status``.
MEANINGS: Final[Mapping[str, Kind | Mapping[str, Kind]]] = {
    **{
        status: {"": kind, "with refund_fee": Kind.REFUNDED}
        for status, kind in _STATUSES.items()
        if kind is not Kind.PENDING
    },
    "WAIT_BUYER_PAY": Kind.PENDING,
}
_TIMES: Final = {
    Kind.PAID: "gmt_payment",
    Kind.REFUNDED: "gmt_refund",
    Kind.CLOSED: "gmt_close",
    Kind.PENDING: "gmt_create",
}


def trade(params: Mapping[bytes, bytes], event_id: str, account: Account) -> Callback:
    """The callback. Raises NotParams, NotMoney or Invalid."""
    notify_type = ascii_required(params, "notify_type")
    status = ascii_text(params, "trade_status")
    if status is None or status not in _STATUSES:
        event_type = f"{notify_type}:{status}" if status else notify_type
        return Callback(event_id=event_id, event_type=event_type, kind=Kind.IGNORED)
    kind = _STATUSES[status]
    refunded = _refunded(params, kind)
    if refunded is not None:
        kind = Kind.REFUNDED
    money, words = refunded or _YUAN.money(ascii_required(params, "total_amount"), CURRENCY)
    trade_no = ascii_required(params, "trade_no")
    refund_no = ascii_text(params, "out_biz_no") if kind is Kind.REFUNDED else None
    return Callback(
        event_id=event_id,
        event_type=f"{notify_type}:{status}",
        kind=kind,
        txn_no=trade_no,
        order_no=ascii_text(params, "out_trade_no"),
        money=money,
        stated_amount=words,
        account_no=_account_no(params, account),
        occurred_at=beijing_instant(ascii_text(params, _TIMES[kind])),
        linked_nos=(refund_no,) if refund_no else (),
        reverses=trade_no if refunded else "",
        refund_no=refund_no or "",
        cumulative=refunded is not None,
    )


def _refunded(params: Mapping[bytes, bytes], kind: Kind) -> Stated | None:
    """What the trade has refunded in total, if it has refunded anything."""
    if kind is Kind.PENDING:
        return None
    fee = ascii_text(params, "refund_fee")
    if fee is not None:
        total = _YUAN.money(fee, CURRENCY)
        nothing = total.money is not None and total.money.amount_minor == 0
        return None if nothing else total
    if ascii_text(params, "gmt_refund") is None:
        return None
    if kind is not Kind.CLOSED:
        raise NotParams("a refund that does not say how much")
    return _YUAN.money(ascii_required(params, "total_amount"), CURRENCY)


def _account_no(params: Mapping[bytes, bytes], account: Account) -> str:
    """The app; with the seller behind it where that is another than the account's."""
    app_id = ascii_required(params, "app_id")
    seller_id = ascii_text(params, "seller_id") or "-"
    expected = account.settings.get("seller_id")
    return app_id if not expected or seller_id == expected else f"{app_id}/{seller_id}"
