"""The merchants' calls about webhook endpoints: each makes one call of the outbox."""

from typing import Any

from django.db import transaction
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from orders.api import problem_types
from orders.api.authentication import merchant_of
from orders.api.idempotency_key import Wanted
from orders.api.idempotent import idempotent
from orders.api.problems import Problem
from orders.api.views import ApiView, valid
from orders.api.webhooks import schema
from orders.api.webhooks.serializers import (
    ChangedEndpointSerializer,
    EndpointSerializer,
    NewEndpointSerializer,
    RotationSerializer,
)
from outbox.models import Destination, DestinationState
from outbox.webhooks import endpoints, secrets


class EndpointsView(ApiView):
    """All endpoints of a merchant."""

    @extend_schema(**schema.ADD_ENDPOINT)
    @idempotent(
        operation="add_webhook_endpoint", path="/v1/webhook-endpoints", shape=NewEndpointSerializer
    )
    def post(self, request: Request, wanted: Wanted) -> Response:
        """Add an endpoint."""
        try:
            added = endpoints.add(tenant=merchant_of(request).code, **wanted)
        except endpoints.TooManyEndpoints as error:
            raise Problem(problem_types.TOO_MANY_ENDPOINTS) from error
        return Response(_shown(added), status=201)

    @extend_schema(**schema.LIST_ENDPOINTS)
    def get(self, request: Request) -> Response:
        """List endpoints."""
        found = endpoints.of_tenant(merchant_of(request).code)
        return Response({"endpoints": [_shown(each) for each in found]})


class EndpointView(ApiView):
    """One endpoint."""

    http_method_names = ("get", "head", "patch", "delete")

    @extend_schema(**schema.READ_ENDPOINT)
    def get(self, request: Request, code: str) -> Response:
        """Read an endpoint."""
        return Response(_shown(endpoint_of(request, code)))

    @extend_schema(**schema.CHANGE_ENDPOINT)
    def patch(self, request: Request, code: str) -> Response:
        """Change an endpoint."""
        wanted = valid(ChangedEndpointSerializer(data=request.data))
        with transaction.atomic(durable=True):
            endpoint = endpoint_of(request, code)
            state = wanted.pop("state", None)
            endpoints.change(endpoint, **wanted)
            try:
                if state == DestinationState.ACTIVE:
                    endpoints.resume(endpoint)
                elif state == DestinationState.PAUSED:
                    endpoints.pause(endpoint, "its merchant paused it")
            except endpoints.RestedByOperator as error:
                raise Problem(problem_types.RESTED_BY_OPERATOR) from error
            return Response(_shown(endpoint_of(request, code)))

    @extend_schema(**schema.REMOVE_ENDPOINT)
    def delete(self, request: Request, code: str) -> Response:
        """Remove an endpoint."""
        with transaction.atomic(durable=True):
            endpoints.remove(endpoint_of(request, code))
        return Response(status=204)


class SecretsView(ApiView):
    """The secrets of one endpoint."""

    http_method_names = ("post",)

    # Without an Idempotency-Key: what a key remembers is stored, and a secret is shown once.
    @extend_schema(**schema.ADD_SECRET)
    def post(self, request: Request, code: str) -> Response:
        """Make a new secret."""
        wanted = valid(RotationSerializer(data=request.data))
        with transaction.atomic(durable=True):
            try:
                secret = secrets.rotate(
                    endpoint_of(request, code), overlap=wanted["overlap_seconds"]
                )
            except secrets.TooManySecrets as error:
                raise Problem(problem_types.TOO_MANY_SECRETS) from error
        return Response({"secret": secret}, status=201, headers={"Cache-Control": "no-store"})


class SecretView(ApiView):
    """One secret."""

    http_method_names = ("delete",)

    @extend_schema(**schema.RETIRE_SECRET)
    def delete(self, request: Request, code: str, secret_id: int) -> Response:
        """Retire a secret."""
        with transaction.atomic(durable=True):
            try:
                secrets.retire(endpoint_of(request, code), secret_id)
            except secrets.NoSuchSecret as error:
                raise Http404 from error
            except secrets.OnlySecret as error:
                raise Problem(problem_types.SECRET_NEEDED) from error
        return Response(status=204)


def endpoint_of(request: Request, code: str) -> Destination:
    """Raises Http404: an endpoint of another merchant does not exist for this one."""
    found = endpoints.of_tenant(merchant_of(request).code).filter(code=code).first()
    if found is None:
        raise Http404
    return found


def _shown(endpoint: Destination) -> Any:
    return EndpointSerializer(endpoint).data
