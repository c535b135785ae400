"""What became of an order's callbacks, as lines for people."""

import time
from collections import Counter
from typing import Final

from orders.models import Order
from orders.money import Money
from outbox.models import BUS, Event
from payments.models import Conflict, Delivery

_WAIT_SECONDS: Final = 5.0


def wait_until_published(merchant_code: str, order_no: str) -> None:
    """Give the relay a moment to publish what the order's callbacks caused."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < deadline:
        events = _events(merchant_code, order_no)
        if events and all(_published(event) for event in events):
            return
        time.sleep(0.05)


def lines(merchant_code: str, order_no: str) -> list[str]:
    """The order, its deliveries, its conflicts and its events."""
    order = Order.objects.get(merchant__code=merchant_code, order_no=order_no)
    outcomes = Counter(
        Delivery.objects.filter(merchant__code=merchant_code, order_no=order_no).values_list(
            "outcome", flat=True
        )
    )
    refunded = Money(order.refunded_minor, order.currency)
    back = f", of which {refunded} went back" if order.refunded_minor else ""
    said = [f"order      {order.order_no} is {order.status} ({order.money}{back})"]
    kept = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    said.append(f"deliveries {kept or 'none'}")
    for conflict in _conflicts(order):
        expected, received = (
            ", ".join(f"{name}={side.get(name)}" for name in ("amount_minor", "currency"))
            for side in (conflict.expected, conflict.received)
        )
        status = conflict.expected.get("order_status")  # of what is told of an order
        said.append(
            f"conflict   {conflict.reason}, {conflict.status}: "
            f"expected {expected}{f' ({status})' if status else ''}, received {received}"
        )
    said += [
        f"event      {event.type} #{event.seq} {_states(event)}"
        for event in _events(merchant_code, order_no)
    ]
    return said


def _conflicts(order: Order) -> list[Conflict]:
    return list(Conflict.objects.filter(order=order).order_by("id"))


def _events(merchant_code: str, order_no: str) -> list[Event]:
    conflicts = Conflict.objects.filter(order__merchant__code=merchant_code)
    ids = conflicts.filter(order__order_no=order_no).values_list("id", flat=True)
    of_order = Event.objects.filter(
        aggregate_type="order", aggregate_id=f"{merchant_code}/{order_no}"
    )
    of_conflicts = Event.objects.filter(
        aggregate_type="conflict", aggregate_id__in=[str(number) for number in ids]
    )
    events = (of_order | of_conflicts).prefetch_related("dispatches__destination")
    return list(events.order_by("created_at", "seq"))


def _published(event: Event) -> bool:
    return all(one.published_at for one in event.dispatches.all() if one.destination.code == BUS)


def _states(event: Event) -> str:
    """How far it got; with names where it goes to more than one place."""
    dispatches = sorted(event.dispatches.all(), key=lambda one: one.destination.code)
    if len(dispatches) == 1:
        return dispatches[0].state
    return ", ".join(f"{one.destination.code} {one.state}" for one in dispatches)
