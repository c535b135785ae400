"""What the last days came to, as bars: drawn here, so that no script of the page's has to."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from config.console.related import money
from orders.totals.queries import Day, daily_totals

DAYS: Final = 30
#: Currencies with a chart of their own; more are named.
_CHARTS_MAX: Final = 6
_HEIGHT: Final = 100.0
#: A day is this wide, in the units of the drawing, and has two bars.
_DAY_WIDTH: Final = 10


class _Bar(NamedTuple):
    """A rectangle, in the units of the drawing."""

    kind: str
    x: float
    y: float
    height: float


class _Column(NamedTuple):
    """One day: its bars, and what is said when it is pointed at."""

    x: int
    says: str
    bars: Sequence[_Bar]


def of_days(last: date) -> SafeString:
    """Paid and refunded on each of the days up to `last`, a chart for each currency."""
    first = last - timedelta(days=DAYS - 1)
    totals = daily_totals(first=first, last=last)
    # Amounts of two currencies cannot be compared; numbers of payments can.
    busiest = sorted(totals, key=lambda name: (-sum(day.paid_count for day in totals[name]), name))
    context = {
        "charts": [_chart(name, totals[name]) for name in busiest[:_CHARTS_MAX]],
        "others": ", ".join(busiest[_CHARTS_MAX:]),
        "first": first,
        "last": last,
        "width": DAYS * _DAY_WIDTH,
        "day_width": _DAY_WIDTH,
        "height": _HEIGHT,
    }
    return render_to_string("console/chart.html", context)


def _chart(currency: str, days: Sequence[Day]) -> dict[str, object]:
    amounts = [amount for day in days for amount in (day.paid_minor, day.refunded_minor)]
    top, bottom = max(0, *amounts), min(0, *amounts)
    scale = _HEIGHT / ((top - bottom) or 1)
    columns = [
        _Column(
            x=number * _DAY_WIDTH,
            says=_says(currency, day),
            bars=[
                _bar("paid", number * _DAY_WIDTH + 1, day.paid_minor, top, scale),
                _bar("refunded", number * _DAY_WIDTH + 5, day.refunded_minor, top, scale),
            ],
        )
        for number, day in enumerate(days)
    ]
    return {
        "currency": currency,
        "paid": money(sum(day.paid_minor for day in days), currency),
        "refunded": money(sum(day.refunded_minor for day in days), currency),
        "top": money(top, currency),
        "zero": f"{top * scale:.2f}",
        "columns": columns,
    }


def _bar(kind: str, x: float, amount: int, top: int, scale: float) -> _Bar:
    # One that is not nought is seen, however small beside the others.
    height = max(abs(amount) * scale, 0.75) if amount else 0.0
    return _Bar(kind, x, top * scale - (height if amount > 0 else 0), height)


def _says(currency: str, day: Day) -> str:
    paid, refunded = money(day.paid_minor, currency), money(day.refunded_minor, currency)
    return ngettext(
        "%(day)s: %(paid)s in %(number)s payment, %(refunded)s refunded",
        "%(day)s: %(paid)s in %(number)s payments, %(refunded)s refunded",
        day.paid_count,
    ) % {
        "day": f"{day.day:%Y-%m-%d}",
        "paid": paid,
        "number": day.paid_count,
        "refunded": refunded,
    }
