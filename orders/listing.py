"""List a merchant's orders, newest first, in pages that stay whole while orders are added."""

import base64
import binascii
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from orders.models import Merchant, Order, OrderStatus


class BadCursor(ValueError):
    """The cursor was not made by an earlier page."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some orders, and the cursor to those before them; None where there are none."""

    orders: list[Order]
    next: str | None


def list_orders(
    *,
    merchant: Merchant,
    limit: int,
    status: OrderStatus | None = None,
    created_after: datetime | None = None,
    cursor: str | None = None,
) -> Page:
    """The page after the one that gave the cursor, or the first.

    A page begins where the last one ended by (created_at, id), not at a count of rows: orders
    that are added meanwhile shift nothing, and none is shown twice. Raises BadCursor.
    """
    orders = Order.objects.filter(merchant=merchant).order_by("-created_at", "-pk")
    if status is not None:
        orders = orders.filter(status=status)
    if created_after is not None:
        orders = orders.filter(created_at__gt=created_after)
    if cursor is not None:
        created_at, pk = _position(cursor)
        # The first condition alone lets the index begin at the right place.
        orders = orders.filter(
            Q(created_at__lte=created_at), Q(created_at__lt=created_at) | Q(pk__lt=pk)
        )
    # One more than asked for tells whether there is a next page.
    found = list(orders[: limit + 1])
    page = found[:limit]
    return Page(page, _cursor(page[-1]) if len(found) > limit else None)


def _cursor(order: Order) -> str:
    position = f"{order.created_at.isoformat()} {order.pk}"
    return base64.urlsafe_b64encode(position.encode()).decode().rstrip("=")


def _position(cursor: str) -> tuple[datetime, int]:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        moment, _, pk = (
            base64.b64decode(padded, altchars=b"-_", validate=True).decode().partition(" ")
        )
        position = datetime.fromisoformat(moment), int(pk)
    except (ValueError, binascii.Error) as error:
        raise BadCursor(cursor) from error
    if position[0].tzinfo is None or not 0 < position[1] < 2**63:
        raise BadCursor(cursor)
    return position
