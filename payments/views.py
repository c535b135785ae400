"""The address that providers call: limits, signature, one transaction, the provider's own reply."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from typing import Final

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse
from django.http.request import UnreadablePostError
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from payments.accounts import Endpoint, find_endpoint
from payments.deliveries import Intake
from payments.providers.port import Acknowledgement, Rejected, Reply, SignedRequest
from payments.receive import Verdict, receive

log = structlog.get_logger(__name__)

BODY_LENGTH_MAX: Final = 256 * 1024
RETRY_AFTER_SECONDS: Final = "5"
#: What a former primary says after a failover; Django does not count it as operational.
READ_ONLY: Final = "25006"
UNKNOWN: Final = Acknowledgement(status=404, body=b"No such address.\n")
_LENGTH: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_DECOY_SECRET: Final = secrets.token_bytes(32)


@method_decorator(csrf_exempt, name="dispatch")
class CallbackView(View):
    """One provider account's endpoint.

    2xx if and only if every callback of the request is durably recorded. There is no session,
    no cookie and no parser here: `request.body` is the evidence.
    """

    http_method_names = ["post"]  # noqa: RUF012 - as the base class declares it

    def post(self, request: HttpRequest, provider: str, account: str) -> HttpResponse:
        """Take one delivery."""
        refused = _over_limits(request)
        if refused is not None:
            return refused
        body = _whole_body(request)
        if body is None:
            return HttpResponse("The body ended early.\n", "text/plain", 400)
        try:
            endpoint = _endpoint(provider, account)
            if endpoint is None:
                # As much work as a wrong signature: addresses cannot be told apart by time.
                hmac.digest(_DECOY_SECRET, body, "sha256")
                log.info("callback to unknown address", provider=provider, account=account)
                return _response(UNKNOWN)
            return _deliver(request, body, endpoint)
        except Exception as error:  # noqa: BLE001 - whatever failed, it was not stored
            _log_failure(error)
            return HttpResponse(
                "Not stored; send it again.\n",
                "text/plain",
                503,
                headers={"Retry-After": RETRY_AFTER_SECONDS},
            )


def _deliver(request: HttpRequest, body: bytes, endpoint: Endpoint) -> HttpResponse:
    now = timezone.now()
    signed = SignedRequest(
        headers=_headers(request), body=body, url=f"{settings.PUBLIC_URL}{request.path}"
    )
    provider, account = endpoint.provider, endpoint.account
    verdict = provider.authenticate(signed, account, now=now)
    if isinstance(verdict, Rejected):
        _log_rejection(request, body, endpoint, verdict)
        return _response(provider.acknowledge(Reply.REJECTED))
    intake = Intake(endpoint=endpoint, request=signed, key_id=verdict.key_id, received_at=now)
    _log_verdicts(endpoint, receive(intake, provider.read(signed, account)))
    return _response(provider.acknowledge(Reply.ACCEPTED))


def _over_limits(request: HttpRequest) -> HttpResponse | None:
    """Refuse, before anything is read, what could not be read safely or in full."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if "HTTP_TRANSFER_ENCODING" in request.META or not _LENGTH.fullmatch(length):
        return HttpResponse("Send a Content-Length.\n", "text/plain", 411)
    if int(length) > BODY_LENGTH_MAX:
        return HttpResponse(f"At most {BODY_LENGTH_MAX} bytes.\n", "text/plain", 413)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        return HttpResponse("Send the body uncompressed.\n", "text/plain", 415)
    return None


def _whole_body(request: HttpRequest) -> bytes | None:
    """The body as announced, or None: whoever hung up would not hear the answer either."""
    try:
        body = request.body
    except UnreadablePostError:
        return None
    return body if len(body) == int(request.META["CONTENT_LENGTH"]) else None


def _endpoint(provider: str, account: str) -> Endpoint | None:
    had_connection = connection.connection is not None
    try:
        return find_endpoint(provider, account)
    except (OperationalError, InterfaceError):
        if not had_connection:
            raise
        # A restarted server leaves dead connections behind; nothing has begun, so ask anew.
        connection.close()
        return find_endpoint(provider, account)


def _headers(request: HttpRequest) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.lower(), value) for name, value in request.headers.items() if isinstance(value, str)
    )


def _response(acknowledgement: Acknowledgement) -> HttpResponse:
    return HttpResponse(acknowledgement.body, acknowledgement.content_type, acknowledgement.status)


def _log_rejection(
    request: HttpRequest, body: bytes, endpoint: Endpoint, verdict: Rejected
) -> None:
    log.warning(
        "callback refused",
        endpoint=endpoint.name,
        reason=verdict.reason,
        body_length=len(body),
        body_sha256=hashlib.sha256(body).hexdigest(),
        source=request.META.get("REMOTE_ADDR", ""),
    )


def _log_verdicts(endpoint: Endpoint, verdicts: Sequence[Verdict]) -> None:
    for verdict in verdicts:
        log.info(
            "callback",
            endpoint=endpoint.name,
            outcome=verdict.outcome,
            reason=verdict.reason,
            delivery_id=verdict.delivery_id,
            order_no=verdict.order_no,
        )


def _log_failure(error: Exception) -> None:
    """A database that is away is expected weather; anything else is a fault of ours to find."""
    read_only = getattr(error.__cause__, "sqlstate", None) == READ_ONLY
    if read_only or isinstance(error, OperationalError | InterfaceError):
        log.error("callback not stored", error=type(error).__name__, detail=str(error)[:200])
    else:
        log.error("callback not stored", error=type(error).__name__, exc_info=error)
