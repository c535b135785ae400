"""Place an order: the same number with the same content is the same order, always."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection, transaction

from orders.models import Merchant, Order, OrderStatus
from orders.money import Money
from orders.numbers import lock_order_number

#: What else happens in the transaction that creates an order: money may wait for it already.
OnPlaced = Callable[[Order, datetime], None]

# SQL, because the ORM can ignore a conflict but then cannot say whether it inserted.
_INSERT_SQL: Final = """
    INSERT INTO orders_order (merchant_id, order_no, amount_minor, currency, status,
                              payable_through, paid_txn_no, expires_at, refunded_minor, version,
                              created_at)
    VALUES (%s, %s, %s, %s, %s, %s, '', %s, 0, 0, %s)
    ON CONFLICT (merchant_id, order_no) DO NOTHING
"""


class OrderExists(Exception):
    """The number belongs to an order with other content; `differing` names what differs."""

    def __init__(self, order_no: str, differing: tuple[str, ...]) -> None:
        super().__init__(f"order {order_no} exists with other {', '.join(differing)}")
        self.differing = differing


class ExpiresInThePast(ValueError):
    """A new order would be expired from its first moment on."""


class NoSuchEndpoint(ValueError):
    """The order could be paid nowhere: its merchant has no such callback endpoint."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The order as it stands now, and whether it was placed by an earlier call."""

    order: Order
    repeated: bool


@transaction.atomic(durable=True)
def place(
    *,
    merchant: Merchant,
    order_no: str,
    money: Money,
    expires_at: datetime | None,
    payable_through: str,
    now: datetime,
    on_placed: OnPlaced,
) -> Placed:
    """Create the order, or find the one that an earlier call with the same content created.

    `payable_through` names one callback endpoint, or is empty for any of the merchant's.
    `on_placed` runs after the insert, in the same transaction, and not for a repeat; it may
    move the order, and refuse an endpoint.

    Raises OrderExists if the number is taken by other content, ExpiresInThePast, and
    NoSuchEndpoint.
    """
    return place_here(
        merchant=merchant,
        order_no=order_no,
        money=money,
        expires_at=expires_at,
        payable_through=payable_through,
        now=now,
        on_placed=on_placed,
    )


def place_here(
    *,
    merchant: Merchant,
    order_no: str,
    money: Money,
    expires_at: datetime | None,
    payable_through: str,
    now: datetime,
    on_placed: OnPlaced,
) -> Placed:
    """As `place`, in the caller's transaction, which he rolls back if it raises."""
    lock_order_number(merchant.pk, order_no)
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_SQL,
            [
                *(merchant.pk, order_no, money.amount_minor, money.currency),
                *(OrderStatus.WAIT_PAY, payable_through, expires_at, now),
            ],
        )
        repeated = cursor.rowcount == 0

    order = _read(merchant, order_no)
    if repeated:
        differing = _differing(order, money, expires_at, payable_through)
        if differing:
            raise OrderExists(order_no, differing)
        return Placed(order, repeated=True)

    # A repeat may come after the order's time and must get the first answer: hence only here.
    if expires_at is not None and expires_at <= now:
        raise ExpiresInThePast(f"{expires_at.isoformat()} has passed")
    on_placed(order, now)
    return Placed(_read(merchant, order_no), repeated=False)


def _read(merchant: Merchant, order_no: str) -> Order:
    return Order.objects.select_related("merchant").get(merchant=merchant, order_no=order_no)


def _differing(
    order: Order, money: Money, expires_at: datetime | None, payable_through: str
) -> tuple[str, ...]:
    same = {
        "amount": order.placed_money == money,
        "expires_at": order.expires_at == expires_at,
        "payable_through": order.payable_through == payable_through,
    }
    return tuple(name for name, is_same in same.items() if not is_same)
