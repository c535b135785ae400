"""Alipay's trade API, through its gateway.

Keys: purpose ``api-private``, the app's RSA key in PEM; and Alipay's public key, which verifies
notifications too (``signature``). The account's number is the ``app_id``. Apps in certificate
mode are not supported. Alipay remembers an ``out_request_no`` for ever; a refund has no number of
its own there, so `provider_refund_no` stays empty.

Bills are made after 9:00 Beijing time of the next day.
https://opendocs.alipay.com/open/02ekfk and 028sma
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, Final

from orders.strict_json import StrictJsonError, identifier, required, text
from payments.callback import Callback
from payments.clients.alipay_gateway import SUCCESS, Gateway
from payments.clients.answers import Refusal, payment_answer, refused
from payments.clients.port import (
    Answer,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.clients.units import major_units, money_in
from payments.clients.wire import Impossible
from payments.providers.alipay_trade import CURRENCY, trade
from payments.providers.port import Account
from payments.providers.sorted_params import NotParams
from payments.providers.stated_money import MAJOR

LIVE_URL: Final = "https://openapi.alipay.com"
TEST_URL: Final = "https://openapi-sandbox.dl.alipaydev.com"
REASON_LENGTH_MAX: Final = 256
_FAILED: Final = "40004"
_NO_TRADE: Final = "ACQ.TRADE_NOT_EXIST"
_REFUSALS: Final[Mapping[str, Refusal]] = {
    _NO_TRADE: Refusal.MISSING,
    "ACQ.CURRENCY_NOT_SUPPORT": Refusal.FINAL,
    "ACQ.DISCORDANT_REPEAT_REQUEST": Refusal.REPEATED,
    "ACQ.NOT_ALLOW_PARTIAL_REFUND": Refusal.FINAL,
    "ACQ.ONLINE_TRADE_VOUCHER_NOT_ALLOW_REFUND": Refusal.FINAL,
    "ACQ.REASON_TRADE_REFUND_FEE_ERR": Refusal.FINAL,
    # Too much, or all of it refunded: perhaps by this very refund, which may not be shown yet.
    "ACQ.REFUND_AMT_NOT_EQUAL_TOTAL": Refusal.REPEATED,
    "ACQ.TRADE_HAS_CLOSE": Refusal.REPEATED,
    "ACQ.REFUND_FEE_ERROR": Refusal.FINAL,
    "ACQ.TRADE_HAS_FINISHED": Refusal.SPENT,
    "ACQ.TRADE_NOT_ALLOW_REFUND": Refusal.FINAL,
}


class Alipay:
    """One app at Alipay."""

    def __init__(self, gateway: Gateway, account: Account) -> None:
        self._gateway = gateway
        self._account = account

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """By Alipay's number, else by the merchant's."""
        asked = {"trade_no": txn_no} if txn_no else {"out_trade_no": order_no}
        found, raw = self._gateway.call("alipay.trade.query", asked)
        if text(found, "code") != SUCCESS:
            sub_code = text(found, "sub_code")
            answer = Answer.NOT_FOUND if sub_code == _NO_TRADE else Answer.UNKNOWN
            return PaymentAnswer(answer=answer, raw=raw, why=_described(found))
        for name, number in asked.items():
            _require_same(found, name, number)
        return payment_answer(self._callback(found), raw)

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """Ask for it; the same number again is the same refund."""
        if order.amount.currency != CURRENCY:
            raise Impossible(f"Alipay refunds in {CURRENCY} only")
        content = {
            "trade_no": order.payment_txn_no,
            "refund_amount": major_units(order.amount),
            "out_request_no": order.refund_no,
        }
        if order.reason:
            content["refund_reason"] = order.reason[:REASON_LENGTH_MAX]
        found, _ = self._gateway.call("alipay.trade.refund", content)
        if text(found, "code") == SUCCESS:
            _require_same(found, "trade_no", order.payment_txn_no)
            if text(found, "fund_change") == "Y":
                # refund_fee would be the trade's total so far.
                return RefundAnswer(answer=Answer.SUCCEEDED, amount=order.amount)
        return self._not_yet(found, order)

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """By our number. That there is no result may mean that there is none yet."""
        asked = {"trade_no": order.payment_txn_no, "out_request_no": order.refund_no}
        found, _ = self._gateway.call("alipay.trade.fastpay.refund.query", asked)
        if text(found, "code") != SUCCESS:
            known = text(found, "code") == _FAILED and text(found, "sub_code") == _NO_TRADE
            answer = Answer.NOT_FOUND if known else Answer.UNKNOWN
            return RefundAnswer(answer=answer, why=_described(found))
        if text(found, "refund_status") != "REFUND_SUCCESS":
            return RefundAnswer(answer=Answer.NOT_FOUND, why="not refunded, or not yet")
        _require_same(found, "out_request_no", order.refund_no)
        amount = money_in(MAJOR, found, "refund_amount", currency=CURRENCY)
        return RefundAnswer(answer=Answer.SUCCEEDED, amount=amount)

    def fetch_statement(self, business_date: date) -> bytes:
        """The trade bill of that day in Beijing: a ZIP archive of CSV files."""
        asked = {"bill_type": "trade", "bill_date": business_date.isoformat()}
        found, _ = self._gateway.call("alipay.data.dataservice.bill.downloadurl.query", asked)
        if text(found, "code") != SUCCESS:
            raise StatementUnavailable(_described(found))
        return self._gateway.download(required(text(found, "bill_download_url"), "the address"))

    def _not_yet(self, found: Any, order: RefundOrder) -> RefundAnswer:
        """What an answer means that says no money has moved by this request."""
        code, sub_code = text(found, "code"), text(found, "sub_code")
        if code == SUCCESS:
            asked = self.query_refund(order, provider_refund_no="")
            if asked.answer is Answer.NOT_FOUND:
                return RefundAnswer(answer=Answer.UNKNOWN, why="taken, but no refund is to be seen")
            return asked
        if code != _FAILED:
            return RefundAnswer(answer=Answer.UNKNOWN, why=_described(found))
        answer = refused(
            400, sub_code, _REFUSALS, lambda: self.query_refund(order, provider_refund_no="")
        )
        return replace(answer, why=_described(found)) if answer.why else answer

    def _callback(self, found: Any) -> Callback:
        """The trade as a notification would state it. Raises StrictJsonError."""
        number = required(identifier(found, "trade_no"), "trade_no")
        status = required(text(found, "trade_status"), "trade_status")
        fields = {
            "notify_type": "trade_status_sync",
            "trade_status": status,
            "trade_no": number,
            "out_trade_no": identifier(found, "out_trade_no"),
            "total_amount": text(found, "total_amount"),
            "gmt_payment": text(found, "send_pay_date"),
            # Only this app can ask for its trades; the seller is not stated.
            "app_id": self._account.account_no,
            "seller_id": self._account.settings.get("seller_id"),
        }
        params = {name.encode(): str(value).encode() for name, value in fields.items() if value}
        try:
            return trade(params, f"api:{number}:{status}", self._account)
        except NotParams as error:
            raise StrictJsonError(str(error)) from None


def _require_same(found: Any, name: str, asked: str) -> None:
    if identifier(found, name) != asked:
        raise StrictJsonError(f"the answer is about another {name}")


def _described(found: Any) -> str:
    code, sub_code = text(found, "code") or "", text(found, "sub_code") or ""
    return f"code {code[:10]}, {sub_code[:60] or 'no sub_code'}"
