"""The shapes that the API takes and gives. What they mean is decided elsewhere."""

from collections.abc import Mapping
from typing import Any, Final

from rest_framework import serializers

from idempotency.models import RecordStatus
from orders.api.fields import MomentField, PatternField, WholeNumberField
from orders.api.idempotency_key import operations
from orders.api.problem_types import KINDS
from orders.models import ENDPOINT_PATTERN, ORDER_NO_PATTERN, Order, OrderStatus
from orders.money import AMOUNT_MINOR_MAX, NotMoney, exponent_of

LIMIT_DEFAULT: Final = 50
LIMIT_MAX: Final = 200


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses members that it does not know: a misspelt name must not look accepted."""

    def to_internal_value(self, data: Any) -> Any:
        """The members by name."""
        if isinstance(data, Mapping):
            unknown = [name for name in data if name not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError(
                    {_shown(name): [f"Unknown. Known here: {known}."] for name in unknown[:10]}
                )
        return super().to_internal_value(data)


def _shown(name: str) -> str:
    """A name of the caller's making, of bounded length and fit to be written as UTF-8."""
    return name[:64].encode("ascii", "backslashreplace").decode()


class AmountSerializer(StrictSerializer):
    """An amount in minor units (cents, fen; yen have none) of an ISO 4217 currency."""

    amount_minor = WholeNumberField(min_value=1, max_value=AMOUNT_MINOR_MAX)
    currency = PatternField("[A-Z]{3}", mismatch="This must be three capital letters: USD.")

    def validate_currency(self, value: str) -> str:
        """Three letters are not a currency yet."""
        try:
            exponent_of(value)
        except NotMoney as error:
            raise serializers.ValidationError(
                "This must be an ISO 4217 code that is in use."
            ) from error
        return value


class NewOrderSerializer(StrictSerializer):
    """An order to be paid, once."""

    order_no = PatternField(
        ORDER_NO_PATTERN,
        mismatch="This must be 1 to 64 characters of A-Z a-z 0-9 _ . : -",
        help_text="Your number of the order; unique among your orders.",
    )
    amount = AmountSerializer()
    expires_at = MomentField(
        required=False,
        allow_null=True,
        default=None,
        help_text="When to close the order if nobody has paid it; must be in the future.",
    )
    payable_through = PatternField(
        ENDPOINT_PATTERN,
        mismatch="This must be a provider and an account: stripe/main.",
        required=False,
        allow_null=True,
        default=None,
        help_text="The only callback endpoint that may pay the order; null for any of yours.",
    )


class OrderSerializer(serializers.ModelSerializer[Order]):
    """An order as it stands."""

    amount = AmountSerializer(source="money")
    payable_through = serializers.SerializerMethodField()
    paid_txn_no = serializers.SerializerMethodField()

    class Meta:
        model = Order
        fields = (
            *("order_no", "status", "amount", "refunded_minor", "expires_at", "payable_through"),
            *("paid_txn_no", "paid_at", "closed_at", "created_at", "version"),
        )
        read_only_fields = fields

    def get_payable_through(self, order: Order) -> str | None:
        """Null means any account of the merchant."""
        return order.payable_through or None

    def get_paid_txn_no(self, order: Order) -> str | None:
        """The provider's number of the transaction that paid."""
        return order.paid_txn_no or None


class OrderPageSerializer(serializers.Serializer[Any]):
    """Orders from the newest on; `next` asks for those before them, and is null at the end."""

    orders = OrderSerializer(many=True)
    next = serializers.CharField(allow_null=True)


class OrderQuerySerializer(StrictSerializer):
    """Which orders to list."""

    status = serializers.ChoiceField(OrderStatus.choices, required=False)
    created_after = MomentField(required=False, help_text="Only orders created after this moment.")
    limit = serializers.IntegerField(
        min_value=1, max_value=LIMIT_MAX, default=LIMIT_DEFAULT, help_text="Orders in a page."
    )
    cursor = serializers.CharField(
        required=False, max_length=200, help_text="`next` of the page before, as it was given."
    )


class KeyQuerySerializer(StrictSerializer):
    """Which call a key was sent with."""

    operation = serializers.CharField(
        help_text="The call that the key was sent with: its `operationId`."
    )

    def validate_operation(self, value: str) -> str:
        """One that takes keys."""
        if value not in operations():
            raise serializers.ValidationError(f"Known here: {', '.join(operations())}.")
        return value


class AnswerSerializer(serializers.Serializer[Any]):
    """What the call was answered, and what each repeat of it will be answered."""

    status = serializers.IntegerField()
    body = serializers.JSONField()


class KeySerializer(serializers.Serializer[Any]):
    """What became of a key; `answer` is null while it has no final one."""

    key = serializers.CharField()
    operation = serializers.CharField()
    status = serializers.ChoiceField(RecordStatus.choices)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    retry_count = serializers.IntegerField()
    answer = AnswerSerializer(allow_null=True)


class RunningKeySerializer(serializers.Serializer[Any]):
    """The request is being carried out."""

    key = serializers.CharField()
    operation = serializers.CharField()
    status = serializers.ChoiceField([RecordStatus.PROCESSING.value])


class ErrorSerializer(serializers.Serializer[Any]):
    """One thing that is wrong, and where: a JSON pointer, or `#/<name>` of a query parameter."""

    pointer = serializers.CharField()
    detail = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """An error as RFC 9457 has it; decide by `type`."""

    type = serializers.ChoiceField([(kind.type, kind.title) for kind in KINDS])
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    errors = ErrorSerializer(many=True, required=False)  # type: ignore[assignment]
