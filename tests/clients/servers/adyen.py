"""Adyen's Checkout API as its documentation shows it."""

import json
import re
from typing import Final

from tests.clients.servers.base import Answered, FakeApi, Request, as_json

SECRET: Final = "AQEyhmfxLYrHbBtDw0m/n3Q5qf3VeYpFI5xFZ2clients-test-3rKZ"
PATH: Final = re.compile(r"/v71/payments/([A-Z0-9]{16})/refunds")


def _error(status: int, code: str, kind: str = "validation", **headers: str) -> Answered:
    error = {"status": status, "errorCode": code, "message": "Jane Doe", "errorType": kind}
    return as_json(status, error, **headers)


class AdyenApi(FakeApi):
    refund_prefix = "WWWPSPREFERENCE"

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, Answered] = {}

    def answer(self, request: Request) -> Answered:
        if request.headers.get("x-api-key") != SECRET:
            self.complain("key")
            return _error(401, "000", "security")
        key, path = request.headers.get("idempotency-key", ""), PATH.fullmatch(request.path)
        if path is None or request.method != "POST" or not 1 <= len(key) <= 64:
            self.complain("path, method or key")
            return _error(404, "000")
        if key in self.keys:
            return self.keys[key]
        payment = self.payments.get(path[1])
        if payment is None:
            return _error(422, "167")
        if self.refusal:
            code, _, transient = self.refusal.partition(" ")
            headers = {"transient-error": "true"} if transient else {}
            return _error(422, code, **headers)
        content = json.loads(request.body)
        if content["merchantAccount"] != "TestMerchant":
            self.complain("merchantAccount")
        amount = content["amount"]
        refund = self.execute(
            payment, content["reference"], str(amount["value"]), amount["currency"], key=key
        )
        answered = as_json(
            201,
            {
                "merchantAccount": "TestMerchant",
                "paymentPspReference": payment.txn_no,
                "pspReference": refund.number,
                "reference": refund.refund_no,
                "status": "received",
                "amount": amount,
            },
        )
        self.keys[key] = answered
        return answered
