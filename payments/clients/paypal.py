"""PayPal's API: captures and their refunds.

The key (purpose ``api``) has the app's client id as its id and the client secret as material.
PayPal remembers a ``PayPal-Request-Id`` for 45 days. The refund's number is also its
``custom_id``: without PayPal's own number a refund is looked for in the order of its capture.
By the merchant's order number alone nothing can be found.

Transactions appear in the report up to three hours late, and only where the app may read it.
https://developer.paypal.com/docs/api/payments/v2/
"""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode

from orders.strict_json import StrictJsonError, at, identifier, required, text
from payments.clients.answers import (
    Refusal,
    described,
    no_payment,
    no_refund,
    payment_answer,
    refused,
)
from payments.clients.paypal_objects import NO_DECIMALS, code_in, payment_in, refund_in, refunds_in
from payments.clients.paypal_token import Tokens
from payments.clients.port import (
    Answer,
    FoundBy,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.clients.units import major_units
from payments.clients.wire import Impossible, Reply, Wire, segment
from payments.providers.port import Account

LIVE_URL: Final = "https://api-m.paypal.com"
TEST_URL: Final = "https://api-m.sandbox.paypal.com"
#: By the merchant's order number alone nothing can be found.
FOUND_BY: Final = frozenset({FoundBy.TXN_NO})
STATEMENT_PAGES_MAX: Final = 100
_OK: Final = frozenset({200, 201})
_UNAUTHORIZED: Final = 401
_MISSING: Final = frozenset({"RESOURCE_NOT_FOUND", "INVALID_RESOURCE_ID"})
_REFUSALS: Final[Mapping[str, Refusal]] = {
    "CAPTURE_FULLY_REFUNDED": Refusal.SPENT,
    "CURRENCY_NOT_SUPPORTED": Refusal.FINAL,
    "DECIMAL_PRECISION": Refusal.FINAL,
    "DUPLICATE_REQUEST_ID": Refusal.REPEATED,
    "INVALID_RESOURCE_ID": Refusal.MISSING,
    "MAX_NUMBER_OF_REFUNDS_EXCEEDED": Refusal.FINAL,
    "PARTIAL_REFUND_NOT_ALLOWED": Refusal.FINAL,
    "REFUND_AMOUNT_EXCEEDED": Refusal.SPENT,
    "REFUND_CAPTURE_CURRENCY_MISMATCH": Refusal.FINAL,
    "REFUND_NOT_ALLOWED": Refusal.FINAL,
    "REFUND_TIME_LIMIT_EXCEEDED": Refusal.FINAL,
    "RESOURCE_NOT_FOUND": Refusal.MISSING,
}


class PayPal:
    """One app at PayPal."""

    def __init__(self, wire: Wire, account: Account, tokens: Tokens) -> None:
        self._wire = wire
        self._account = account
        self._tokens = tokens

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """By the capture's number."""
        if not txn_no:
            raise Impossible("PayPal finds no payment by the merchant's order number")
        reply = self._get(f"/v2/payments/captures/{segment(txn_no)}")
        if reply.status not in _OK:
            return no_payment(reply, code_in(reply.json), _MISSING)
        _require_number(reply.json, txn_no)
        return payment_answer(payment_in(reply, self._account), reply.body)

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """Ask for it, with its number as the request's id."""
        currency = order.amount.currency
        decimals = 0 if currency in NO_DECIMALS else None
        body = {
            "amount": {"value": major_units(order.amount, decimals), "currency_code": currency},
            "custom_id": order.refund_no,
        }
        headers = {
            **self._headers(),
            "content-type": "application/json",
            "paypal-request-id": order.refund_no,
            "prefer": "return=representation",
        }
        path = f"/v2/payments/captures/{segment(order.payment_txn_no)}/refund"
        content = json.dumps(body).encode()
        reply = self._seen(self._wire.send("POST", path, headers=headers, content=content))
        if reply.status in _OK:
            return refund_in(reply.json)
        return refused(
            reply.status,
            code_in(reply.json),
            _REFUSALS,
            lambda: self.query_refund(order, provider_refund_no=""),
        )

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """By its number at PayPal, else by ours in the order of the capture."""
        if provider_refund_no:
            reply = self._get(f"/v2/payments/refunds/{segment(provider_refund_no)}")
            if reply.status in _OK:
                _require_number(reply.json, provider_refund_no)
                return refund_in(reply.json)
            return no_refund(reply.status, code_in(reply.json), _MISSING)
        reply = self._get(f"/v2/payments/captures/{segment(order.payment_txn_no)}")
        if reply.status not in _OK:
            return no_refund(reply.status, code_in(reply.json), _MISSING)
        related = ("supplementary_data", "related_ids", "order_id")
        number = required(identifier(reply.json, *related), *related)
        reply = self._get(f"/v2/checkout/orders/{segment(number)}")
        if reply.status not in _OK:
            # That the order cannot be seen says nothing of the refund.
            why = f"the capture's order: {described(reply.status, code_in(reply.json))}"
            return RefundAnswer(answer=Answer.UNKNOWN, why=why)
        for found in refunds_in(reply.json):
            if text(found, "custom_id") == order.refund_no:
                return refund_in(found)
        return RefundAnswer(answer=Answer.NOT_FOUND, why="none of the order's refunds")

    def fetch_statement(self, business_date: date) -> bytes:
        """The transactions of that day in UTC: a JSON list of the pages as they came."""
        pages: list[bytes] = []
        for page in range(1, STATEMENT_PAGES_MAX + 1):
            query = {
                "start_date": f"{business_date}T00:00:00Z",
                "end_date": f"{business_date}T23:59:59Z",
                "fields": "all",
                "page_size": 500,
                "page": page,
            }
            reply = self._get(f"/v1/reporting/transactions?{urlencode(query)}")
            if reply.status not in _OK:
                raise StatementUnavailable(described(reply.status, code_in(reply.json)))
            pages.append(reply.body)
            total = at(reply.json, "total_pages")
            if type(total) is not int or page >= total:
                return b"[" + b",".join(pages) + b"]"
        raise StatementUnavailable("the day has too many transactions")

    def _get(self, path: str) -> Reply:
        return self._seen(self._wire.ask(path, headers=self._headers()))

    def _headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self._tokens.current()}", "accept": "application/json"}

    def _seen(self, reply: Reply) -> Reply:
        if reply.status == _UNAUTHORIZED:
            self._tokens.forget()
        return reply


def _require_number(thing: Any, asked: str) -> None:
    if identifier(thing, "id") != asked:
        raise StrictJsonError("the answer is about another number")
