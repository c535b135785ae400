"""One log line a request, and an id that ties together all lines of it."""

import re
import time
import uuid
from collections.abc import Callable
from typing import Final

import structlog
from django.http import HttpRequest, HttpResponse

log = structlog.get_logger(__name__)

#: What we accept as somebody else's request id; anything else is replaced, not repeated.
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9_.:-]{8,64}", re.ASCII)


class RequestLogMiddleware:
    """Bind a request id, log the request's end, and return the id in `X-Request-ID`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer one request."""
        started = time.monotonic()
        given = request.headers.get("X-Request-ID", "")
        request_id = given if REQUEST_ID.fullmatch(given) else uuid.uuid4().hex
        structlog.contextvars.bind_contextvars(request_id=request_id)
        try:
            response = self.get_response(request)
            response["X-Request-ID"] = request_id
            log.info(
                "request",
                method=request.method,
                path=request.path,
                status=response.status_code,
                duration_ms=round((time.monotonic() - started) * 1000, 1),
            )
        finally:
            structlog.contextvars.clear_contextvars()
        return response
