"""Read what Stripe's API answers: refunds, payments as events, pages and errors."""

from collections.abc import Mapping
from typing import Any, Final

from orders.strict_json import (
    JsonObject,
    StrictJsonError,
    at,
    boolean,
    identifier,
    required,
    text,
)
from payments.callback import Callback
from payments.clients.port import Answer, RefundAnswer, RefundOrder
from payments.clients.units import money_in
from payments.clients.wire import Impossible
from payments.providers.port import Account
from payments.providers.stated_money import AmountRule
from payments.providers.stripe import callback_of
from payments.providers.stripe_events import EXPONENTS

_AMOUNTS: Final = AmountRule("minor", EXPONENTS)
_STATES: Final[Mapping[str, Answer]] = {
    "succeeded": Answer.SUCCEEDED,
    "pending": Answer.PENDING,
    "requires_action": Answer.PENDING,
    "failed": Answer.REFUSED,
    "canceled": Answer.REFUSED,
}
#: An object's status as the event that would have told it.
_EVENTS: Final[Mapping[tuple[str, str], str]] = {
    ("payment_intent", "succeeded"): "payment_intent.succeeded",
    ("payment_intent", "requires_capture"): "payment_intent.amount_capturable_updated",
    ("payment_intent", "canceled"): "payment_intent.canceled",
    ("payment_intent", "processing"): "payment_intent.processing",
    # The buyer may still pay, after a failed attempt too.
    ("payment_intent", "requires_payment_method"): "payment_intent.processing",
    ("payment_intent", "requires_confirmation"): "payment_intent.processing",
    ("payment_intent", "requires_action"): "payment_intent.processing",
    ("charge", "succeeded"): "charge.succeeded",
    ("charge", "pending"): "charge.pending",
    ("charge", "failed"): "charge.failed",
}


def payment_in(thing: Any, account: Account) -> Callback:
    """A PaymentIntent or a charge as the event that tells of it.

    Raises StrictJsonError, NotMoney or Invalid.
    """
    kind, status = required(text(thing, "object"), "object"), text(thing, "status") or ""
    if (kind, status) not in _EVENTS:
        raise StrictJsonError("the object is no payment in a known state")
    charge = at(thing, "latest_charge")
    event = JsonObject(
        [
            ("type", _EVENTS[kind, status]),
            ("livemode", boolean(thing, "livemode")),
            ("created", at(charge, "created") if isinstance(charge, JsonObject) else None),
            ("data", JsonObject([("object", thing)])),
        ]
    )
    number = required(identifier(thing, "id"), "id")
    return callback_of(event, f"api:{number}:{status}", account)


def refund_in(thing: Any) -> RefundAnswer:
    """The state of a refund. Raises StrictJsonError or NotMoney."""
    status = text(thing, "status") or ""
    currency = (text(thing, "currency") or "").upper()
    return RefundAnswer(
        answer=_STATES.get(status, Answer.UNKNOWN),
        provider_refund_no=required(identifier(thing, "id"), "id"),
        amount=money_in(_AMOUNTS, thing, "amount", currency=currency),
        why="" if status == "succeeded" else f"its status is {status[:40]}",
    )


def page_in(document: Any) -> tuple[list[Any], bool]:
    """The objects of a page, and whether more follow. Raises StrictJsonError."""
    listed = at(document, "data")
    if not isinstance(listed, list):
        raise StrictJsonError("data is not a list")
    return listed, boolean(document, "has_more") or False


def code_in(document: Any) -> str | None:
    """An error's code, or its type where the type says more. Raises StrictJsonError."""
    kind = text(document, "error", "type")
    return kind if kind == "idempotency_error" else text(document, "error", "code")


def subject_of(order: RefundOrder) -> tuple[str, str]:
    """The parameter that names the payment. Raises Impossible."""
    for number in (order.payment_txn_no, *order.linked_nos):
        if number.startswith("pi_"):
            return "payment_intent", number
    for number in (order.payment_txn_no, *order.linked_nos):
        if number.startswith(("ch_", "py_")):
            return "charge", number
    raise Impossible("neither a PaymentIntent nor a charge of this payment is known")
