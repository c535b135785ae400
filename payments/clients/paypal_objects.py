"""Read what PayPal's API answers: captures as events, refunds and errors."""

import json
from collections.abc import Mapping
from typing import Any, Final

from orders.strict_json import JsonObject, StrictJsonError, at, identifier, required, text
from payments.callback import Reading
from payments.clients.port import Answer, RefundAnswer
from payments.clients.units import money_in
from payments.clients.wire import Reply
from payments.providers.paypal_events import EVENTS
from payments.providers.port import Account
from payments.providers.stated_money import MAJOR

#: PayPal takes these without decimals, whatever ISO 4217 says.
NO_DECIMALS: Final = frozenset({"HUF", "JPY", "TWD"})
_STATES: Final[Mapping[str, Answer]] = {
    "COMPLETED": Answer.SUCCEEDED,
    "PENDING": Answer.PENDING,
    "FAILED": Answer.REFUSED,
    "CANCELLED": Answer.REFUSED,
}
#: A capture's status as the event that would have told it; a refunded one was paid.
_EVENTS: Final[Mapping[str, str]] = {
    "COMPLETED": "PAYMENT.CAPTURE.COMPLETED",
    "PARTIALLY_REFUNDED": "PAYMENT.CAPTURE.COMPLETED",
    "REFUNDED": "PAYMENT.CAPTURE.COMPLETED",
    "PENDING": "PAYMENT.CAPTURE.PENDING",
    "DECLINED": "PAYMENT.CAPTURE.DECLINED",
    "FAILED": "PAYMENT.CAPTURE.DECLINED",
}


def payment_in(reply: Reply, account: Account) -> Reading:
    """A capture as the event that tells of it. Raises StrictJsonError."""
    number = required(identifier(reply.json, "id"), "id")
    status = required(text(reply.json, "status"), "status")
    if status not in _EVENTS:
        raise StrictJsonError("the capture is in no known state")
    head = {"id": f"api:{number}:{status}", "event_type": _EVENTS[status]}
    # The capture stays as it came: what was read twice could be read in two ways.
    event = json.dumps(head)[:-1].encode() + b', "resource": ' + reply.body + b"}"
    (reading,) = EVENTS.read(event, account.settings)
    return reading


def refund_in(thing: Any) -> RefundAnswer:
    """The state of a refund. Raises StrictJsonError or NotMoney."""
    status = text(thing, "status") or ""
    currency = text(thing, "amount", "currency_code")
    return RefundAnswer(
        answer=_STATES.get(status, Answer.UNKNOWN),
        provider_refund_no=required(identifier(thing, "id"), "id"),
        amount=money_in(MAJOR, thing, "amount", "value", currency=currency),
        why="" if status == "COMPLETED" else f"its status is {status[:40]}",
    )


def refunds_in(order: Any) -> list[Any]:
    """All refunds in a PayPal order. Raises StrictJsonError."""
    return [
        refund
        for unit in _listed(order, "purchase_units")
        for refund in _listed(unit, "payments", "refunds")
    ]


def code_in(document: Any) -> str | None:
    """The issue of an error, else its name. Raises StrictJsonError."""
    issue = text(document, "details", "0", "issue") if isinstance(document, JsonObject) else None
    return issue or text(document, "name")


def _listed(node: Any, *path: str) -> list[Any]:
    found = at(node, *path)
    if found is None:
        return []
    if not isinstance(found, list):
        raise StrictJsonError(f"{'.'.join(path)} is not a list")
    return found
