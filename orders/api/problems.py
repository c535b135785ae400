"""Every error of the API, as RFC 9457 `application/problem+json`.

`type` is the stable name of the kind of error: programs decide by it, people read `detail`, which
says what to do next. Nothing of an unexpected error leaves the service but its request id.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import structlog
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, InternalError, OperationalError
from django.http import Http404, HttpResponse, JsonResponse
from rest_framework import exceptions

from orders.api.parsing import BodyTooLarge
from orders.api.problem_types import (
    BODY_TOO_LARGE,
    FORBIDDEN,
    INVALID_REQUEST,
    METHOD_NOT_ALLOWED,
    NOT_ACCEPTABLE,
    NOT_FOUND,
    TOO_MANY_REQUESTS,
    UNAUTHENTICATED,
    UNAVAILABLE,
    UNEXPECTED,
    UNREADABLE_BODY,
    UNSUPPORTED_MEDIA_TYPE,
    Kind,
)

log = structlog.get_logger(__name__)

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 2


#: Errors that others raise. The first that fits counts.
_TABLE: Final[Sequence[tuple[type[Exception] | tuple[type[Exception], ...], Kind]]] = (
    (exceptions.ValidationError, INVALID_REQUEST),
    (exceptions.ParseError, UNREADABLE_BODY),
    ((exceptions.NotAuthenticated, exceptions.AuthenticationFailed), UNAUTHENTICATED),
    ((exceptions.PermissionDenied, PermissionDenied), FORBIDDEN),
    ((exceptions.NotFound, Http404), NOT_FOUND),
    (exceptions.MethodNotAllowed, METHOD_NOT_ALLOWED),
    (exceptions.NotAcceptable, NOT_ACCEPTABLE),
    (BodyTooLarge, BODY_TOO_LARGE),
    (exceptions.UnsupportedMediaType, UNSUPPORTED_MEDIA_TYPE),
    (exceptions.Throttled, TOO_MANY_REQUESTS),
    # A lost connection, a timeout of a lock or a statement, a deadlock; a server that became
    # read-only or is out of room. What the statement was to do, it may do later.
    ((OperationalError, InterfaceError, InternalError), UNAVAILABLE),
)


class Problem(Exception):
    """An error of a use case that the caller must hear as this kind."""

    def __init__(
        self, kind: Kind, detail: str = "", errors: Sequence[Mapping[str, str]] = ()
    ) -> None:
        super().__init__(detail or kind.title)
        self.kind = kind
        self.detail = detail
        self.errors = errors


def exception_handler(error: Exception, context: Mapping[str, Any]) -> HttpResponse:  # noqa: ARG001
    """The answer to any error of a view: this is DRF's hook."""
    if isinstance(error, Problem):
        return respond(error.kind, detail=error.detail, errors=error.errors)
    kind = next((kind for errors, kind in _TABLE if isinstance(error, errors)), UNEXPECTED)
    headers = {}
    if kind is UNAUTHENTICATED:
        headers["WWW-Authenticate"] = str(getattr(error, "auth_header", "Bearer"))
    if kind is UNAVAILABLE:
        log.warning("database_unavailable", error=type(error).__name__, sqlstate=_sqlstate(error))
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if kind is TOO_MANY_REQUESTS:
        # DRF's types do not know the attribute: seconds, or None.
        headers["Retry-After"] = str(math.ceil(getattr(error, "wait", None) or RETRY_AFTER_SECONDS))
    if kind is UNEXPECTED:
        log.error("unexpected_error", exc_info=error)
    return respond(kind, detail=_detail(error), errors=_errors(error), headers=headers)


def respond(
    kind: Kind,
    *,
    detail: str = "",
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A problem of this kind; `errors` say which parts of the request are wrong, and how."""
    body: dict[str, Any] = {
        "type": kind.type,
        "title": kind.title,
        "status": kind.status,
        "detail": f"{detail} {kind.advice}".strip(),
    }
    if errors:
        body["errors"] = list(errors)
    # Not a Response of DRF, which a view without a JSON renderer would turn into HTML.
    return JsonResponse(body, status=kind.status, headers=headers, content_type=MEDIA_TYPE)


def pointer_errors(detail: Any, pointer: str = "#") -> list[dict[str, str]]:
    """DRF's nested errors as a list, each with the JSON pointer (RFC 6901) of what it is about."""
    if isinstance(detail, Mapping):
        return [
            error
            for name, inner in detail.items()
            for error in pointer_errors(inner, _below(pointer, str(name)))
        ]
    messages = detail if isinstance(detail, list) else [detail]
    return [{"pointer": pointer, "detail": str(message)} for message in messages]


def _below(pointer: str, name: str) -> str:
    if name == "non_field_errors":
        return pointer
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"


def _errors(error: Exception) -> list[dict[str, str]]:
    return pointer_errors(error.detail) if isinstance(error, exceptions.ValidationError) else []


def _detail(error: Exception) -> str:
    if isinstance(error, exceptions.ParseError | BodyTooLarge):
        return str(error.detail)
    return ""


def _sqlstate(error: Exception) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)
