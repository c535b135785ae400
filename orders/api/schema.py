"""What the OpenAPI document says about each call, beyond what the code shows."""

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from idempotency.keys import IDEM_KEY_PATTERN
from orders.api import problem_types
from orders.api.idempotency_key import KEY_HEADER
from orders.api.idempotent_answers import REPLAYED_HEADER
from orders.api.problem_types import Kind
from orders.api.problems import MEDIA_TYPE
from orders.api.serializers import (
    KeyQuerySerializer,
    KeySerializer,
    NewOrderSerializer,
    OrderPageSerializer,
    OrderQuerySerializer,
    OrderSerializer,
    ProblemSerializer,
    RunningKeySerializer,
)


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How to say who asks."""

    target_class = "orders.api.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002
        """A bearer token."""
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A merchant's API key, `pk_<prefix>_<secret>`: "
            "`manage.py create_api_key <merchant>` makes one.",
        }


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
# Any call can end in one of these.
_ALWAYS: Final = (
    problem_types.UNAUTHENTICATED,
    problem_types.TOO_MANY_REQUESTS,
    problem_types.UNEXPECTED,
    problem_types.UNAVAILABLE,
)
WITH_BODY: Final = (
    problem_types.INVALID_REQUEST,
    problem_types.UNREADABLE_BODY,
    problem_types.LENGTH_REQUIRED,
    problem_types.BODY_TOO_LARGE,
    problem_types.UNSUPPORTED_MEDIA_TYPE,
)


def example(name: str, value: Any, *, request: bool = False) -> OpenApiExample:
    """An example of an answer, or of a request."""
    return OpenApiExample(name, value=value, request_only=request, response_only=not request)


def responses(status: int, serializer: Any, description: str, *kinds: Kind) -> dict[Any, Any]:
    """The good answer, and the problems, one entry a status with all of its types."""
    by_status: dict[int, list[Kind]] = {}
    for kind in (*kinds, *_ALWAYS):
        by_status.setdefault(kind.status, []).append(kind)
    problems = {
        (code, MEDIA_TYPE): OpenApiResponse(
            ProblemSerializer,
            description=" ".join(f"`{kind.type}`: {kind.title}. {kind.advice}" for kind in found),
        )
        for code, found in sorted(by_status.items())
    }
    return {status: OpenApiResponse(serializer, description=description), **problems}


WITH_KEY: Final = (
    problem_types.IDEMPOTENCY_KEY_MALFORMED,
    problem_types.IDEMPOTENCY_KEY_REUSED,
    problem_types.NOT_NOW,
)
RUNNING: Final = {
    202: OpenApiResponse(
        RunningKeySerializer,
        description="The first request with this key is still being carried out. Repeat it after "
        "`Retry-After` seconds, or ask at `Location`.",
    )
}


def key_parameters(status: int, *, required: bool) -> list[OpenApiParameter]:
    """The headers of a call that takes an Idempotency-Key, and of its answer."""
    return [
        OpenApiParameter(
            KEY_HEADER,
            {"type": "string", "pattern": f"^{IDEM_KEY_PATTERN}$"},
            OpenApiParameter.HEADER,
            required=required,
            description="A value of yours for what you want done once. The same key with the same "
            "request gets the first answer again, byte for byte; with another request it is "
            "refused. No personal data, please.",
        ),
        OpenApiParameter(
            REPLAYED_HEADER,
            str,
            OpenApiParameter.HEADER,
            response=[status],
            description="`true` if an earlier call did it; else absent.",
        ),
        OpenApiParameter("Retry-After", int, OpenApiParameter.HEADER, response=[202]),
        OpenApiParameter("Location", str, OpenApiParameter.HEADER, response=[202]),
    ]


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
