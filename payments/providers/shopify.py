"""Shopify.

Signed: the body, with the app's client secret; after a rotation it may take an hour until the
new one is used. Topic, shop domain, event id and time stand in headers only, which are not
signed: none of them is read. What a body is shows in its own fields, and is named here after the
topic that usually carries it.

The transaction is the order: `orders/paid` says that all of it is paid, and the order's single
transactions say less. A refund's amount is the sum of its successful transactions; a refund
without any moves no money. The order number is the order's name without its ``#``; ``order``
names another field (``/note_attributes/0/value``). Amounts are the shop's currency, which the
merchant is owed, not the customer's presentment currency.
https://shopify.dev/docs/apps/build/webhooks/subscribe/https
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from orders.money import Money, NotMoney, from_major
from orders.strict_json import JsonObject, StrictJsonError, at, mapping, required, text
from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, ModeRule, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.mapped_events import MappedEvents, Settings
from payments.providers.stated_money import MAJOR, json_amount

FACTS: Final = Facts(
    title="Shopify",
    tier="second tier",
    signature="HMAC-SHA256, base64, header X-Shopify-Hmac-SHA256; the key is the client secret",
    signed="the body",
    unsigned="headers: topic, shop domain, event and webhook id, time",
    retries="8 in 4 hours; then the subscription is deleted",
    acknowledgement="200 within 5 s",
    order="the order's name without #",
    amount="current_total_price, plus what is overpaid; total_price where that is not stated; in "
    "the shop's currency",
    refund="the refund's id; its amount is the sum of its successful transactions",
    settings="order",
    source="https://shopify.dev/docs/apps/build/webhooks",
    evidence="documentation; SDK 1.0 verifies the samples",
    keys=(KeyFact("signature", "the app's client secret"),),
)


def _named(document: Any, _settings: Settings) -> Sequence[Any]:
    """The resource, with the name of what it is."""
    resource = required(mapping(document), "the resource")
    if "financial_status" in resource:
        _complete_order(resource)
    elif "evidence_due_by" in resource:
        resource["type"] = "disputes/update"
    elif "order_id" in resource and "kind" in resource:
        resource["type"] = f"order_transactions/{text(resource, 'kind')}"
    elif "order_id" in resource and "transactions" in resource:
        _complete_refund(resource)
    elif "admin_graphql_api_id" in resource:
        resource["type"] = "other"
    else:
        raise StrictJsonError("not a resource of Shopify's")
    return [resource]


def _complete_order(order: JsonObject) -> None:
    status = text(order, "financial_status")
    unpaid = status in {"pending", "authorized", "voided"}
    cancelled = at(order, "cancelled_at") is not None
    order["type"] = "orders/cancelled" if unpaid and cancelled else f"orders/{status}"
    order["name"] = (text(order, "name") or "").removeprefix("#")
    _complete_amount(order)


def _complete_amount(order: JsonObject) -> None:
    """Say how much a paid order has brought: its price after edits, and what is overpaid by now.

    `total_price` may still be the price before the edits. `total_outstanding` is below nought
    where an edit after the payment made the order cheaper.
    """
    price, currency = json_amount(order, "current_total_price"), text(order, "currency")
    outstanding = str(json_amount(order, "total_outstanding") or "")
    if price is not None and currency is not None and outstanding.startswith("-"):
        overpaid = from_major(outstanding.removeprefix("-"), currency)
        price = _sum([from_major(price, currency), overpaid]).major
    order["amount_paid"] = price


def _complete_refund(refund: JsonObject) -> None:
    """Say how much was given back, and in what state that is."""
    transactions = at(refund, "transactions")
    if not isinstance(transactions, list):
        raise StrictJsonError("transactions is not a list")
    amounts: dict[str, list[Money]] = {"success": [], "pending": [], "failure": []}
    for given in transactions:
        if text(given, "kind") == "refund":
            amount, currency = json_amount(given, "amount"), text(given, "currency")
            if amount is None or currency is None:
                raise NotMoney("a refund without an amount or without a currency")
            status = text(given, "status") or ""
            amounts.get(status, amounts["failure"]).append(from_major(amount, currency))
    status = next((status for status, given in amounts.items() if given), "none")
    refund["type"] = f"refunds/{status}"
    if status != "none":
        total = _sum(amounts[status])
        refund["amount"], refund["currency"] = total.major, total.currency


def _sum(amounts: Sequence[Money]) -> Money:
    if len({money.currency for money in amounts}) > 1:
        raise NotMoney("one refund in several currencies")
    return Money(sum(money.amount_minor for money in amounts), amounts[0].currency)


_ORDER: Final = FieldMap(
    type=paths("/type"),
    transaction=paths("/id"),
    order=paths("/name"),
    amount=paths("/amount_paid", "/total_price"),
    amount_rule=MAJOR,
    currency=paths("/currency"),
    mode=ModeRule(paths("/test"), live=False, test=True),
    occurred_at=paths("/processed_at"),
    kinds={
        "orders/paid": Kind.PAID,
        "orders/authorized": Kind.AUTHORIZED,
        "orders/pending": Kind.PENDING,
        "orders/partially_paid": Kind.PENDING,
        "orders/voided": Kind.CLOSED,
        "orders/expired": Kind.CLOSED,
        "orders/cancelled": Kind.CLOSED,
        # Paid before; the refund itself says how much went back.
        "orders/refunded": Kind.IGNORED,
        "orders/partially_refunded": Kind.IGNORED,
    },
)
_TRANSACTION: Final = replace(
    _ORDER,
    order=(),
    amount=paths("/amount"),
    linked=paths("/order_id"),
    status=paths("/status"),
    kinds={
        "order_transactions/authorization": {"success": Kind.AUTHORIZED},
        "order_transactions/sale": {"failure": Kind.FAILED, "error": Kind.FAILED},
        "order_transactions/capture": {"failure": Kind.FAILED, "error": Kind.FAILED},
        "order_transactions/void": {"success": Kind.CLOSED},
    },
)
_REFUND: Final = replace(
    _TRANSACTION,
    reverses=paths("/order_id"),
    mode=ModeRule(paths("/transactions/0/test"), live=False, test=True),
    kinds={
        "refunds/success": Kind.REFUNDED,
        "refunds/pending": Kind.PENDING,
        "refunds/failure": Kind.REFUND_FAILED,
    },
)
_DISPUTE: Final = replace(
    _TRANSACTION,
    reverses=paths("/order_id"),
    mode=None,
    occurred_at=paths("/initiated_at"),
    kinds={
        "disputes/update": {
            "needs_response": Kind.DISPUTED,
            "under_review": Kind.DISPUTED,
            "charge_refunded": Kind.DISPUTE_WON,
            "won": Kind.DISPUTE_WON,
            "accepted": Kind.DISPUTE_LOST,
            "lost": Kind.DISPUTE_LOST,
        }
    },
)

SHOPIFY: Final = HmacProvider(
    facts=FACTS,
    scheme=HmacScheme(signature=SignatureRule(header="x-shopify-hmac-sha256", encoding="base64")),
    events=MappedEvents(maps=(_ORDER, _TRANSACTION, _REFUND, _DISPUTE), items=_named),
)
