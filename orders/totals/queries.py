"""What the days came to, for a chart."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.db.models import Sum

from orders.models import DailyTotal


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """One day (UTC) in one currency, in its minor units.

    `refunded_minor` is negative where more came back from failed refunds than was refunded.
    """

    day: date
    paid_minor: int = 0
    refunded_minor: int = 0
    paid_count: int = 0


def daily_totals(
    *, first: date, last: date, merchant: str | None = None
) -> Mapping[str, list[Day]]:
    """Each day from first to last, by currency: of one merchant (its code), or of all together.

    Days on which nothing happened are there too. A currency that did not occur is not.
    """
    found = DailyTotal.objects.filter(day__range=(first, last))
    if merchant is not None:
        found = found.filter(merchant=merchant)
    known: dict[str, dict[date, Day]] = defaultdict(dict)
    for row in found.values("currency", "day").annotate(
        paid=Sum("paid_minor"), refunded=Sum("refunded_minor"), count=Sum("paid_count")
    ):
        known[row["currency"]][row["day"]] = Day(
            day=row["day"],
            paid_minor=int(row["paid"]),
            refunded_minor=int(row["refunded"]),
            paid_count=int(row["count"]),
        )
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return {
        currency: [of_day.get(day, Day(day=day)) for day in days]
        for currency, of_day in sorted(known.items())
    }
