"""Liveness without the database, readiness with it; both answer whatever Host is asked for."""

from collections.abc import Callable

import structlog
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from config import preflight

log = structlog.get_logger(__name__)


class HealthMiddleware:
    """Answer `/healthz` and `/readyz` before any other rule can get in the way.

    Not ready (503) means: the database is away, or may forget what it confirms. A broker
    that is down does not make the service unready: callbacks are stored, events wait.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer one request."""
        match request.path:
            case "/healthz":
                return JsonResponse({"status": "alive"})
            case "/readyz":
                return _ready()
            case _:
                return self.get_response(request)


def _ready() -> HttpResponse:
    try:
        problems = _durability_problems()
    except Error as error:
        log.warning("not ready", error=type(error).__name__)
        connection.close()
        return JsonResponse({"status": "database unavailable"}, status=503)
    if problems:
        log.error("not ready", problems=problems)
        return JsonResponse({"status": "database not durable"}, status=503)
    return JsonResponse({"status": "ready"})


def _durability_problems() -> list[str]:
    had_connection = connection.connection is not None
    try:
        return preflight.durability_problems()
    except Error:
        if not had_connection:
            raise
        # A restarted server leaves a dead connection in each thread: that is not its state now.
        connection.close()
        return preflight.durability_problems()
