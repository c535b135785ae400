"""What the OpenAPI document says about the calls of deliveries to webhook endpoints."""

from typing import Any, Final

from orders.api import problem_types
from orders.api.schema_parts import RUNNING, WITH_KEY, example, key_parameters, responses
from orders.api.webhooks.deliveries_serializers import (
    AttemptPageSerializer,
    AttemptQuerySerializer,
    AttemptSerializer,
    DeliverySerializer,
)

_ATTEMPT: Final = {
    "id": "0b7b6bb5-1d1c-4b3e-8f0c-6a1f5f6f9a11",
    "event_id": "3f0c2f5e-7f4a-4f49-9a42-2f6f0d1c6b7a",
    "event_type": "order.paid",
    "asked_by": "",
    "asked_at": None,
    "at": "2031-05-04T18:04:12.010101Z",
    "milliseconds": 84,
    "status": 200,
    "reply": "ok",
    "error": "",
}
_ASKED: Final = _ATTEMPT | {
    "asked_by": "API key 1f0c2b3a4d5e6f70",
    "asked_at": "2031-05-04T19:00:00.000001Z",
    "at": None,
    "milliseconds": None,
    "status": None,
    "reply": "",
}

SEND_TEST: Final[dict[str, Any]] = {
    "operation_id": "test_webhook_endpoint",
    "summary": "Send a test message",
    "description": "Asks for one attempt with a message of the type `webhook.test`, whatever the "
    "endpoint's state; `list_webhook_attempts` tells what came of it. The request has no body.",
    "request": None,
    "parameters": key_parameters(201, required=True),
    "responses": RUNNING
    | responses(
        201,
        AttemptSerializer,
        "The attempt, which is made within seconds.",
        *WITH_KEY,
        problem_types.IDEMPOTENCY_KEY_MISSING,
        problem_types.NOT_FOUND,
    ),
    "examples": [
        example("It is asked for", _ASKED | {"event_id": None, "event_type": "webhook.test"})
    ],
}
LIST_ATTEMPTS: Final[dict[str, Any]] = {
    "operation_id": "list_webhook_attempts",
    "summary": "List the attempts at an endpoint",
    "description": "Newest first, with what the endpoint answered. Give `next` of a page as "
    "`before` for the page after it. They are kept as long as their deliveries.",
    "parameters": [AttemptQuerySerializer],
    "responses": responses(
        200,
        AttemptPageSerializer,
        "A page of attempts.",
        problem_types.INVALID_REQUEST,
        problem_types.NOT_FOUND,
    ),
    "examples": [example("The last page", {"attempts": [_ATTEMPT], "next": None})],
}
READ_DELIVERY: Final[dict[str, Any]] = {
    "operation_id": "read_webhook_delivery",
    "summary": "Read a delivery",
    "description": "An event on its way to the endpoint, with all attempts. DEAD is one that was "
    "given up; `resend_webhook` sends it on its way again.",
    "responses": responses(200, DeliverySerializer, "The delivery.", problem_types.NOT_FOUND),
    "examples": [
        example(
            "It is delivered",
            {
                "event_id": _ATTEMPT["event_id"],
                "event_type": "order.paid",
                "data": {"order_no": "A-1001", "status": "PAID"},
                "state": "PUBLISHED",
                "created_at": "2031-05-04T18:04:11.900000Z",
                "next_attempt_at": None,
                "delivered_at": "2031-05-04T18:04:12.100000Z",
                "attempts": [_ATTEMPT],
            },
        )
    ],
}
RESEND: Final[dict[str, Any]] = {
    "operation_id": "resend_webhook",
    "summary": "Send an event again",
    "description": "Asks for one more attempt. The event keeps its id, so a receiver that has it "
    "knows. One that was delivered is sent once more; one that waits or was given up goes out as "
    "soon as the events before it are through. The request has no body.",
    "request": None,
    "parameters": key_parameters(201, required=True),
    "responses": RUNNING
    | responses(
        201,
        AttemptSerializer,
        "The attempt that was asked for.",
        *WITH_KEY,
        problem_types.IDEMPOTENCY_KEY_MISSING,
        problem_types.NOT_FOUND,
    ),
    "examples": [example("It is asked for", _ASKED)],
}
