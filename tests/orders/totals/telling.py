"""Events of orders, and what they come to if one simply adds them up."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from random import Random

from django.db import transaction

from orders import events
from orders.lifecycle import Refunded
from orders.models import DailyTotal, OrderStatus
from orders.money import Money
from outbox.consumers.port import HeardEvent
from outbox.models import Event

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
#: Paid, refunded, how many paid; by day, merchant and currency.
Totals = dict[tuple[date, str, str], tuple[int, int, int]]


def seeded(seed: int) -> Random:
    """Chance that can be repeated."""
    return Random(seed)  # noqa: S311 - no secret


def paid(
    order_no: str,
    amount_minor: int = 1000,
    *,
    merchant: str = "acme",
    currency: str = "EUR",
    at: datetime = NOON,
) -> None:
    with transaction.atomic():
        events.tell(
            OrderStatus.PAID,
            merchant_code=merchant,
            order_no=order_no,
            money=Money(amount_minor, currency),
            version=1,
            at=at,
            now=at + timedelta(seconds=1),
            txn_no="pi_1",
        )


def refunded(
    order_no: str,
    seq: int,
    refunded_minor: int,
    *,
    of: int = 1000,
    merchant: str = "acme",
    currency: str = "EUR",
    at: datetime = NOON,
) -> None:
    moved = Refunded(
        order_no=order_no,
        status=OrderStatus.PAID,
        money=Money(of, currency),
        refunded_minor=refunded_minor,
        paid_txn_no="pi_1",
        paid_at=NOON,
        version=seq,
    )
    with transaction.atomic():
        events.tell_refunded(moved, merchant_code=merchant, at=at, now=at + timedelta(seconds=1))


def some_orders(chance: Random, orders: int, *, prefix: str = "O") -> None:
    """Orders of two merchants that are paid and refunded on different days, some back and forth."""
    for number in range(orders):
        merchant, currency = chance.choice(("acme", "zeta")), chance.choice(("EUR", "JPY"))
        at = NOON + timedelta(days=chance.randrange(4))
        paid(f"{prefix}-{number}", merchant=merchant, currency=currency, at=at)
        amounts = chance.sample(range(1, 1001), chance.randrange(4))
        for seq, amount in enumerate(amounts, start=2):
            # A refund may be dated before the one that we heard of earlier.
            late = at + timedelta(days=chance.randrange(4))
            refunded(
                f"{prefix}-{number}", seq, amount, merchant=merchant, currency=currency, at=late
            )


def heard() -> list[HeardEvent]:
    """All events of orders, as a consumer gets them."""
    return [
        HeardEvent(id=str(event.id), type=event.type, data=event.payload)
        for event in Event.objects.order_by("aggregate_id", "seq")
    ]


def kept() -> Totals:
    """What the projection says."""
    return {
        (row.day, row.merchant, row.currency): (
            row.paid_minor,
            row.refunded_minor,
            row.paid_count,
        )
        for row in DailyTotal.objects.all()
        if (row.paid_minor, row.refunded_minor, row.paid_count) != (0, 0, 0)
    }


def added_up(told: Iterable[HeardEvent], *, since: date = date.min) -> Totals:
    """What the events come to: written without the code that is tested."""
    sums: dict[tuple[date, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    by_order: dict[tuple[str, str], list[HeardEvent]] = defaultdict(list)
    for event in told:
        by_order[event.data["merchant"], event.data["order_no"]].append(event)
    for (merchant, _), of_order in by_order.items():
        refunded_before = 0
        for event in sorted(of_order, key=lambda event: int(event.data["version"])):
            data = event.data
            currency = data["amount"]["currency"]
            if event.type == "order.paid":
                at = datetime.fromisoformat(data["paid_at"]).astimezone(UTC).date()
                sums[at, merchant, currency][0] += data["amount"]["amount_minor"]
                sums[at, merchant, currency][2] += 1
            if event.type == "order.refunded":
                at = datetime.fromisoformat(data["refunded_at"]).astimezone(UTC).date()
                sums[at, merchant, currency][1] += data["refunded_minor"] - refunded_before
                refunded_before = data["refunded_minor"]
    return {
        key: (values[0], values[1], values[2])
        for key, values in sums.items()
        if key[0] >= since and values != [0, 0, 0]
    }
