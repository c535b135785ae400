"""What the calls about deliveries to webhook endpoints take and give."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from orders.api.serializers import LIMIT_DEFAULT, LIMIT_MAX, StrictSerializer
from orders.asked_by import told_to_merchant
from outbox.models import Attempt, Dispatch
from outbox.webhooks.attempts import of_dispatch


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    """One attempt; `status` is null where no answer came, `at` until it is made."""

    event_id = serializers.UUIDField(source="dispatch.event_id", default=None, allow_null=True)
    event_type = serializers.CharField(source="dispatch.event.type", default="webhook.test")
    asked_by = serializers.SerializerMethodField()

    class Meta:
        model = Attempt
        fields = (
            *("id", "event_id", "event_type", "asked_by", "asked_at", "at", "milliseconds"),
            *("status", "reply", "error"),
        )
        read_only_fields = fields

    def get_asked_by(self, attempt: Attempt) -> str:
        """The merchant's own by name."""
        return told_to_merchant(attempt.asked_by)


class AttemptPageSerializer(serializers.Serializer[Any]):
    """Attempts from the newest on; `next` asks for those before them, and is null at the end."""

    attempts = AttemptSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class AttemptQuerySerializer(StrictSerializer):
    """Which attempts to list."""

    limit = serializers.IntegerField(
        min_value=1, max_value=LIMIT_MAX, default=LIMIT_DEFAULT, help_text="Attempts in a page."
    )
    before = serializers.UUIDField(
        required=False, default=None, help_text="`next` of the page before."
    )


class DeliverySerializer(serializers.ModelSerializer[Dispatch]):
    """An event on its way to an endpoint."""

    event_type = serializers.CharField(source="event.type")
    data = serializers.JSONField(source="event.payload")  # type: ignore[assignment]
    delivered_at = serializers.DateTimeField(source="published_at")
    attempts = serializers.SerializerMethodField()

    class Meta:
        model = Dispatch
        fields = (
            *("event_id", "event_type", "data", "state", "created_at", "next_attempt_at"),
            *("delivered_at", "attempts"),
        )
        read_only_fields = fields

    @extend_schema_field(AttemptSerializer(many=True))
    def get_attempts(self, dispatch: Dispatch) -> list[dict[str, Any]]:
        """Newest first."""
        return list(AttemptSerializer(of_dispatch(dispatch), many=True).data)
