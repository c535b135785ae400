"""The consumers of our own events that the service runs, by name."""

from collections.abc import Mapping
from typing import Final

from orders.totals import counting, moves
from outbox.consumers.port import Subscription

CONSUMERS: Final[Mapping[str, Subscription]] = {
    each.name: each
    for each in (
        Subscription(
            name="daily-totals",
            group=counting.GROUP,
            types=moves.TYPES,
            handler=counting.hear,
        ),
    )
}
