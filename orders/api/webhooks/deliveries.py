"""The merchants' calls about what was sent to their endpoints, and what shall be sent again."""

from uuid import UUID

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from orders.api.idempotency_key import Wanted
from orders.api.idempotent import idempotent
from orders.api.views import ApiView, once_each, valid
from orders.api.webhooks import deliveries_schema as schema
from orders.api.webhooks.deliveries_serializers import (
    AttemptQuerySerializer,
    AttemptSerializer,
    DeliverySerializer,
)
from orders.api.webhooks.views import endpoint_of
from orders.asked_by import WITH_KEY
from outbox.models import Dispatch
from outbox.webhooks import attempts, reading


class TestView(ApiView):
    """A test of one endpoint."""

    http_method_names = ("post",)

    @extend_schema(**schema.SEND_TEST)
    @idempotent(operation="test_webhook_endpoint", path="/v1/webhook-endpoints/{code}/test")
    def post(self, request: Request, _wanted: Wanted, code: str) -> Response:
        """Send a test message."""
        asked = attempts.send_test(endpoint_of(request, code), by=_by(request))
        return Response(AttemptSerializer(asked).data, status=201)


class AttemptsView(ApiView):
    """The attempts at one endpoint."""

    @extend_schema(**schema.LIST_ATTEMPTS)
    def get(self, request: Request, code: str) -> Response:
        """List attempts."""
        asked = valid(AttemptQuerySerializer(data=once_each(request)))
        page, following = reading.attempts(endpoint_of(request, code), **asked)
        return Response(
            {
                "attempts": AttemptSerializer(page, many=True).data,
                "next": str(following) if following else None,
            }
        )


class DeliveryView(ApiView):
    """One event on its way to one endpoint."""

    @extend_schema(**schema.READ_DELIVERY)
    def get(self, request: Request, code: str, event_id: str) -> Response:
        """Read a delivery."""
        return Response(DeliverySerializer(_delivery(request, code, event_id)).data)


class ResendView(ApiView):
    """One more attempt."""

    http_method_names = ("post",)

    @extend_schema(**schema.RESEND)
    @idempotent(
        operation="resend_webhook",
        path="/v1/webhook-endpoints/{code}/deliveries/{event_id}/resend",
    )
    def post(self, request: Request, _wanted: Wanted, code: str, event_id: str) -> Response:
        """Send an event again."""
        try:
            asked = attempts.resend(_delivery(request, code, event_id), by=_by(request))
        except attempts.Forgotten as error:
            raise Http404 from error
        return Response(AttemptSerializer(asked).data, status=201)


def _delivery(request: Request, code: str, event_id: str) -> Dispatch:
    found = reading.delivery(endpoint_of(request, code), UUID(event_id))
    if found is None:
        raise Http404
    return found


def _by(request: Request) -> str:
    """Who asks for an attempt: the key's beginning, which the console shows too."""
    return f"{WITH_KEY}{request.auth}"
