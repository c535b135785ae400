"""The merchants' calls: each reads its request, makes one call of the domain, and answers."""

from typing import Any, NoReturn

from django.http import Http404, HttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer, ValidationError
from rest_framework.views import APIView

from idempotency import claims
from orders import closing, listing
from orders.api import problem_types, schema
from orders.api.authentication import merchant_of
from orders.api.idempotency_key import Wanted, scope_of
from orders.api.idempotent import idempotent
from orders.api.idempotent_answers import REPLAYED_HEADER, standing_answer
from orders.api.negotiation import AlwaysJSON
from orders.api.problems import Problem
from orders.api.serializers import (
    KeyQuerySerializer,
    NewOrderSerializer,
    OrderQuerySerializer,
    OrderSerializer,
)
from orders.models import Order
from orders.money import Money
from orders.place import ExpiresInThePast, NoSuchEndpoint, OnPlaced, OrderExists, place_here


class ApiView(APIView):
    """What all calls share; who may call, how errors look and so on is in the settings."""

    content_negotiation_class = AlwaysJSON
    # No OPTIONS: the OpenAPI document describes the calls, and browsers have no business here.
    http_method_names: tuple[str, ...] = ("get", "head", "post")

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Who asks, first; then whether there is a body that can be read."""
        super().initial(request, *args, **kwargs)
        # Without a length DRF takes the body for empty and would name every member as missing.
        if "Transfer-Encoding" in request.headers and "Content-Length" not in request.headers:
            raise Problem(problem_types.LENGTH_REQUIRED)


class OrdersView(ApiView):
    """All orders of a merchant."""

    #: `orders/api/urls.py` asks for it, because money may wait for an order.
    on_placed: OnPlaced | None = None

    @extend_schema(**schema.PLACE_ORDER)
    @idempotent(operation="place_order", path="/v1/orders", shape=NewOrderSerializer)
    def post(self, request: Request, wanted: Wanted) -> Response:
        """Place an order."""
        assert self.on_placed is not None  # noqa: S101 - a fault of the URL configuration
        order_no = wanted["order_no"]
        try:
            placed = place_here(
                merchant=merchant_of(request),
                order_no=order_no,
                money=Money(**wanted["amount"]),
                expires_at=wanted["expires_at"],
                payable_through=wanted["payable_through"] or "",
                now=timezone.now(),
                on_placed=self.on_placed,
            )
        except OrderExists as error:
            raise _order_exists(order_no, error) from error
        except ExpiresInThePast as error:
            raise ValidationError({"expires_at": ["This must be in the future."]}) from error
        except NoSuchEndpoint as error:
            raise ValidationError({"payable_through": [str(error)]}) from error
        headers = {REPLAYED_HEADER: "true"} if placed.repeated else None
        return Response(OrderSerializer(placed.order).data, status=201, headers=headers)

    @extend_schema(**schema.LIST_ORDERS)
    def get(self, request: Request) -> Response:
        """List orders."""
        asked = valid(OrderQuerySerializer(data=once_each(request)))
        try:
            page = listing.list_orders(merchant=merchant_of(request), **asked)
        except listing.BadCursor as error:
            raise ValidationError(
                {"cursor": ["Give `next` of an earlier page as it was, or leave this out."]}
            ) from error
        return Response({"orders": OrderSerializer(page.orders, many=True).data, "next": page.next})


class OrderView(ApiView):
    """One order."""

    @extend_schema(**schema.READ_ORDER)
    def get(self, request: Request, order_no: str) -> Response:
        """Read an order."""
        order = Order.objects.filter(merchant=merchant_of(request), order_no=order_no).first()
        if order is None:
            raise Http404
        return Response(OrderSerializer(order).data)


class CloseOrderView(ApiView):
    """The closing of one order."""

    @extend_schema(**schema.CLOSE_ORDER)
    @idempotent(operation="close_order", path="/v1/orders/{order_no}/close", key_required=False)
    def post(self, request: Request, _wanted: Wanted, order_no: str) -> Response:
        """Close an order."""
        try:
            order = closing.close_here(
                merchant=merchant_of(request), order_no=order_no, now=timezone.now()
            )
        except closing.NoSuchOrder as error:
            raise Http404 from error
        except closing.NotClosable as error:
            detail = f"Order {order_no} is {error.order.status}."
            raise Problem(problem_types.ORDER_NOT_CLOSABLE, detail) from error
        return Response(OrderSerializer(order).data)


class IdempotencyKeyView(ApiView):
    """What became of one key."""

    @extend_schema(**schema.READ_KEY)
    def get(self, request: Request, key: str) -> HttpResponse:
        """Read what became of a key."""
        asked = valid(KeyQuerySerializer(data=once_each(request)))
        scope = scope_of(merchant_of(request), asked["operation"])
        found = claims.find(scope, key)
        if found is None:
            raise Http404
        return standing_answer(scope, key, found)


class NothingHereView(ApiView):
    """Every other address below the API's."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    schema = None

    def initial(self, *_: Any, **__: Any) -> NoReturn:
        """Whatever the method is."""
        raise Http404


def valid(serializer: Serializer[Any]) -> dict[str, Any]:
    """What was asked for. Raises ValidationError."""
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def once_each(request: Request) -> dict[str, str]:
    """The query's parameters; of one that is given twice nobody knows which is meant."""
    repeated = [name for name, values in request.query_params.lists() if len(values) > 1]
    if repeated:
        raise ValidationError({name[:64]: ["Give this once."] for name in repeated[:10]})
    return {name: str(value) for name, value in request.query_params.items()}


def _order_exists(order_no: str, error: OrderExists) -> Problem:
    return Problem(
        problem_types.ORDER_EXISTS,
        f"Order {order_no} exists with other content.",
        [
            {"pointer": f"#/{name}", "detail": "The existing order has another value."}
            for name in error.differing
        ],
    )
