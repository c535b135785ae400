"""Ask for refunds, and look at what became of them."""

from datetime import timedelta
from typing import Any

from django.db import connection

from orders.models import Order
from orders.money import Money
from outbox.models import Event
from payments.models import Conflict, ProviderAccount, ProviderTransaction, Refund
from payments.refunds.request import Asked, request
from tests.factories import OrderFactory
from tests.payments.telling import NOW, callback, tell_one

NO_WAIT = timedelta(0)


def paid_order(
    account: ProviderAccount, order_no: str = "1001", amount_minor: int = 10_000, **told: Any
) -> Order:
    """An order that was paid by the transaction pi_<order_no>."""
    order = OrderFactory.create(
        merchant=account.merchant, order_no=order_no, amount_minor=amount_minor
    )
    usual: dict[str, Any] = {
        "order_no": order_no,
        "txn_no": f"pi_{order_no}",
        "amount_minor": amount_minor,
    }
    tell_one(account, callback(**usual | told))
    order.refresh_from_db()
    return order


def asked(
    refund_no: str, amount_minor: int | None = None, order_no: str = "1001", **values: Any
) -> Asked:
    money = None if amount_minor is None else Money(amount_minor, "USD")
    return Asked(order_no=order_no, refund_no=refund_no, money=money, **values)


def ask(
    account: ProviderAccount, refund_no: str, amount_minor: int | None = None, **values: Any
) -> Refund:
    """Ask for a refund of order 1001, unless told otherwise."""
    wish = asked(refund_no, amount_minor, **values)
    return request(merchant=account.merchant, asked=wish, now=NOW).refund


def room_of(txn_no: str = "pi_1001") -> tuple[int, int, int]:
    """Reserved, refunded, charged back."""
    row = ProviderTransaction.objects.get(kind="PAYMENT", txn_no=txn_no)
    return row.refund_reserved_minor, row.refunded_minor, row.charged_back_minor


def events_of(*aggregates: str) -> list[tuple[str, int]]:
    found = Event.objects.filter(aggregate_type__in=aggregates or ("refund",))
    return list(found.order_by("aggregate_type", "aggregate_id", "seq").values_list("type", "seq"))


def reasons() -> list[str]:
    return sorted(Conflict.objects.values_list("reason", flat=True))


def let_leases_end() -> None:
    """As if the leases had lasted their time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE payments_refund SET lease_until = clock_timestamp(),"
            " sent_at = sent_at - interval '1 hour',"
            " first_sent_at = first_sent_at - interval '1 hour' WHERE status = 'PROCESSING'"
        )


def was_sent(ago: timedelta) -> None:
    """As if they had been sent for the first time so long ago."""
    values: list[Any] = [ago]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE payments_refund SET first_sent_at = clock_timestamp() - %s", values)


def make_due() -> None:
    """As if the waits had lasted their time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE payments_refund SET due_at = clock_timestamp() WHERE status = 'REQUESTED'"
        )
