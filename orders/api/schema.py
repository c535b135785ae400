"""What the OpenAPI document says about each call, beyond what the code shows."""

from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter

from orders.api import problem_types
from orders.api.schema_parts import (
    RUNNING,
    WITH_BODY,
    WITH_KEY,
    example,
    key_parameters,
    responses,
)
from orders.api.serializers import (
    KeyQuerySerializer,
    KeySerializer,
    NewOrderSerializer,
    OrderPageSerializer,
    OrderQuerySerializer,
    OrderSerializer,
)

_ORDER: Final = {
    "order_no": "A-1001",
    "status": "WAIT_PAY",
    "amount": {"amount_minor": 1099, "currency": "USD"},
    "refunded_minor": 0,
    "expires_at": "2031-05-04T18:30:00Z",
    "payable_through": None,
    "paid_txn_no": None,
    "paid_at": None,
    "closed_at": None,
    "created_at": "2031-05-04T18:00:00.123456Z",
    "version": 0,
}
_PAID: Final = _ORDER | {
    "status": "PAID",
    "paid_txn_no": "pi_3Nv0",
    "paid_at": "2031-05-04T18:04:11Z",
    "version": 1,
}
_CLOSED: Final = _ORDER | {
    "status": "CLOSED",
    "closed_at": "2031-05-04T18:10:00Z",
    "version": 1,
}
PLACE_ORDER: Final[dict[str, Any]] = {
    "operation_id": "place_order",
    "summary": "Place an order",
    "description": "Says what you are to be paid. The key makes the call safe to repeat. So does "
    "the order number, which is yours: under a new key, the same number with the same content "
    "answers with the order as it stands; with other content it is refused. A payment that came "
    "before its order is applied at once, so a new order may already be PAID.",
    "request": NewOrderSerializer,
    "responses": RUNNING
    | responses(
        201,
        OrderSerializer,
        "The order as it stands.",
        *WITH_BODY,
        *WITH_KEY,
        problem_types.IDEMPOTENCY_KEY_MISSING,
        problem_types.ORDER_EXISTS,
    ),
    "parameters": key_parameters(201, required=True),
    "examples": [
        example(
            "An order of 10.99 USD",
            {name: _ORDER[name] for name in ("order_no", "amount", "expires_at")},
            request=True,
        ),
        example("The order waits for its payment", _ORDER),
    ],
}
LIST_ORDERS: Final[dict[str, Any]] = {
    "operation_id": "list_orders",
    "summary": "List orders",
    "description": "Your orders, newest first, in pages. Give `next` of a page as `cursor` for "
    "the page after it, with the same `status` and `created_after`. Orders that are placed "
    "meanwhile shift nothing.",
    "parameters": [OrderQuerySerializer],
    "responses": responses(
        200, OrderPageSerializer, "A page of orders.", problem_types.INVALID_REQUEST
    ),
    "examples": [example("The last page", {"orders": [_PAID], "next": None})],
}
READ_ORDER: Final[dict[str, Any]] = {
    "operation_id": "read_order",
    "summary": "Read an order",
    "description": "The order as it stands. An order of another merchant does not exist for you.",
    "responses": responses(
        200, OrderSerializer, "The order as it stands.", problem_types.NOT_FOUND
    ),
    "examples": [example("A paid order", _PAID)],
}
CLOSE_ORDER: Final[dict[str, Any]] = {
    "operation_id": "close_order",
    "summary": "Close an order",
    "description": "Ends an order that nobody has paid; a payment that comes later is kept and "
    "shown to a person. Closing a closed order changes nothing and answers the same. The "
    "request has no body.",
    "request": None,
    "parameters": key_parameters(200, required=False),
    "responses": RUNNING
    | responses(
        200,
        OrderSerializer,
        "The closed order.",
        *WITH_KEY,
        problem_types.NOT_FOUND,
        problem_types.ORDER_NOT_CLOSABLE,
    ),
    "examples": [example("The closed order", _CLOSED)],
}
READ_KEY: Final[dict[str, Any]] = {
    "operation_id": "read_idempotency_key",
    "summary": "Read what became of an Idempotency-Key",
    "description": "For whoever was answered 202. A key that is not known, or whose request left "
    "no trace, is 404: repeat the request.",
    "parameters": [
        KeyQuerySerializer,
        OpenApiParameter("Retry-After", int, OpenApiParameter.HEADER, response=[202]),
    ],
    "responses": RUNNING
    | responses(
        200,
        KeySerializer,
        "What became of it.",
        problem_types.INVALID_REQUEST,
        problem_types.NOT_FOUND,
    ),
    "examples": [
        example(
            "An order was placed",
            {
                "key": "7c9e6679",
                "operation": "place_order",
                "status": "SUCCEEDED",
                "created_at": "2031-05-04T18:00:00.120001Z",
                "finished_at": "2031-05-04T18:00:00.125410Z",
                "retry_count": 0,
                "answer": {"status": 201, "body": _ORDER},
            },
        )
    ],
}
