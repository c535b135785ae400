"""The address that providers call: limits, signature, one transaction, the provider's own reply."""

import hmac
import re
import secrets
from http import HTTPStatus
from typing import Any, Final

import httpx2
import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.request import UnreadablePostError
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from payments.accounts import Endpoint, find_endpoint
from payments.deliver import deliver, log_failure
from payments.providers import registry
from payments.providers.port import Acknowledgement, Reply, SignedRequest

log = structlog.get_logger(__name__)

#: A batch of 250 events with their metadata does not fit in a quarter of this.
BODY_LENGTH_MAX: Final = 1024 * 1024
RETRY_AFTER_SECONDS: Final = "5"
UNKNOWN: Final = Acknowledgement(status=404, body=b"No such address.\n")
UNAVAILABLE: Final = Acknowledgement(status=503, body=b"Not stored; send it again.\n")
_LENGTH: Final = re.compile(r"[0-9]{1,12}", re.ASCII)
_DECOY_SECRET: Final = secrets.token_bytes(32)


@method_decorator(csrf_exempt, name="dispatch")
class CallbackView(View):
    """One provider account's endpoint.

    2xx if and only if every callback of the request is durably recorded. There is no session,
    no cookie and no parser here: `request.body` is the evidence.
    """

    #: Fetches certificates; None is one of their own for each.
    certificate_client: httpx2.Client | None = None
    http_method_names = ["post", "get", "head"]  # noqa: RUF012 - as the base class declares it

    def get(self, request: HttpRequest, provider: str, account: str) -> HttpResponse:
        """Answer a probe by which the provider verifies an address; else 405."""
        try:
            endpoint = _endpoint(provider, account)
        except (OperationalError, InterfaceError) as error:
            log_failure(error)
            return _unavailable(provider)
        answer = endpoint and endpoint.provider.probe(request.GET.dict(), endpoint.account)
        return _response(answer) if answer else self.http_method_not_allowed(request)

    def http_method_not_allowed(self, *_args: Any, **_kwargs: Any) -> HttpResponse:
        """405: callbacks are posted; that a provider may probe is nobody else's business."""
        return HttpResponseNotAllowed(["POST"])

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
            reply = deliver(
                _signed(request, body),
                endpoint,
                now=timezone.now(),
                client=self.certificate_client,
            )
            return _response(endpoint.provider.acknowledge(reply))
        except Exception as error:  # noqa: BLE001 - whatever failed, it was not stored
            log_failure(error)
            return _unavailable(provider)


def _signed(request: HttpRequest, body: bytes) -> SignedRequest:
    return SignedRequest(
        headers=tuple((name.lower(), value) for name, value in request.headers.items()),
        body=body,
        url=f"{settings.PUBLIC_URL}{request.path}",
        source=request.META.get("REMOTE_ADDR", ""),
    )


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


def _unavailable(provider_name: str) -> HttpResponse:
    """Ask for a repeat in the provider's own way, though we know no more than its name."""
    provider = registry.find(provider_name)
    return _response(provider.acknowledge(Reply.UNAVAILABLE) if provider else UNAVAILABLE)


def _response(acknowledgement: Acknowledgement) -> HttpResponse:
    response = HttpResponse(
        acknowledgement.body, acknowledgement.content_type, acknowledgement.status
    )
    if acknowledgement.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        response["Retry-After"] = RETRY_AFTER_SECONDS
    return response
