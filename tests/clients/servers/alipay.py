"""Alipay's gateway as its documentation shows it."""

import io
import json
import zipfile
from typing import Any
from urllib.parse import parse_qs

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey

from tests.clients.servers.base import Answered, FakeApi, Payment, Request
from tests.clients.servers.rsa import is_good, sign


def bill() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(zipfile.ZipInfo("bill.csv"), "#支付宝业务明细查询\r\n".encode("gb18030"))
    return packed.getvalue()


class AlipayApi(FakeApi):
    signs = True

    def __init__(self, app: RSAPublicKey, own: RSAPrivateKey) -> None:
        super().__init__()
        self.app, self.own = app, own
        self.thief: RSAPrivateKey = own
        self.bill_url = f"{self.url}/bill.zip"

    def answer(self, request: Request) -> Answered:
        if request.path == "/bill.zip":
            return Answered(200, bill())
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        # The gateway takes its parameters from the address as well.
        fields = {**request.query, **form}
        document = self.mangle(self._answer(request, fields))
        return self._signed(fields["method"], document, self.own)

    def forged(self, answered: Answered) -> Answered:
        document = json.loads(answered.body)
        node = next(name for name in document if name.endswith("_response"))
        return self._signed(node.removesuffix("_response"), document[node], self.thief)

    def _signed(self, method: str, document: dict[str, Any], key: RSAPrivateKey) -> Answered:
        # With spaces and an escape, as no canonical form would have them.
        content = json.dumps(document, separators=(" , ", " : ")).replace("/", "\\/")
        node = method.replace(".", "_") + "_response"
        body = f'{{"{node}":{content},"sign":"{sign(key, content.encode())}"}}'
        return Answered(200, body.encode())

    def _answer(self, request: Request, fields: dict[str, str]) -> dict[str, Any]:
        signature = fields.pop("sign", "")
        message = "&".join(f"{name}={fields[name]}" for name in sorted(fields) if fields[name])
        if request.path != "/gateway.do" or not is_good(self.app, message.encode(), signature):
            self.complain("signature")
            return {"code": "40002", "msg": "Invalid", "sub_code": "isv.invalid-signature"}
        expected = {
            "app_id": "2014072300007148",
            "format": "JSON",
            "charset": "utf-8",
            "sign_type": "RSA2",
            "timestamp": "2026-01-01 08:00:00",
            "version": "1.0",
        }
        if {name: fields.get(name) for name in expected} != expected:
            self.complain("common parameters")
        content = json.loads(fields["biz_content"])
        if fields["method"] == "alipay.data.dataservice.bill.downloadurl.query":
            return {"code": "10000", "msg": "Success", "bill_download_url": self.bill_url}
        payment = self._payment(content)
        if payment is None:
            return self._failed("ACQ.TRADE_NOT_EXIST")
        match fields["method"]:
            case "alipay.trade.refund":
                return self._refund(payment, content)
            case "alipay.trade.fastpay.refund.query":
                return self._asked(payment, content)
            case _:
                return self._trade(payment)

    def _payment(self, content: dict[str, str]) -> Payment | None:
        wanted = (content.get("trade_no"), content.get("out_trade_no"))
        return next(
            (p for p in self.payments.values() if p.txn_no == wanted[0] or p.order_no == wanted[1]),
            None,
        )

    def _failed(self, sub_code: str) -> dict[str, Any]:
        return {"code": "40004", "msg": "Business Failed", "sub_code": sub_code, "sub_msg": "张三"}

    def _refund(self, payment: Payment, content: dict[str, str]) -> dict[str, Any]:
        known = payment.refunds.get(content["out_request_no"])
        if self.refuses(payment, content["out_request_no"]):
            return self._failed(self.refusal)
        if known is not None and known.amount != content["refund_amount"]:
            return self._failed("ACQ.DISCORDANT_REPEAT_REQUEST")
        self.execute(payment, content["out_request_no"], content["refund_amount"], "CNY")
        changed = known is None and self.new_status == "succeeded"
        return {
            "code": "10000",
            "msg": "Success",
            "trade_no": payment.txn_no,
            "out_trade_no": payment.order_no,
            "fund_change": "Y" if changed else "N",
            "refund_fee": "999999.99",
        }

    def _asked(self, payment: Payment, content: dict[str, str]) -> dict[str, Any]:
        head = {"code": "10000", "msg": "Success"}
        for refund in self.visible(payment):
            if refund.refund_no == content["out_request_no"] and refund.status == "succeeded":
                return {
                    **head,
                    "trade_no": payment.txn_no,
                    "out_request_no": refund.refund_no,
                    "refund_amount": refund.amount,
                    "total_amount": payment.amount,
                    "refund_status": "REFUND_SUCCESS",
                }
        return head

    def _trade(self, payment: Payment) -> dict[str, Any]:
        states = {"paid": "TRADE_SUCCESS", "open": "WAIT_BUYER_PAY", "closed": "TRADE_CLOSED"}
        return {
            "code": "10000",
            "msg": "Success",
            "trade_no": payment.txn_no,
            "out_trade_no": payment.order_no,
            "trade_status": states[payment.state],
            "total_amount": payment.amount,
            "send_pay_date": "2026-01-01 08:00:00",
            "buyer_logon_id": "159****5620",
        }
