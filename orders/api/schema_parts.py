"""What the OpenAPI document says about every call: who asks, keys, problems."""

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse

from idempotency.keys import IDEM_KEY_PATTERN
from orders.api import problem_types
from orders.api.idempotency_key import KEY_HEADER
from orders.api.idempotent_answers import REPLAYED_HEADER
from orders.api.problem_types import Kind
from orders.api.problems import MEDIA_TYPE
from orders.api.serializers import ProblemSerializer, RunningKeySerializer


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
