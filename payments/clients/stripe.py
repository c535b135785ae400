"""Stripe's API: PaymentIntents, refunds and balance transactions.

The key (purpose ``api``) is a secret or a restricted key of the account: it reads PaymentIntents,
charges and balance transactions and writes refunds. Stripe remembers an ``Idempotency-Key`` for
at least 24 hours; the refund's number also stands in its metadata, and is found there for ever.
By the order's number a payment is found through Stripe's search, which lags by up to a minute.

Amounts of three decimals must end in 0. https://docs.stripe.com/api
"""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from orders.money import exponent_of
from orders.strict_json import identifier, required, text
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
from payments.clients.stripe_objects import code_in, page_in, payment_in, refund_in, subject_of
from payments.clients.units import minor_units
from payments.clients.wire import Reply, Wire, segment
from payments.providers.port import Account, Key
from payments.providers.stripe_events import EXPONENTS

LIVE_URL: Final = "https://api.stripe.com"
#: The shapes that are read here are this version's, whatever the account's own is.
VERSION: Final = "2024-06-20"
PAGES_MAX: Final = 5
STATEMENT_PAGES_MAX: Final = 500
_PAGE: Final = ("limit", "100")
_OK: Final = 200
_THREE_DECIMALS: Final = 3
_MISSING: Final = frozenset({"resource_missing"})
_REFUSALS: Final[Mapping[str, Refusal]] = {
    "charge_already_refunded": Refusal.SPENT,
    "charge_disputed": Refusal.FINAL,
    "charge_not_refundable": Refusal.FINAL,
    "refund_disputed_payment": Refusal.FINAL,
    "resource_missing": Refusal.MISSING,
    "idempotency_error": Refusal.REPEATED,
}

Query = list[tuple[str, str]]


class Stripe:
    """One account at Stripe."""

    def __init__(self, wire: Wire, account: Account, key: Key) -> None:
        self._wire = wire
        self._account = account
        secret = key.material.decode("ascii", "replace")
        self._headers = {"authorization": f"Bearer {secret}", "stripe-version": VERSION}

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """By the PaymentIntent's number, a charge's, or the order's in the metadata."""
        if not txn_no:
            return self._search(order_no)
        if txn_no.startswith(("ch_", "py_")):
            reply = self._get(f"/v1/charges/{segment(txn_no)}", [])
        else:
            expanded = [("expand[]", "latest_charge")]
            reply = self._get(f"/v1/payment_intents/{segment(txn_no)}", expanded)
        if reply.status != _OK:
            return no_payment(reply, code_in(reply.json), _MISSING)
        return payment_answer(payment_in(reply.json, self._account), reply.body)

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """Create it, with its number as the key and in its metadata."""
        step = 10 if exponent_of(order.amount.currency) == _THREE_DECIMALS else 1
        form = [
            subject_of(order),
            ("amount", str(minor_units(order.amount, EXPONENTS, step=step))),
            ("metadata[refund_no]", order.refund_no),
        ]
        headers = {
            **self._headers,
            "content-type": "application/x-www-form-urlencoded",
            "idempotency-key": order.refund_no,
        }
        content = urlencode(form).encode()
        reply = self._wire.send("POST", "/v1/refunds", headers=headers, content=content)
        if reply.status == _OK:
            return refund_in(reply.json)
        return refused(
            reply.status,
            code_in(reply.json),
            _REFUSALS,
            lambda: self.query_refund(order, provider_refund_no=""),
        )

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """By its number at Stripe, else among the payment's refunds by ours."""
        if provider_refund_no:
            reply = self._get(f"/v1/refunds/{segment(provider_refund_no)}", [])
            return (
                refund_in(reply.json)
                if reply.status == _OK
                else no_refund(reply.status, code_in(reply.json), _MISSING)
            )
        query, after = [subject_of(order), _PAGE], list[tuple[str, str]]()
        for _ in range(PAGES_MAX):
            reply = self._get("/v1/refunds", [*query, *after])
            if reply.status != _OK:
                return no_refund(reply.status, code_in(reply.json), _MISSING)
            refunds, more = page_in(reply.json)
            for found in refunds:
                if text(found, "metadata", "refund_no") == order.refund_no:
                    return refund_in(found)
            if not (more and refunds):
                return RefundAnswer(answer=Answer.NOT_FOUND, why="none of the payment's refunds")
            after = [("starting_after", required(identifier(refunds[-1], "id"), "id"))]
        return RefundAnswer(answer=Answer.UNKNOWN, why="the payment has too many refunds to see")

    def fetch_statement(self, business_date: date) -> bytes:
        """The balance transactions of that day in UTC: a JSON list of the pages as they came."""
        start = datetime(business_date.year, business_date.month, business_date.day, tzinfo=UTC)
        query = [
            ("created[gte]", str(int(start.timestamp()))),
            ("created[lt]", str(int((start + timedelta(days=1)).timestamp()))),
            _PAGE,
            ("expand[]", "data.source"),
        ]
        pages, after = list[bytes](), list[tuple[str, str]]()
        for _ in range(STATEMENT_PAGES_MAX):
            reply = self._get("/v1/balance_transactions", [*query, *after])
            if reply.status != _OK:
                raise StatementUnavailable(described(reply.status, code_in(reply.json)))
            entries, more = page_in(reply.json)
            pages.append(reply.body)
            if not (more and entries):
                return b"[" + b",".join(pages) + b"]"
            after = [("starting_after", required(identifier(entries[-1], "id"), "id"))]
        raise StatementUnavailable("the day has too many transactions")

    def _search(self, order_no: str) -> PaymentAnswer:
        given = str(self._account.settings.get("order_key") or "")
        names = (given,) if given else ("order_id", "order_no")
        # An order number has no quotes in it; the setting may have.
        words = " OR ".join(f"metadata[{json.dumps(name)}]:'{order_no}'" for name in names)
        query = [("query", words), _PAGE, ("expand[]", "data.latest_charge")]
        reply = self._get("/v1/payment_intents/search", query)
        if reply.status != _OK:
            return no_payment(reply, code_in(reply.json), _MISSING)
        found, _ = page_in(reply.json)
        if not found:
            return PaymentAnswer(
                answer=Answer.NOT_FOUND, raw=reply.body, why="no PaymentIntent names this order"
            )
        # The first that was paid, as the newest come first; another one's own event tells of it.
        paid = [each for each in found if text(each, "status") == "succeeded"]
        chosen = paid[-1] if paid else found[0]
        return payment_answer(payment_in(chosen, self._account), reply.body)

    def _get(self, path: str, query: Query) -> Reply:
        target = f"{path}?{urlencode(query)}" if query else path
        return self._wire.ask(target, headers=self._headers)
