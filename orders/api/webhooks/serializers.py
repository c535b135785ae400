"""What the calls about webhook endpoints take and give."""

from datetime import timedelta
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from orders.api.fields import PatternField, WholeNumberField
from orders.api.serializers import StrictSerializer
from outbox.models import Destination, DestinationState, EndpointSecret
from outbox.webhooks.endpoints import TYPE_PATTERN, TYPES_MAX
from outbox.webhooks.saving import check_url
from outbox.webhooks.secrets import OVERLAP, OVERLAP_MAX, in_force
from outbox.webhooks.target import URL_LENGTH_MAX, BadTarget

_TYPES_HELP = (
    "Which events to send: names (`order.paid`) or beginnings of names (`order.*`). Empty for "
    "`order.*`, `payment.*` and `refund.*`."
)


class UrlField(serializers.CharField):
    """An address that events may be sent to."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            max_length=URL_LENGTH_MAX,
            trim_whitespace=False,
            help_text="An https address on the public internet. Redirects are not followed.",
            **options,
        )

    def to_internal_value(self, data: Any) -> str:
        """The address as it is; asks the network where its name leads."""
        if not isinstance(data, str):
            raise serializers.ValidationError("This must be a JSON string.", code="type")
        url = super().to_internal_value(data)
        try:
            check_url(url)
        except BadTarget as error:
            raise serializers.ValidationError(f"Not acceptable: {error}.") from error
        return url


class _Types(serializers.ListField):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            child=PatternField(TYPE_PATTERN, mismatch="This must be a type: order.paid, order.*"),
            max_length=TYPES_MAX,
            help_text=_TYPES_HELP,
            **options,
        )


class NewEndpointSerializer(StrictSerializer):
    """An endpoint of yours."""

    url = UrlField()
    event_types = _Types(required=False, default=list)


class ChangedEndpointSerializer(StrictSerializer):
    """What shall be different; what is left out stays."""

    url = UrlField(required=False)
    event_types = _Types(required=False)
    state = serializers.ChoiceField(
        [DestinationState.ACTIVE.value, DestinationState.PAUSED.value],
        required=False,
        help_text="PAUSED keeps events until it is ACTIVE again.",
    )


class HeldSecretSerializer(serializers.ModelSerializer[EndpointSecret]):
    """A secret that signs, without the secret."""

    class Meta:
        model = EndpointSecret
        fields = ("id", "created_at", "retires_at")
        read_only_fields = fields


class EndpointSerializer(serializers.ModelSerializer[Destination]):
    """An endpoint as it stands; `rested_by` says who let it rest: ENDPOINT if it answered 410."""

    id = serializers.CharField(source="code")
    url = serializers.CharField(source="config.url")
    failing_since = serializers.DateTimeField(source="endpoint.failing_since", allow_null=True)
    resting_until = serializers.DateTimeField(source="endpoint.open_until", allow_null=True)
    secrets = serializers.SerializerMethodField()

    class Meta:
        model = Destination
        fields = (
            *("id", "url", "event_types", "state", "reason", "rested_by"),
            *("failing_since", "resting_until", "secrets", "created_at"),
        )
        read_only_fields = fields

    @extend_schema_field(HeldSecretSerializer(many=True))
    def get_secrets(self, destination: Destination) -> Any:
        """Those that sign now, the newest first."""
        return HeldSecretSerializer(in_force(destination.pk), many=True).data


class EndpointsSerializer(serializers.Serializer[Any]):
    """All endpoints, oldest first."""

    endpoints = EndpointSerializer(many=True)


class RotationSerializer(StrictSerializer):
    """How the secrets that there are shall end."""

    overlap_seconds = WholeNumberField(
        required=False,
        default=int(OVERLAP.total_seconds()),
        min_value=0,
        max_value=int(OVERLAP_MAX.total_seconds()),
        help_text="How long the secrets that there are go on signing beside the new one.",
    )

    def validate_overlap_seconds(self, value: int) -> timedelta:
        """As a span of time."""
        return timedelta(seconds=value)


class SecretSerializer(serializers.Serializer[Any]):
    """A new secret; it is shown only now."""

    secret = serializers.CharField()
