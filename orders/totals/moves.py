"""Read what an event says of its order's money."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from orders.models import MERCHANT_CODE_LENGTH_MAX, ORDER_NO_LENGTH_MAX, MoveKind
from outbox.consumers.port import Unreadable

#: The types that we count.
TYPES: Final = ("order.paid", "order.refunded")
_INTEGER_MAX: Final = 2**31 - 1
_BIGINT_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What one event tells: `amount_minor` is all that is paid, or all that is refunded by then."""

    merchant: str
    order_no: str
    seq: int
    kind: MoveKind
    currency: str
    day: date
    amount_minor: int


def read(type_: str, data: Mapping[str, Any]) -> Move:
    """The move that an event of one of our types tells, on its day in UTC. Raises Unreadable."""
    refunded = type_ == "order.refunded"
    amount = data.get("amount")
    if not isinstance(amount, dict):
        raise Unreadable(f"amount is {type(amount).__name__}, not an object")
    return Move(
        merchant=_text(data, "merchant", MERCHANT_CODE_LENGTH_MAX),
        order_no=_text(data, "order_no", ORDER_NO_LENGTH_MAX),
        seq=_number(data, "version", _INTEGER_MAX),
        kind=MoveKind.REFUNDED if refunded else MoveKind.PAID,
        currency=_text(amount, "currency", 3),
        day=_day(data, "refunded_at" if refunded else "paid_at"),
        amount_minor=_number(data, "refunded_minor", _BIGINT_MAX)
        if refunded
        else _number(amount, "amount_minor", _BIGINT_MAX),
    )


def _text(data: Mapping[str, Any], name: str, length_max: int) -> str:
    value = data.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= length_max or "\0" in value:
        raise Unreadable(f"{name} is not a text of 1-{length_max} characters")
    return value


def _number(data: Mapping[str, Any], name: str, largest: int) -> int:
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= largest:
        raise Unreadable(f"{name} is not a whole number from 0 to {largest}")
    return value


def _day(data: Mapping[str, Any], name: str) -> date:
    try:
        moment = datetime.fromisoformat(_text(data, name, 40))
    except ValueError as error:
        raise Unreadable(f"{name} is no time: {error}") from error
    if moment.tzinfo is None:
        raise Unreadable(f"{name} has no time zone")
    return moment.astimezone(UTC).date()
