"""PayPal's API as its documentation shows it."""

import base64
import json
from typing import Any, Final
from urllib.parse import parse_qs

from tests.clients.servers.base import Answered, FakeApi, Payment, Refund, Request, as_json

CLIENT_ID: Final = "AeA1QIZXiflr1_-r0U2UbWTziOWX1GRQer5jkUq4ZfWT5qwb6qQRPq7jDtv57TL4POEEez"
SECRET: Final = "EGnHDxD_qRPdaLdZz8iCr8N7_MzF-YHPTkjs6NKYQvQSBngp4PTTVWkPZRbL-clients"
TOKEN: Final = "A21AAFclientsAAAAAAAAAAAAAAAAAAAAAAAA"


def _error(status: int, name: str, issue: str = "") -> Answered:
    error: dict[str, Any] = {
        "name": name,
        "message": "Jane Doe may not",
        "debug_id": "90957fca61718",
    }
    if issue:
        error["details"] = [{"issue": issue, "description": "jane@example.com"}]
    return as_json(status, error)


class PayPalApi(FakeApi):
    refund_prefix = "1JU08902781691411"

    def __init__(self) -> None:
        super().__init__()
        self.ids: dict[str, tuple[bytes, Answered]] = {}
        self.tokens_given = 0
        self.token = TOKEN

    def applies_to(self, _request: Request) -> bool:
        return _request.path != "/v1/oauth2/token"

    def answer(self, request: Request) -> Answered:
        if request.path == "/v1/oauth2/token":
            basic = base64.b64encode(f"{CLIENT_ID}:{SECRET}".encode()).decode()
            if request.headers.get("authorization") != f"Basic {basic}":
                self.complain("client")
                return _error(401, "invalid_client")
            if parse_qs(request.body.decode()) != {"grant_type": ["client_credentials"]}:
                self.complain("grant_type")
            self.tokens_given += 1
            return as_json(200, {"access_token": self.token, "expires_in": 32400})
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return _error(401, "AUTHENTICATION_FAILURE")
        if request.method == "POST":
            return self._create(request)
        return self._get(request.path)

    def _create(self, request: Request) -> Answered:
        key = request.headers.get("paypal-request-id", "")
        if key in self.ids:
            body, answered = self.ids[key]
            same = body == request.body
            return answered if same else _error(422, "UNPROCESSABLE_ENTITY", "DUPLICATE_REQUEST_ID")
        payment = self.payments.get(request.path.split("/")[-2])
        if payment is None or not request.path.startswith("/v2/payments/captures/"):
            return _error(404, "RESOURCE_NOT_FOUND", "INVALID_RESOURCE_ID")
        content = json.loads(request.body)
        if self.refuses(payment, content["custom_id"]):
            return _error(422, "UNPROCESSABLE_ENTITY", self.refusal)
        if not key or request.headers.get("prefer") != "return=representation":
            self.complain("headers")
        amount = content["amount"]
        if amount["currency_code"] != payment.currency:
            self.complain("currency")
        refund = self.execute(
            payment, content["custom_id"], amount["value"], amount["currency_code"], key=key
        )
        answered = as_json(201, self._refund(refund))
        self.ids[key] = (request.body, answered)
        return answered

    def _get(self, path: str) -> Answered:
        number = path.rpartition("/")[2]
        if path == "/v1/reporting/transactions":
            return as_json(200, {"transaction_details": [], "page": 1, "total_pages": 1})
        if path.startswith("/v2/payments/captures/") and number in self.payments:
            return as_json(200, self._capture(self.payments[number]))
        if path.startswith("/v2/payments/refunds/"):
            for payment in self.payments.values():
                for refund in self.visible(payment):
                    if refund.number == number:
                        return as_json(200, self._refund(refund))
        if path.startswith("/v2/checkout/orders/O-of-"):
            payment = self.payments[number.removeprefix("O-of-")]
            refunds = [self._refund(each) for each in self.visible(payment)]
            unit = {"payments": {"captures": [self._capture(payment)], "refunds": refunds}}
            return as_json(200, {"id": number, "purchase_units": [unit]})
        return _error(404, "RESOURCE_NOT_FOUND", "INVALID_RESOURCE_ID")

    def _refund(self, refund: Refund) -> dict[str, Any]:
        states = {"succeeded": "COMPLETED", "pending": "PENDING", "failed": "FAILED"}
        return {
            "id": refund.number,
            "status": states[refund.status],
            "amount": {"value": refund.amount, "currency_code": refund.currency},
            "custom_id": refund.refund_no,
        }

    def _capture(self, payment: Payment) -> dict[str, Any]:
        states = {"paid": "COMPLETED", "open": "PENDING", "closed": "DECLINED"}
        status = "PARTIALLY_REFUNDED" if payment.refunds else states[payment.state]
        return {
            "id": payment.txn_no,
            "status": status,
            "amount": {"value": payment.amount, "currency_code": payment.currency},
            "custom_id": payment.order_no,
            "create_time": "2026-01-01T00:00:00Z",
            "payee": {"merchant_id": "7NTT2L3UTU8FW"},
            "supplementary_data": {"related_ids": {"order_id": f"O-of-{payment.txn_no}"}},
        }
