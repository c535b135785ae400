"""What WeChat Pay v2 notifications mean: payments, and hints at refunds."""

from collections.abc import Mapping
from typing import Final

from payments.callback import Callback, Kind
from payments.providers.beijing_time import beijing_instant
from payments.providers.port import Account
from payments.providers.sorted_params import NotParams, ascii_required, ascii_text
from payments.providers.stated_money import AmountRule

DEFAULT_CURRENCY: Final = "CNY"
_FEN: Final = AmountRule("minor", {})
_REFUND_STATUSES: Final[Mapping[str, Kind]] = {
    "SUCCESS": Kind.REFUNDED,
    "CHANGE": Kind.REFUND_FAILED,
    "REFUNDCLOSE": Kind.REFUND_FAILED,
}
#: For people: by ``result_code``, and for a refund by ``refund_status``.
MEANINGS: Final = {
    "payment": {"SUCCESS": Kind.PAID, "others": Kind.FAILED},
    "refund notice": _REFUND_STATUSES,
}


def payment(fields: Mapping[bytes, bytes], account: Account) -> Callback:
    """The payment in a signed message. Raises NotParams, NotMoney or Invalid."""
    transaction = ascii_required(fields, "transaction_id")
    done = all(ascii_required(fields, name) == "SUCCESS" for name in ("return_code", "result_code"))
    currency = ascii_text(fields, "fee_type") or DEFAULT_CURRENCY
    money, words = _FEN.money(ascii_required(fields, "total_fee"), currency)
    return Callback(
        event_id=transaction,
        event_type="pay",
        kind=Kind.PAID if done else Kind.FAILED,
        txn_no=transaction,
        order_no=ascii_text(fields, "out_trade_no"),
        money=money,
        stated_amount=words,
        account_no=_account_no(fields, account),
        occurred_at=beijing_instant(ascii_text(fields, "time_end")),
    )


def refund(
    fields: Mapping[bytes, bytes], inside: Mapping[bytes, bytes], account: Account
) -> Callback:
    """The refund that a notice hints at. Raises NotParams, NotMoney or Invalid."""
    status = ascii_required(inside, "refund_status")
    if status not in _REFUND_STATUSES:
        raise NotParams(f"refund_status is none of: {', '.join(_REFUND_STATUSES)}")
    transaction = ascii_required(inside, "transaction_id")
    refund_no = ascii_text(inside, "out_refund_no")
    money, words = _FEN.money(ascii_required(inside, "refund_fee"), DEFAULT_CURRENCY)
    return Callback(
        event_id=transaction,
        event_type="refund",
        kind=_REFUND_STATUSES[status],
        txn_no=ascii_required(inside, "refund_id"),
        order_no=ascii_text(inside, "out_trade_no"),
        money=money,
        stated_amount=words,
        account_no=_account_no(fields, account),
        occurred_at=beijing_instant(ascii_text(inside, "success_time")),
        linked_nos=(transaction, refund_no) if refund_no else (transaction,),
        reverses=transaction,
        refund_no=refund_no or "",
    )


def _account_no(fields: Mapping[bytes, bytes], account: Account) -> str:
    """The merchant; with the app behind it where that is none of the account's."""
    merchant = ascii_required(fields, "mch_id")
    app = ascii_text(fields, "appid")
    allowed = account.settings.get("appids") or ()
    return merchant if not allowed or app in allowed else f"{merchant}:{app or '-'}"
