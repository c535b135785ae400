"""Tell what became of an order: the one place that names its aggregate and builds the payload."""

from datetime import UTC, datetime
from typing import Any, Final

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
    )


def _stamps(status: OrderStatus, txn_no: str, at: datetime) -> dict[str, Any]:
    """What only this move can say; every event has all the names, so a reader needs no cases."""
    moment = at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {
        "paid_txn_no": txn_no or None,
        "paid_at": moment if status is OrderStatus.PAID else None,
        "closed_at": moment if status is OrderStatus.CLOSED else None,
    }
