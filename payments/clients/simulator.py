"""The provider simulator's API: docs/simulator.md. A refund's number is its for ever."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode

from orders.strict_json import at, identifier, required, text
from payments.clients.answers import (
    Refusal,
    described,
    no_payment,
    no_refund,
    payment_answer,
    refused,
)
from payments.clients.port import (
    Answer,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.clients.units import money_in
from payments.clients.wire import Reply, Wire, segment
from payments.providers.port import Account, Key
from payments.providers.simulator import SIMULATOR
from payments.providers.stated_money import MINOR

_OK: Final = frozenset({200, 201})
_NO_PAYMENT: Final = frozenset({"payment_not_found"})
_NO_REFUND: Final = frozenset({"refund_not_found"})
_REFUSALS: Final[Mapping[str, Refusal]] = {
    "exceeds_payment": Refusal.FINAL,
    "not_refundable": Refusal.FINAL,
    "payment_not_found": Refusal.MISSING,
    "refund_no_reused": Refusal.REPEATED,
}
_STATES: Final[Mapping[str, Answer]] = {
    "succeeded": Answer.SUCCEEDED,
    "pending": Answer.PENDING,
    "failed": Answer.REFUSED,
}


class Simulator:
    """One account at the simulator."""

    def __init__(self, wire: Wire, account: Account, key: Key) -> None:
        self._wire = wire
        self._account = account
        secret = key.material.decode("ascii", "replace")
        self._headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """By the payment's number; by the order's the first that was paid, else the newest."""
        if txn_no:
            reply = self._ask(f"/api/payments/{segment(txn_no)}")
            found = [reply.json] if reply.status in _OK else []
        else:
            reply = self._ask(f"/api/payments?{urlencode({'order_no': order_no})}")
            listed = at(reply.json, "payments") if reply.status in _OK else []
            found = listed if isinstance(listed, list) else []
        if reply.status not in _OK:
            return no_payment(reply, _code(reply), _NO_PAYMENT)
        if not found:
            return PaymentAnswer(
                answer=Answer.NOT_FOUND, raw=reply.body, why="no payment of this order"
            )
        paid = [each for each in found if text(each, "type") == "payment.succeeded"]
        return self._payment(paid[0] if paid else found[-1], reply.body)

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """Ask for it; the same number again is the same refund."""
        body = {
            "refund_no": order.refund_no,
            "payment": order.payment_txn_no,
            "amount_minor": order.amount.amount_minor,
            "currency": order.amount.currency,
        }
        headers = {**self._headers, "idempotency-key": order.refund_no}
        content = json.dumps(body).encode()
        reply = self._wire.send("POST", "/api/refunds", headers=headers, content=content)
        if reply.status in _OK:
            return _refund(reply.json)
        return refused(
            reply.status,
            _code(reply),
            _REFUSALS,
            lambda: self.query_refund(order, provider_refund_no=""),
        )

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """By our number."""
        reply = self._ask(f"/api/refunds/{segment(order.refund_no)}")
        if reply.status in _OK:
            return _refund(reply.json)
        return no_refund(reply.status, _code(reply), _NO_REFUND)

    def fetch_statement(self, business_date: date) -> bytes:
        """The statement of that day in UTC, as CSV."""
        path = f"/api/statements/{business_date.isoformat()}"
        reply = self._wire.download(self._wire.base_url + path, headers=self._headers)
        if reply.status not in _OK:
            raise StatementUnavailable(described(reply.status, _code(reply)))
        if not (reply.header("content-type") or "").startswith("text/csv"):
            raise StatementUnavailable("the answer is no statement")
        return reply.body

    def _ask(self, path: str) -> Reply:
        return self._wire.ask(path, headers=self._headers)

    def _payment(self, found: Any, raw: bytes) -> PaymentAnswer:
        number = required(identifier(found, "payment", "id"), "payment.id")
        status = required(text(found, "payment", "status"), "payment.status")
        # A payment is answered as its callback would tell it, but for the event's id.
        told = SIMULATOR.events.maps[0].read_event(found, f"api:{number}:{status}")
        return payment_answer(told, raw)


def _refund(document: Any) -> RefundAnswer:
    status = text(document, "refund", "status") or ""
    return RefundAnswer(
        answer=_STATES.get(status, Answer.UNKNOWN),
        provider_refund_no=required(identifier(document, "refund", "id"), "refund.id"),
        amount=money_in(
            MINOR,
            document,
            *("refund", "amount_minor"),
            currency=text(document, "refund", "currency"),
        ),
        why="" if status == "succeeded" else f"its status is {status[:40]}",
    )


def _code(reply: Reply) -> str | None:
    return text(reply.json, "error", "code")
