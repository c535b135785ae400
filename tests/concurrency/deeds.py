"""What racers do, as calls that another process can be handed."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from orders import closing, expiry
from orders import place as placing
from orders.models import Merchant
from orders.money import Money
from payments import parked, sweep
from payments.callback import Reading
from payments.models import ProviderAccount
from tests.payments.telling import NOW, tell

GRACE = timedelta(minutes=15)


def deliver(account: ProviderAccount, *readings: Reading, now: datetime = NOW) -> list[str]:
    """The outcomes of one delivery, as `tests.invariants.outcomes` counts them."""
    return [f"{v.outcome} {v.reason}".strip() for v in tell(account, *readings, now=now)]


def place(merchant: Merchant, order_no: str, amount_minor: int = 1099) -> str:
    """Place an order; the status that its merchant is answered."""
    placed = placing.place(
        merchant=merchant,
        order_no=order_no,
        money=Money(amount_minor, "USD"),
        expires_at=None,
        payable_through="",
        now=NOW,
        on_placed=parked.apply_to,
    )
    return placed.order.status


def close(merchant: Merchant, order_no: str) -> str:
    """Close an order; the status that its merchant is answered."""
    try:
        return closing.close(merchant=merchant, order_no=order_no, now=NOW).status
    except closing.NotClosable as refusal:
        return refusal.order.status


def expire() -> int:
    """How many orders were closed because their time has passed."""
    return expiry.expire_due(now=NOW)


def sweep_parked(now: datetime = NOW) -> tuple[int, int]:
    """How many parked payments were applied, and how many became questions."""
    swept = sweep.sweep(now=now, grace=GRACE)
    return swept.applied, swept.conflicts


def without_number_locks(call: Callable[[], Any]) -> Any:
    """The call, in a world where the lock of an order number locks nothing."""

    def unlock(execute: Callable[..., Any], sql: str, parameters: Any, *rest: Any) -> Any:
        if "pg_advisory_xact_lock" in sql:
            sql, parameters = "SELECT 1", None
        return execute(sql, parameters, *rest)

    with connection.execute_wrapper(unlock):
        return call()
