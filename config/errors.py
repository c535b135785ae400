"""Errors that no view answered: short, without a trace of the inside, in RFC 9457's form.

Django passes `exception` by name.
"""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse


def bad_request(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """400: the request itself is not acceptable; an unknown Host above all."""
    return _problem(HTTPStatus.BAD_REQUEST, "Check the Host header: see ALLOWED_HOSTS.")


def forbidden(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """403."""
    return _problem(HTTPStatus.FORBIDDEN, "You may not do this.")


def not_found(_request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """404: no such address."""
    return _problem(HTTPStatus.NOT_FOUND, "No such address; the API is described at /v1/docs.")


def server_error(_request: HttpRequest) -> HttpResponse:
    """500: a fault of ours; the log has it under the same request id."""
    return _problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "A fault of the service. Quote the X-Request-ID of this answer.",
    )


def _problem(status: HTTPStatus, detail: str) -> HttpResponse:
    body = (
        f'{{"type": "about:blank", "title": "{status.phrase}", "status": {status.value}, '
        f'"detail": "{detail}"}}'
    )
    return HttpResponse(body, "application/problem+json", status.value)
