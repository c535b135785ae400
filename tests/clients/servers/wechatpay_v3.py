"""WeChat Pay's APIv3 as its documentation shows it."""

import hashlib
import json
import re
from typing import Any, Final
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

from tests.clients.servers.base import Answered, FakeApi, Payment, Refund, Request
from tests.clients.servers.rsa import is_good, sign

SCHEME: Final = "WECHATPAY2-SHA256-RSA2048 "
STATED: Final = re.compile(r'([a-z_]+)="([^"]*)"')
NAMES: Final = {"mchid", "nonce_str", "serial_no", "signature", "timestamp"}
BILL: Final = "交易时间,公众账号ID,商户号\r\n`2026-01-01 00:10:00,`wx1,`1900000001\r\n".encode()


class WechatPayV3Api(FakeApi):
    refund_prefix = "5030000"
    signs = True

    def __init__(
        self, merchant: RSAPublicKey, own: RSAPrivateKey, *, serial: str, key_id: str, now: int
    ) -> None:
        super().__init__()
        self.merchant, self.own = merchant, own
        self.serial, self.key_id, self.now = serial, key_id, now
        self.bill = BILL
        self.bill_host = self.url
        #: In partner mode.
        self.sub_mchid = ""

    def answer(self, request: Request) -> Answered:
        status, document = self._answer(request)
        if isinstance(document, bytes):
            return Answered(status, document)
        body = json.dumps(self.mangle(document), ensure_ascii=False).encode()
        return self._signed(status, body, self.own)

    def forged(self, answered: Answered) -> Answered:
        return self._signed(answered.status, answered.body, self.thief)

    thief: RSAPrivateKey

    def _signed(self, status: int, body: bytes, key: RSAPrivateKey) -> Answered:
        time, nonce = str(self.now), "593BEC0C930BF1AFEB40B4A08C8FB242"
        signed = sign(key, f"{time}\n{nonce}\n".encode() + body + b"\n")
        headers = {
            "Wechatpay-Timestamp": time,
            "Wechatpay-Nonce": nonce,
            "Wechatpay-Serial": self.key_id,
            "Wechatpay-Signature": signed,
            "Wechatpay-Signature-Type": "WECHATPAY2-SHA256-RSA2048",
        }
        return Answered(status, body, headers)

    def _answer(self, request: Request) -> tuple[int, Any]:
        problem = self._problem(request)
        if problem:
            self.complain(problem)
            return 401, {"code": "SIGN_ERROR", "message": problem}
        if request.method == "POST":
            return self._create(json.loads(request.body))
        area, _, number = request.path.rpartition("/")
        match area:
            case "/v3/billdownload":
                return 200, self.bill
            case "/v3/bill":
                url = f"{self.bill_host}/v3/billdownload/file?token=xx"
                digest = hashlib.sha1(BILL).hexdigest()  # noqa: S324
                return 200, {"hash_type": "SHA1", "hash_value": digest, "download_url": url}
            case "/v3/refund/domestic/refunds":
                if request.query != ({"sub_mchid": self.sub_mchid} if self.sub_mchid else {}):
                    self.complain("sub_mchid")
                return self._asked(number)
            case _:
                return self._transaction(number, request)

    def _transaction(self, number: str, request: Request) -> tuple[int, Any]:
        sub, partner = self.sub_mchid, request.path.startswith("/v3/pay/partner/transactions/")
        expected = {"sp_mchid": "1900000001", "sub_mchid": sub} if sub else {"mchid": "1900000001"}
        if request.query != expected or partner is not bool(sub):
            self.complain("mchid")
        for payment in self.payments.values():
            if number in {payment.txn_no, payment.order_no}:
                return 200, self._payment(payment)
        return 404, {"code": "ORDER_NOT_EXIST", "message": "订单不存在"}

    def _asked(self, number: str) -> tuple[int, Any]:
        for payment in self.payments.values():
            for refund in self.visible(payment):
                if refund.refund_no == number:
                    return 200, self._refund(refund, payment)
        return 404, {"code": "RESOURCE_NOT_EXISTS", "message": "退款单不存在"}

    def _problem(self, request: Request) -> str:
        header = request.headers.get("authorization", "")
        stated = dict(STATED.findall(header))
        if not header.startswith(SCHEME) or stated.keys() != NAMES:
            return "authorization"
        if stated["mchid"] != "1900000001" or stated["serial_no"] != self.serial:
            return "mchid or serial_no"
        if (
            abs(int(stated["timestamp"]) - self.now) > 300
            or not 16 <= len(stated["nonce_str"]) <= 32
        ):
            return "timestamp or nonce"
        parts = urlsplit(request.target)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        lines = [request.method, target, stated["timestamp"], stated["nonce_str"], ""]
        message = "\n".join(lines).encode() + request.body + b"\n"
        if not is_good(self.merchant, message, stated["signature"]):
            return "signature"
        return ""

    def _create(self, body: dict[str, Any]) -> tuple[int, Any]:
        payment = self.payments.get(body["transaction_id"])
        if payment is None:
            return 404, {"code": "RESOURCE_NOT_EXISTS", "message": "订单不存在"}
        amount, no = body["amount"], body["out_refund_no"]
        if body.get("sub_mchid", "") != self.sub_mchid:
            self.complain("sub_mchid")
        known = payment.refunds.get(no)
        if self.refuses(payment, no):
            status, _, code = self.refusal.partition(" ")
            return int(status), {"code": code, "message": "张三的账户"}
        if str(amount["total"]) != payment.amount or amount["currency"] != "CNY":
            self.complain("total")
        if known is not None and known.amount != str(amount["refund"]):
            return 400, {"code": "INVALID_REQUEST", "message": "退款金额与之前请求不一致"}
        refund = self.execute(payment, no, str(amount["refund"]), "CNY")
        return 200, self._refund(refund, payment)

    def _refund(self, refund: Refund, payment: Payment) -> dict[str, Any]:
        states = {"succeeded": "SUCCESS", "pending": "PROCESSING", "failed": "ABNORMAL"}
        return {
            "refund_id": refund.number,
            "out_refund_no": refund.refund_no,
            "transaction_id": payment.txn_no,
            "out_trade_no": payment.order_no,
            "status": states[refund.status],
            "amount": {
                "total": int(payment.amount),
                "refund": int(refund.amount),
                "currency": "CNY",
            },
        }

    def _payment(self, payment: Payment) -> dict[str, Any]:
        sub = self.sub_mchid
        open_order = {
            **({"sp_mchid": "1900000001", "sub_mchid": sub} if sub else {"mchid": "1900000001"}),
            "appid": "wx2421b1c4370ec43b",
            "out_trade_no": payment.order_no,
            "trade_state": {"paid": "SUCCESS", "open": "NOTPAY", "closed": "CLOSED"}[payment.state],
        }
        if payment.state != "paid":
            return open_order
        if payment.refunds:
            open_order["trade_state"] = "REFUND"
        return {
            **open_order,
            "transaction_id": payment.txn_no,
            "success_time": "2026-01-01T08:00:00+08:00",
            "amount": {"total": int(payment.amount), "payer_total": 1, "currency": "CNY"},
        }
