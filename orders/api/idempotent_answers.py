"""How each outcome of an intent is answered, and what of an answer is kept."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from django.http import Http404, HttpResponse, JsonResponse
from django.urls import reverse
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from idempotency.claims import Mismatch, Replay, Running
from idempotency.keys import Scope
from idempotency.leased import NotNow, Outcome
from idempotency.lifecycle import Result
from idempotency.models import Record, RecordStatus
from idempotency.one_transaction import Executed
from orders.api import problem_types
from orders.api.problems import MEDIA_TYPE, Problem, exception_handler, respond

REPLAYED_HEADER: Final = "Idempotent-Replayed"
_POLL_SECONDS_MAX: Final = 5
_PERSON_SECONDS: Final = 300
_RETRY_SECONDS: Final = 5


def result_of(response: Response, *, resource_id: str = "") -> Result:
    """The answer as it is sent now, and with each replay."""
    return Result(response.status_code, JSONRenderer().render(response.data), resource_id)


def refusal_of(error: Exception) -> Result | None:
    """The final answer to an error that is the client's, or None: then nothing is decided."""
    if not isinstance(error, Problem | ValidationError | Http404):
        return None
    answer = exception_handler(error, {})
    final = 400 <= answer.status_code < 500 and answer.status_code != 429  # noqa: PLR2004
    return Result(answer.status_code, answer.content) if final else None


def answer_to(
    scope: Scope, key: str, outcome: Outcome, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """The answer; `headers` go with a first execution."""
    match outcome:
        case Executed(_, result):
            return _as_sent(result, headers or {})
        case Replay(_, result):
            return _as_sent(result, {REPLAYED_HEADER: "true"})
        case Mismatch():
            return respond(
                problem_types.IDEMPOTENCY_KEY_REUSED,
                detail="Its first request had another meaning.",
            )
        case NotNow():
            return respond(problem_types.NOT_NOW, headers={"Retry-After": str(_RETRY_SECONDS)})
        case Running():
            return _still_running(scope, key, outcome)


def standing_answer(scope: Scope, key: str, found: Record | Running) -> HttpResponse:
    """What became of a key, for somebody who asks only that."""
    if isinstance(found, Running):
        return _still_running(scope, key, found)
    if found.status == RecordStatus.PROCESSING:
        handed_over = found.handed_over_at is not None
        return _still_running(scope, key, Running(handed_over=handed_over))
    final = found.result_code is not None
    document = _document(scope, key, found.status) | {
        "created_at": _moment(found.created_at),
        "finished_at": _moment(found.finished_at),
        "retry_count": found.retry_count,
        "answer": {"status": found.result_code, "body": _body(found)} if final else None,
    }
    return JsonResponse(document)


def _as_sent(result: Result, headers: Mapping[str, str]) -> HttpResponse:
    media_type = MEDIA_TYPE if result.code >= 400 else "application/json"  # noqa: PLR2004
    # Of DRF's unrendered answer only what the method set is of use: it has a media type of its own.
    return HttpResponse(
        result.body, status=result.code, headers=dict(headers) | {"Content-Type": media_type}
    )


def _still_running(scope: Scope, key: str, running: Running) -> HttpResponse:
    wait = _PERSON_SECONDS
    if not running.handed_over:
        left = 0.0 if running.lease_left is None else running.lease_left.total_seconds()
        wait = min(max(1, math.ceil(left)), _POLL_SECONDS_MAX)
    location = f"{reverse('idempotency_key', args=[key])}?operation={scope.operation}"
    return JsonResponse(
        _document(scope, key, RecordStatus.PROCESSING),
        status=202,
        headers={"Retry-After": str(wait), "Location": location},
    )


def _document(scope: Scope, key: str, status: str) -> dict[str, Any]:
    return {"key": key, "operation": scope.operation, "status": status}


def _body(record: Record) -> Any:
    body = bytes(record.result_body or b"")
    return json.loads(body) if body else None


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")
