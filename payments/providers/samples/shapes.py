"""What some providers' documents look like before they are read event by event.

Each is the reverse of how the provider's `items` make events of a document.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

Document = dict[str, Any]


def _coinbase_business(event: Document) -> Document:
    """A refund stands in the checkout's list of refunds."""
    if "refund" in event:
        event["refunds"] = [event.pop("refund")]
    return event


def _gocardless(event: Document) -> Document:
    """A batch, whose events have their type in two fields."""
    event["resource_type"], _, event["action"] = event.pop("type").partition(".")
    return {"events": [event], "meta": {"webhook_id": f"WB{event['id']}"}}


def _paypal(event: Document) -> Document:
    """A refund names its capture by a link."""
    payment_no = event["resource"].pop("up_id", "")
    if payment_no:
        address = f"https://api.sandbox.paypal.com/v2/payments/captures/{payment_no}"
        event["resource"]["links"] = [{"href": address, "rel": "up", "method": "GET"}]
    return event


def _shopify(resource: Document) -> Document:
    """The topic stands in a header only; what a resource is, its own fields show."""
    topic, _, state = resource.pop("type").partition("/")
    match topic:
        case "orders":
            resource |= {"financial_status": state, "name": f"#{resource['name']}"}
            # What was paid is not said: the adapter reads it off the price.
            resource["current_total_price"] = resource.pop("amount_paid")
        case "order_transactions":
            resource["kind"] = state
            resource.setdefault("order_id", resource["id"])
        case "refunds":
            moved = {name: resource.pop(name) for name in ("amount", "currency")}
            (transaction,) = resource["transactions"]
            transaction |= {"kind": "refund", "status": state, **moved}
        case _:
            resource["evidence_due_by"] = None
    return resource


def _xendit(event: Document) -> Document:
    """An invoice's callback has no type."""
    if event["event"] == "invoice":
        del event["event"]
    return event


SHAPES: Final[Mapping[str, Callable[[Document], Document]]] = {
    "coinbase_business": _coinbase_business,
    "gocardless": _gocardless,
    "paypal": _paypal,
    "shopify": _shopify,
    "xendit": _xendit,
}
