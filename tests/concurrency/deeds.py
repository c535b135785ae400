"""What racers do, as calls that another process can be handed."""

import os
import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import connection

from orders import closing, expiry
from orders import place as placing
from orders.models import Merchant
from orders.money import Money
from payments import parked, sweep
from payments.callback import Reading
from payments.models import ProviderAccount
from tests.concurrency.boundaries import at_each_boundary
from tests.payments.telling import NOW, tell

#: The name under which the database knows a process that is about to be killed.
DOOMED = "paidonce-doomed"
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


def with_deadlocks_seen_at_once(call: Callable[[], Any]) -> Any:
    """The call, on a connection that looks for a deadlock after 10 milliseconds instead of 1 s."""
    with connection.cursor() as cursor:
        cursor.execute("SET deadlock_timeout = '10ms'")
    try:
        return call()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET deadlock_timeout")


def killed_at(boundary: int, work: Callable[[], Any]) -> Callable[[], Any]:
    """The work, in a process that ends at one of its boundaries as if by a power cut."""
    return partial(_die_at, boundary, work)


def _die_at(boundary: int, work: Callable[[], Any]) -> Any:
    def die(number: int, name: str) -> None:
        if number == boundary:
            if name == "with COMMIT on its way":
                driver: Any = connection.connection
                driver.pgconn.send_query(b"COMMIT")
                driver.pgconn.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('application_name', %s, false)", [DOOMED])
    with at_each_boundary(die):
        return work()
