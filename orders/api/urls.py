"""The addresses of the API, each with and without a slash at the end: it never redirects."""

from typing import Any

from django.urls import URLPattern, path, re_path, register_converter
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.views import APIView

from idempotency.keys import IDEM_KEY_PATTERN
from orders.api.views import (
    CloseOrderView,
    IdempotencyKeyView,
    NothingHereView,
    OrdersView,
    OrderView,
)
from orders.api.webhooks.urls import urlpatterns as webhook_urls
from orders.models import ORDER_NO_PATTERN
from orders.place import OnPlaced


class OrderNoConverter:
    """An order number in an address; what cannot be one is an address that leads nowhere."""

    regex = ORDER_NO_PATTERN

    def to_python(self, value: str) -> str:
        """The number as it is."""
        return value

    def to_url(self, value: str) -> str:
        """The number as it is: none of its characters needs escaping."""
        return value


class IdempotencyKeyConverter(OrderNoConverter):
    """A client's key in an address."""

    regex = IDEM_KEY_PATTERN


register_converter(OrderNoConverter, "order_no")
register_converter(IdempotencyKeyConverter, "idempotency_key")


def urlpatterns(on_placed: OnPlaced) -> list[URLPattern]:
    """The API below its prefix, with what shall happen in the transaction of a new order."""
    return [
        *both("orders", OrdersView, on_placed=on_placed),
        *both("orders/<order_no:order_no>", OrderView),
        *both("orders/<order_no:order_no>/close", CloseOrderView),
        *both("idempotency/<idempotency_key:key>", IdempotencyKeyView, name="idempotency_key"),
        *webhook_urls(both),
        *both("schema", SpectacularAPIView, name="schema"),
        *both("docs", SpectacularSwaggerSplitView, name="docs"),
        re_path("", NothingHereView.as_view()),
    ]


def both(
    route: str, view: type[APIView], *, name: str | None = None, **options: Any
) -> list[URLPattern]:
    """The address with and without a slash at its end."""
    return [
        path(route, view.as_view(**options), name=name),
        # The same call again would be a second operation in the OpenAPI document.
        path(f"{route}/", view.as_view(**options, schema=None)),
    ]
