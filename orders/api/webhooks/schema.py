"""What the OpenAPI document says about the calls of webhook endpoints."""

from typing import Any, Final

from orders.api import problem_types
from orders.api.schema_parts import RUNNING, WITH_BODY, WITH_KEY, example, key_parameters, responses
from orders.api.webhooks.serializers import (
    ChangedEndpointSerializer,
    EndpointSerializer,
    EndpointsSerializer,
    NewEndpointSerializer,
    RotationSerializer,
    SecretSerializer,
)

_ENDPOINT: Final = {
    "id": "we_5d41402abc4b2a76b971",
    "url": "https://shop.example.com/hooks",
    "event_types": ["order.*", "refund.succeeded"],
    "state": "ACTIVE",
    "reason": "",
    "rested_by": "",
    "failing_since": None,
    "resting_until": None,
    "secrets": [{"id": 7, "created_at": "2031-05-04T18:00:00.123456Z", "retires_at": None}],
    "created_at": "2031-05-04T17:59:00.123456Z",
}
_PAUSED: Final = {"state": "PAUSED", "reason": "its merchant paused it", "rested_by": "MERCHANT"}
_NO_CONTENT: Final = "Done; doing it again is answered 404 and changes nothing."

ADD_ENDPOINT: Final[dict[str, Any]] = {
    "operation_id": "add_webhook_endpoint",
    "summary": "Add a webhook endpoint",
    "description": "Your events from now on are sent there as signed HTTP (Standard Webhooks). "
    "They wait until the endpoint has a secret: make one with `add_webhook_secret`.",
    "request": NewEndpointSerializer,
    "parameters": key_parameters(201, required=True),
    "responses": RUNNING
    | responses(
        201,
        EndpointSerializer,
        "The endpoint.",
        *WITH_BODY,
        *WITH_KEY,
        problem_types.IDEMPOTENCY_KEY_MISSING,
        problem_types.TOO_MANY_ENDPOINTS,
    ),
    "examples": [
        example(
            "Orders, and refunds that succeeded",
            {name: _ENDPOINT[name] for name in ("url", "event_types")},
            request=True,
        ),
        example("The endpoint, which has no secret yet", _ENDPOINT | {"secrets": []}),
    ],
}
LIST_ENDPOINTS: Final[dict[str, Any]] = {
    "operation_id": "list_webhook_endpoints",
    "summary": "List webhook endpoints",
    "description": "All of yours, oldest first.",
    "responses": responses(200, EndpointsSerializer, "Your endpoints."),
    "examples": [example("One endpoint", {"endpoints": [_ENDPOINT]})],
}
READ_ENDPOINT: Final[dict[str, Any]] = {
    "operation_id": "read_webhook_endpoint",
    "summary": "Read a webhook endpoint",
    "description": "As it stands: `failing_since` and `resting_until` say whether it answers. It "
    "is DISABLED when it has answered 410; its events are kept.",
    "responses": responses(200, EndpointSerializer, "The endpoint.", problem_types.NOT_FOUND),
    "examples": [example("It works", _ENDPOINT)],
}
CHANGE_ENDPOINT: Final[dict[str, Any]] = {
    "operation_id": "change_webhook_endpoint",
    "summary": "Change, pause or resume a webhook endpoint",
    "description": "Changes what the body names. What waits goes to the new `url`; `event_types` "
    "count for events from now on. PAUSED keeps events until it is ACTIVE again. One that was let "
    "rest by whoever runs this service (`rested_by` is OPERATOR) stays so, and nothing is changed.",
    "request": ChangedEndpointSerializer,
    "responses": responses(
        200,
        EndpointSerializer,
        "The endpoint.",
        *WITH_BODY,
        problem_types.NOT_FOUND,
        problem_types.RESTED_BY_OPERATOR,
    ),
    "examples": [
        example("Pause it", {"state": "PAUSED"}, request=True),
        example("It rests", _ENDPOINT | _PAUSED),
    ],
}
REMOVE_ENDPOINT: Final[dict[str, Any]] = {
    "operation_id": "remove_webhook_endpoint",
    "summary": "Remove a webhook endpoint",
    "description": "Nothing more is sent or kept for it, and what waits for it is dropped.",
    "responses": responses(204, None, _NO_CONTENT, problem_types.NOT_FOUND),
}
ADD_SECRET: Final[dict[str, Any]] = {
    "operation_id": "add_webhook_secret",
    "summary": "Make or rotate an endpoint's secret",
    "description": "Answers with a new secret, which is never shown again. Those that there are "
    "go on signing beside it for `overlap_seconds`. It takes no Idempotency-Key, because an answer "
    "that is remembered is stored: if the answer is lost, make another.",
    "request": RotationSerializer,
    "responses": responses(
        201,
        SecretSerializer,
        "The new secret.",
        *WITH_BODY,
        problem_types.NOT_FOUND,
        problem_types.TOO_MANY_SECRETS,
    ),
    "examples": [
        example("Let the old one sign for an hour more", {"overlap_seconds": 3600}, request=True),
        example("The secret", {"secret": "whsec_bm90IGEgc2VjcmV0LCBhbiBleGFtcGxlIG9mIG9uZSE="}),
    ],
}
RETIRE_SECRET: Final[dict[str, Any]] = {
    "operation_id": "retire_webhook_secret",
    "summary": "Retire an endpoint's secret at once",
    "description": "For a secret that others know. The only one is not retired.",
    "responses": responses(
        204, None, _NO_CONTENT, problem_types.NOT_FOUND, problem_types.SECRET_NEEDED
    ),
}
