"""The addresses of webhook endpoints, below the API's prefix."""

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, register_converter
from django.urls.converters import UUIDConverter

from orders.api.webhooks import deliveries, views


class EventIdConverter(UUIDConverter):
    """An event's id in an address; as text, which a key's meaning is made of."""

    def to_python(self, value: str) -> str:  # type: ignore[override]
        """The id as it is."""
        return value


register_converter(EventIdConverter, "event_id")

Both = Callable[..., list[URLPattern]]


def urlpatterns(both: Both) -> list[URLPattern]:
    """Each with and without a slash at its end, which `both` sees to."""
    one: Any = "webhook-endpoints/<slug:code>"
    return [
        *both("webhook-endpoints", views.EndpointsView),
        *both(one, views.EndpointView),
        *both(f"{one}/secrets", views.SecretsView),
        *both(f"{one}/secrets/<int:secret_id>", views.SecretView),
        *both(f"{one}/test", deliveries.TestView),
        *both(f"{one}/attempts", deliveries.AttemptsView),
        *both(f"{one}/deliveries/<event_id:event_id>", deliveries.DeliveryView),
        *both(f"{one}/deliveries/<event_id:event_id>/resend", deliveries.ResendView),
    ]
