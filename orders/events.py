"""Tell what became of an order: the one place that names its aggregate and builds the payload."""

from datetime import UTC, datetime
from typing import Any, Final

from orders.lifecycle import Refunded
from orders.models import OrderStatus
from orders.money import Money
from outbox.events import emit

AGGREGATE_TYPE: Final = "order"


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
    """Write `order.paid`, `order.closed` .. beside the move to that status, in its transaction.

    `version` is the order's version after the move, `at` is when the move happened in the
    world, `now` is when we learned it.
    """
    emit(
        aggregate_type=AGGREGATE_TYPE,
        # A merchant's code has no slash, so no two orders share a name.
        aggregate_id=f"{merchant_code}/{order_no}",
        seq=version,
        type=f"order.{status.lower()}",
        payload={
            "order_no": order_no,
            "merchant": merchant_code,
            "status": status,
            "amount": {"amount_minor": money.amount_minor, "currency": money.currency},
            "version": version,
            **_stamps(status, txn_no, at),
        },
        at=now,
        tenant=merchant_code,
    )


def tell_refunded(moved: Refunded, *, merchant_code: str, at: datetime, now: datetime) -> None:
    """Write `order.refunded`: the refunded amount has changed, at `at` in the world.

    It tells the whole amount, not the change; after a refund that failed late it is smaller.
    """
    emit(
        aggregate_type=AGGREGATE_TYPE,
        aggregate_id=f"{merchant_code}/{moved.order_no}",
        seq=moved.version,
        type="order.refunded",
        payload={
            "order_no": moved.order_no,
            "merchant": merchant_code,
            "status": moved.status,
            "amount": {
                "amount_minor": moved.money.amount_minor,
                "currency": moved.money.currency,
            },
            "version": moved.version,
            "paid_txn_no": moved.paid_txn_no,
            "paid_at": _moment(moved.paid_at),
            "closed_at": None,
            "refunded_minor": moved.refunded_minor,
            "refunded_at": _moment(at),
        },
        at=now,
        tenant=merchant_code,
    )


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _stamps(status: OrderStatus, txn_no: str, at: datetime) -> dict[str, Any]:
    """What only this move can say; every event has all the names, so a reader needs no cases."""
    moment = _moment(at)
    return {
        "paid_txn_no": txn_no or None,
        "paid_at": moment if status is OrderStatus.PAID else None,
        "closed_at": moment if status is OrderStatus.CLOSED else None,
    }
