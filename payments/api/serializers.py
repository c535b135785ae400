"""What the calls about refunds take and give."""

from typing import Any

from rest_framework import serializers

from orders.api.fields import PatternField
from orders.api.serializers import LIMIT_DEFAULT, LIMIT_MAX, AmountSerializer, StrictSerializer
from orders.models import ORDER_NO_PATTERN
from payments.models import REASON_LENGTH_MAX, Refund


class NewRefundSerializer(StrictSerializer):
    """A refund of a payment, once."""

    refund_no = PatternField(
        ORDER_NO_PATTERN,
        mismatch="This must be 1 to 64 characters of A-Z a-z 0-9 _ . : -",
        help_text="Your number of the refund; unique among your refunds. Some providers take "
        "fewer characters: WeChat Pay no point and no colon.",
    )
    amount = AmountSerializer(
        required=False,
        allow_null=True,
        default=None,
        help_text="Null for all that is left of the payment.",
    )
    reason = PatternField(
        rf"[ -~]{{0,{REASON_LENGTH_MAX}}}",
        mismatch=f"This must be at most {REASON_LENGTH_MAX} printable ASCII characters.",
        required=False,
        allow_blank=True,
        default="",
        help_text="Why; the provider may show it to the payer. No personal data.",
    )
    payment = PatternField(
        "[!-~]{1,128}",
        mismatch="This must be a provider's transaction number.",
        required=False,
        allow_null=True,
        default=None,
        help_text="The payment to give back: a second or a late one. Null for the one that paid.",
    )


class RefundSerializer(serializers.ModelSerializer[Refund]):
    """A refund as it stands."""

    order_no = serializers.CharField()
    amount = AmountSerializer(source="money")
    payment = serializers.CharField(source="payment.txn_no")
    provider_refund_no = serializers.SerializerMethodField()

    class Meta:
        model = Refund
        fields = (
            *("refund_no", "order_no", "payment", "status", "amount", "reason"),
            *("provider_refund_no", "requested_at", "finished_at", "version"),
        )
        read_only_fields = fields

    def get_provider_refund_no(self, refund: Refund) -> str | None:
        """The provider's number of the refund, once it is known."""
        return refund.provider_refund_no or None


class RefundPageSerializer(serializers.Serializer[Any]):
    """Refunds from the newest on; `next` asks for those before them, and is null at the end."""

    refunds = RefundSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class RefundQuerySerializer(StrictSerializer):
    """Which refunds of an order to list."""

    limit = serializers.IntegerField(
        min_value=1, max_value=LIMIT_MAX, default=LIMIT_DEFAULT, help_text="Refunds in a page."
    )
    before = PatternField(
        ORDER_NO_PATTERN,
        mismatch="This must be a refund number.",
        required=False,
        default=None,
        help_text="`next` of the page before.",
    )
