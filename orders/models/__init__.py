"""What is owed: merchants, their API keys, their orders, and what the days came to."""

from orders.models.members import Membership
from orders.models.orders import (
    ENDPOINT_LENGTH_MAX,
    ENDPOINT_PATTERN,
    LABEL_LENGTH_MAX,
    MERCHANT_CODE_LENGTH_MAX,
    ORDER_NO_LENGTH_MAX,
    ORDER_NO_PATTERN,
    PAID_STATUSES,
    ApiKey,
    Merchant,
    Order,
    OrderStatus,
    Usage,
)
from orders.models.totals import CountedMove, DailyTotal, MoveKind

__all__ = [
    "ENDPOINT_LENGTH_MAX",
    "ENDPOINT_PATTERN",
    "LABEL_LENGTH_MAX",
    "MERCHANT_CODE_LENGTH_MAX",
    "ORDER_NO_LENGTH_MAX",
    "ORDER_NO_PATTERN",
    "PAID_STATUSES",
    "ApiKey",
    "CountedMove",
    "DailyTotal",
    "Membership",
    "Merchant",
    "MoveKind",
    "Order",
    "OrderStatus",
    "Usage",
]
