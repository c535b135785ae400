"""Adyen's Checkout API: refunds. Their ends, and payments, are told by notifications only.

The key (purpose ``api``) is an API key of a credential that may refund. Adyen takes every refund
as ``received``; whether it succeeds comes as a REFUND notification. It answers no question about
one, so a lost answer is found by asking for the same refund again: Adyen remembers the
``Idempotency-Key`` for at least 31 days. Keys are the whole company account's, so this one is made
of the merchant account, the payment and the refund. `reference` is the refund's number.

Live accounts have a host of their own, named by the setting ``live_prefix``.
https://docs.adyen.com/online-payments/refund
"""

import json
from collections.abc import Mapping
from datetime import date
from hashlib import sha256
from typing import Final

from orders.strict_json import StrictJsonError, identifier, required, text
from payments.clients.answers import Refusal, described, refused
from payments.clients.port import (
    Answer,
    FoundBy,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.clients.units import minor_units, money_in
from payments.clients.wire import Wire, segment
from payments.providers.adyen_events import EXPONENTS
from payments.providers.port import Account, Key
from payments.providers.stated_money import AmountRule

TEST_URL: Final = "https://checkout-test.adyen.com"
#: Nothing: it answers no questions about payments.
FOUND_BY: Final = frozenset[FoundBy]()
VERSION: Final = "v71"
_CREATED: Final = frozenset({200, 201})
_AMOUNTS: Final = AmountRule("minor", EXPONENTS)
_REFUSALS: Final[Mapping[str, Refusal]] = {
    "137": Refusal.FINAL,  # invalid amount
    "138": Refusal.FINAL,  # unsupported currency
    "167": Refusal.MISSING,  # no such payment
}
_NO_ANSWERS: Final = "Adyen answers no questions about it: its notification tells"


def live_url(prefix: str) -> str:
    """The host of a live account; the prefix has LIVE_PREFIX's form."""
    return f"https://{prefix}-checkout-live.adyenpayments.com/checkout"


class Adyen:
    """One merchant account at Adyen."""

    def __init__(self, wire: Wire, account: Account, key: Key) -> None:
        self._wire = wire
        self._account = account
        self._headers = {
            "content-type": "application/json",
            "x-api-key": key.material.decode("ascii", "replace"),
        }

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """Nothing: see the module."""
        return PaymentAnswer(answer=Answer.UNKNOWN, why=_NO_ANSWERS)

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """Ask for it; within a month the same number again is the same refund."""
        amount = {
            "value": minor_units(order.amount, EXPONENTS),
            "currency": order.amount.currency,
        }
        body = {
            "merchantAccount": self._account.account_no,
            "amount": amount,
            "reference": order.refund_no,
        }
        named = (self._account.account_no, order.payment_txn_no, order.refund_no)
        headers = {
            **self._headers,
            "idempotency-key": sha256("\n".join(named).encode()).hexdigest(),
        }
        path = f"/{VERSION}/payments/{segment(order.payment_txn_no)}/refunds"
        content = json.dumps(body).encode()
        reply = self._wire.send("POST", path, headers=headers, content=content)
        if reply.status not in _CREATED:
            code = text(reply.json, "errorCode")
            if reply.header("transient-error") == "true":
                return RefundAnswer(answer=Answer.UNKNOWN, why=described(reply.status, code))
            return refused(
                reply.status,
                code,
                _REFUSALS,
                lambda: self.query_refund(order, provider_refund_no=""),
            )
        if text(reply.json, "reference") != order.refund_no:
            raise StrictJsonError("the answer is about another refund")
        currency = text(reply.json, "amount", "currency")
        received = text(reply.json, "status") == "received"
        return RefundAnswer(
            answer=Answer.PENDING if received else Answer.UNKNOWN,
            provider_refund_no=required(identifier(reply.json, "pspReference"), "pspReference"),
            amount=money_in(_AMOUNTS, reply.json, "amount", "value", currency=currency),
            why="received; its notification tells the end" if received else "not received",
        )

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """PENDING once Adyen has given it a number; else nothing: see the module."""
        answer = Answer.PENDING if provider_refund_no else Answer.UNKNOWN
        return RefundAnswer(answer=answer, provider_refund_no=provider_refund_no, why=_NO_ANSWERS)

    def fetch_statement(self, business_date: date) -> bytes:
        """Nothing: Adyen makes reports at its own time, for another credential."""
        raise StatementUnavailable("Adyen's reports are not fetched: upload the file")
