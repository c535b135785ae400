"""Tell what became of an order: the one place that names its aggregate and builds the payload."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Final, TypedDict

from orders.lifecycle import Refunded
from orders.models import OrderStatus
from orders.money import Money
from outbox.event_types import EventType, Keyword
from outbox.events import emit

AGGREGATE_TYPE: Final = "order"

Minor = Annotated[int, Keyword("minimum", 0), "In minor units of the currency: cents, fen, yen."]
Moment = Annotated[str, Keyword("format", "date-time"), "RFC 3339, in UTC."]
MerchantCode = Annotated[str, "The code of the merchant whose event it is."]
Version = Annotated[
    int, Keyword("minimum", 1), "The aggregate's version after this; also `sequence`."
]


class Amount(TypedDict):
    """Money as every event tells it."""

    amount_minor: Minor
    currency: Annotated[str, Keyword("pattern", "^[A-Z]{3}$"), "ISO 4217."]


class OrderPayload(TypedDict):
    """An order after a move. Every event has all the names, so a reader needs no cases."""

    order_no: str
    merchant: MerchantCode
    status: OrderStatus
    amount: Annotated[Amount, "What the order asks for."]
    version: Version
    paid_txn_no: Annotated[str | None, "The provider's number of the payment that paid it."]
    paid_at: Annotated[Moment | None, "When it was paid, by the provider."]
    closed_at: Moment | None


class OrderRefundedPayload(OrderPayload):
    """An order of which more, or after a late failure less, is refunded."""

    refunded_minor: Annotated[Minor, "All that is refunded of it, not the change."]
    refunded_at: Moment


ORDER_PAID: Final = EventType(
    name="order.paid",
    aggregate_type=AGGREGATE_TYPE,
    payload=OrderPayload,
    when="an order became PAID",
)
ORDER_CLOSED: Final = EventType(
    name="order.closed",
    aggregate_type=AGGREGATE_TYPE,
    payload=OrderPayload,
    when="the merchant closed an order, or it expired",
)
ORDER_REFUNDED: Final = EventType(
    name="order.refunded",
    aggregate_type=AGGREGATE_TYPE,
    payload=OrderRefundedPayload,
    when="what is refunded of an order has changed",
)
EVENT_TYPES: Final = (ORDER_PAID, ORDER_CLOSED, ORDER_REFUNDED)
_TOLD: Final[Mapping[OrderStatus, EventType]] = {
    OrderStatus.PAID: ORDER_PAID,
    OrderStatus.CLOSED: ORDER_CLOSED,
}


def tell(
    status: OrderStatus,
    *,
    merchant_code: str,
    order_no: str,
    money: Money,
    version: int,
    at: datetime,
    now: datetime,
    txn_no: str = "",
) -> None:
    """Write `order.paid` or `order.closed` beside the move to that status, in its transaction.

    `version` is the order's version after the move, `at` is when the move happened in the
    world, `now` is when we learned it.
    """
    payload = OrderPayload(
        order_no=order_no,
        merchant=merchant_code,
        status=status,
        amount=amount(money),
        version=version,
        paid_txn_no=txn_no or None,
        paid_at=_moment(at) if status is OrderStatus.PAID else None,
        closed_at=_moment(at) if status is OrderStatus.CLOSED else None,
    )
    emit(
        # A merchant's code has no slash, so no two orders share a name.
        aggregate_id=f"{merchant_code}/{order_no}",
        seq=version,
        payload=payload,
        at=now,
        tenant=merchant_code,
        **_TOLD[status].names,
    )


def tell_refunded(moved: Refunded, *, merchant_code: str, at: datetime, now: datetime) -> None:
    """Write `order.refunded`: the refunded amount has changed, at `at` in the world.

    It tells the whole amount, not the change; after a refund that failed late it is smaller.
    """
    payload = OrderRefundedPayload(
        order_no=moved.order_no,
        merchant=merchant_code,
        status=moved.status,
        amount=amount(moved.money),
        version=moved.version,
        paid_txn_no=moved.paid_txn_no,
        paid_at=_moment(moved.paid_at),
        closed_at=None,
        refunded_minor=moved.refunded_minor,
        refunded_at=_moment(at),
    )
    emit(
        aggregate_id=f"{merchant_code}/{moved.order_no}",
        seq=moved.version,
        payload=payload,
        at=now,
        tenant=merchant_code,
        **ORDER_REFUNDED.names,
    )


def amount(money: Money) -> Amount:
    """Money for a payload."""
    return Amount(amount_minor=money.amount_minor, currency=money.currency)


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
