"""What the OpenAPI document says about the calls of refunds."""

from typing import Any, Final

from orders.api import problem_types
from orders.api.schema_parts import (
    RUNNING,
    WITH_BODY,
    WITH_KEY,
    example,
    key_parameters,
    responses,
)
from payments.api.serializers import (
    NewRefundSerializer,
    RefundPageSerializer,
    RefundQuerySerializer,
    RefundSerializer,
)

_REQUESTED: Final = {
    "refund_no": "R-1001",
    "order_no": "A-1001",
    "payment": "pi_3Nv0",
    "status": "REQUESTED",
    "amount": {"amount_minor": 500, "currency": "USD"},
    "reason": "one item returned",
    "provider_refund_no": None,
    "requested_at": "2031-05-06T09:00:00.123456Z",
    "finished_at": None,
    "version": 1,
}
_SUCCEEDED: Final = _REQUESTED | {
    "status": "SUCCEEDED",
    "provider_refund_no": "re_3Nv0",
    "finished_at": "2031-05-06T09:00:04Z",
    "version": 2,
}

REQUEST_REFUND: Final[dict[str, Any]] = {
    "operation_id": "request_refund",
    "summary": "Refund a payment",
    "description": "Reserves the amount and answers at once; the provider is asked after that, "
    "and `refund.succeeded` or `refund.failed` tells the end. The key makes the call safe to "
    "repeat. So does the refund number, which is yours and is the provider's idempotency key too. "
    "Refunds together never exceed what was paid and not charged back.",
    "request": NewRefundSerializer,
    "parameters": key_parameters(201, required=True),
    "responses": RUNNING
    | responses(
        201,
        RefundSerializer,
        "The refund as it stands.",
        *WITH_BODY,
        *WITH_KEY,
        problem_types.IDEMPOTENCY_KEY_MISSING,
        problem_types.NOT_FOUND,
        problem_types.REFUND_EXISTS,
        problem_types.NOT_REFUNDABLE,
        problem_types.REFUND_EXCEEDS,
    ),
    "examples": [
        example(
            "A part of it",
            {name: _REQUESTED[name] for name in ("refund_no", "amount", "reason")},
            request=True,
        ),
        example("All that is left", {"refund_no": "R-1002"}, request=True),
        example("The refund waits for the provider", _REQUESTED),
    ],
}
LIST_REFUNDS: Final[dict[str, Any]] = {
    "operation_id": "list_refunds",
    "summary": "List an order's refunds",
    "description": "Newest first. Give `next` of a page as `before` for the page after it.",
    "parameters": [RefundQuerySerializer],
    "responses": responses(
        200,
        RefundPageSerializer,
        "A page of refunds.",
        problem_types.INVALID_REQUEST,
        problem_types.NOT_FOUND,
    ),
    "examples": [example("The last page", {"refunds": [_SUCCEEDED], "next": None})],
}
READ_REFUND: Final[dict[str, Any]] = {
    "operation_id": "read_refund",
    "summary": "Read a refund",
    "description": "The refund as it stands. PROCESSING until the provider has said how it ended.",
    "responses": responses(
        200, RefundSerializer, "The refund as it stands.", problem_types.NOT_FOUND
    ),
    "examples": [example("A refund that succeeded", _SUCCEEDED)],
}
