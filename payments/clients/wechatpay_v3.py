"""WeChat Pay's APIv3: every request signed by the merchant, every answer by WeChat Pay.

An answer without a good signature says nothing, errors included. The signature does not bind an
answer to its question, so an answer must also be about the refund or payment that was asked for.

Keys: purpose ``api-private``, the merchant's RSA key in PEM, whose id is the serial number of the
merchant's API certificate; and those that verify notifications (``signature``, ``certificate``).
The account's number is the ``mchid``, in partner mode ``sp_mchid/sub_mchid``. WeChat Pay
remembers an ``out_refund_no`` for ever; the same one again is the same refund.

Bills are made after 10:00 Beijing time of the next day.
https://pay.weixin.qq.com/doc/v3/merchant/4012791862
"""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode

from orders.strict_json import required, text
from payments.clients.answers import Refusal, described, no_payment, no_refund, refused
from payments.clients.port import (
    NumberRule,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.clients.wechatpay_v3_objects import fen, payment_in, refund_in, require_same
from payments.clients.wechatpay_v3_wire import SignedWire
from payments.clients.wire import Impossible, segment
from payments.providers.port import Account
from payments.providers.wechatpay_v3_notice import DEFAULT_CURRENCY

LIVE_URL: Final = "https://api.mch.weixin.qq.com"
REASON_BYTES_MAX: Final = 80
#: WeChat Pay's own rule for an ``out_refund_no``; it also takes | * and @, which ours never have.
REFUND_NO: Final = NumberRule(
    re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII), "1 to 64 characters of A-Z a-z 0-9 _ -"
)
_OK: Final = 200
_MISSING: Final = frozenset({"RESOURCE_NOT_EXISTS", "ORDER_NOT_EXIST", "ORDERNOTEXIST"})
_REFUSALS: Final[Mapping[str, Refusal]] = {
    "RESOURCE_NOT_EXISTS": Refusal.MISSING,
    "USER_ACCOUNT_ABNORMAL": Refusal.FINAL,
    # Against a rule: too much, too late, too soon, or this number with another amount.
    "INVALID_REQUEST": Refusal.REPEATED,
}


class WechatPayV3:
    """One merchant at WeChat Pay."""

    def __init__(self, wire: SignedWire, account: Account) -> None:
        self._wire = wire
        self._account = account
        self._mchid, _, self._sub_mchid = account.account_no.partition("/")

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """By WeChat Pay's number, else by the merchant's."""
        by = f"id/{segment(txn_no)}" if txn_no else f"out-trade-no/{segment(order_no)}"
        if self._sub_mchid:
            query = {"sp_mchid": self._mchid, "sub_mchid": self._sub_mchid}
            path = f"/v3/pay/partner/transactions/{by}?{urlencode(query)}"
        else:
            path = f"/v3/pay/transactions/{by}?{urlencode({'mchid': self._mchid})}"
        reply = self._wire.ask(path)
        if reply.status != _OK:
            return no_payment(reply, text(reply.json, "code"), _MISSING)
        found = reply.json
        asked, name = (txn_no, "transaction_id") if txn_no else (order_no, "out_trade_no")
        require_same(found, name, asked)
        return payment_in(found, reply.body, self._account)

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """Ask for it; the same number again is the same refund."""
        if not REFUND_NO.allows(order.refund_no):
            raise Impossible(f"WeChat Pay takes refund numbers of {REFUND_NO.words} only")
        body: dict[str, Any] = {
            "transaction_id": order.payment_txn_no,
            "out_refund_no": order.refund_no,
            "amount": {
                "refund": fen(order.amount),
                "total": fen(order.payment_amount),
                "currency": DEFAULT_CURRENCY,
            },
        }
        if order.reason:
            body["reason"] = order.reason.encode()[:REASON_BYTES_MAX].decode("utf-8", "ignore")
        if self._sub_mchid:
            body["sub_mchid"] = self._sub_mchid
        content = json.dumps(body, ensure_ascii=False).encode()
        reply = self._wire.send("POST", "/v3/refund/domestic/refunds", content)
        if reply.status == _OK:
            return refund_in(reply.json, order)
        return refused(
            reply.status,
            text(reply.json, "code"),
            _REFUSALS,
            lambda: self.query_refund(order, provider_refund_no=""),
        )

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """By our number: WeChat Pay keeps it for ever."""
        path = f"/v3/refund/domestic/refunds/{segment(order.refund_no)}"
        if self._sub_mchid:
            path += f"?{urlencode({'sub_mchid': self._sub_mchid})}"
        reply = self._wire.ask(path)
        if reply.status == _OK:
            return refund_in(reply.json, order)
        return no_refund(reply.status, text(reply.json, "code"), _MISSING)

    def fetch_statement(self, business_date: date) -> bytes:
        """The trade bill of that day in Beijing, as CSV; its digest is signed and is checked."""
        query = {"bill_date": business_date.isoformat(), "bill_type": "ALL"}
        if self._sub_mchid:
            query["sub_mchid"] = self._sub_mchid
        reply = self._wire.ask(f"/v3/bill/tradebill?{urlencode(query)}")
        if reply.status != _OK:
            raise StatementUnavailable(described(reply.status, text(reply.json, "code")))
        stated = required(text(reply.json, "hash_value"), "hash_value").lower()
        bill = self._wire.download(required(text(reply.json, "download_url"), "download_url"))
        if text(reply.json, "hash_type") != "SHA1" or hashlib.sha1(bill).hexdigest() != stated:  # noqa: S324 - the provider's choice
            raise StatementUnavailable("the bill is not the one that WeChat Pay announced")
        return bill
