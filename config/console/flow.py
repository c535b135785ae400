"""Whether money flows: callbacks, payments and refunds of the last hours and days, as charts."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from config.console import cells, chart
from config.console.chart import Chart, Column, Ends
from config.console.related import money
from orders.totals.queries import Day, daily_totals
from payments.figures.traffic import Moment, Step, traffic
from payments.models import Delivery

DAYS: Final = 30


def step_of(request: HttpRequest) -> Step:
    """Hours, unless the page is asked for days."""
    return Step.DAY if request.GET.get("by") == Step.DAY.word else Step.HOUR


def by_provider(step: Step, *, now: datetime) -> SafeString:
    """What came of each provider, the busiest first, and the way to the other step."""
    known = traffic(step, now=now)
    busiest = sorted(
        known.by_provider,
        key=lambda name: (-sum(moment.callbacks for moment in known.by_provider[name]), name),
    )
    charts = [
        _provider(name, known.by_provider[name], step) for name in busiest[: chart.CHARTS_MAX]
    ]
    moments = known.by_provider[busiest[0]] if busiest else []
    drawn = chart.draw(
        charts,
        Ends(_time(moments[0].at, step), _time(moments[-1].at, step)) if moments else Ends("", ""),
        others=_("Also: %(names)s.") % {"names": ", ".join(busiest[chart.CHARTS_MAX :])}
        if busiest[chart.CHARTS_MAX :]
        else "",
        nothing=_(
            "No callback came in this time. Each account's page has the address to which its "
            "provider must send them."
        ),
    )
    note = (
        _("There was so much that only what came since %(time)s is counted.")
        % {"time": cells.moment(known.whole_since)}
        if known.whole_since
        else ""
    )
    return format_html(
        '{}<p class="c-more">{} <a class="c-link" href="?by={}">{}</a></p>',
        drawn,
        note,
        Step.HOUR.word if step is Step.DAY else Step.DAY.word,
        _("Show the last 24 hours") if step is Step.DAY else _("Show the last 30 days"),
    )


def by_currency(last: date) -> SafeString:
    """Paid and refunded on each of the days up to `last`, a chart for each currency."""
    first = last - timedelta(days=DAYS - 1)
    totals = daily_totals(first=first, last=last)
    # Amounts of two currencies cannot be compared; numbers of payments can.
    busiest = sorted(totals, key=lambda name: (-sum(day.paid_count for day in totals[name]), name))
    others = ", ".join(busiest[chart.CHARTS_MAX :])
    return chart.draw(
        [_currency(name, totals[name]) for name in busiest[: chart.CHARTS_MAX]],
        Ends(f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d} UTC"),
        others=_("Also: %(names)s.") % {"names": others} if others else "",
        nothing=_(
            "Nothing was paid or refunded in these days, or the daily totals are not being "
            "counted (manage.py consume daily-totals)."
        ),
    )


def _provider(name: str, moments: Sequence[Moment], step: Step) -> Chart:
    columns = [
        Column(
            _("%(time)s: %(callbacks)d callbacks, %(paid)d payments, %(refunded)d refunds")
            % {
                "time": _time(moment.at, step),
                "callbacks": moment.callbacks,
                "paid": moment.paid,
                "refunded": moment.refunded,
            },
            {"all": moment.callbacks, "paid": moment.paid, "refunded": moment.refunded},
        )
        for moment in moments
    ]
    callbacks, paid, refunded = (
        sum(getattr(moment, what) for moment in moments)
        for what in ("callbacks", "paid", "refunded")
    )
    return Chart(
        title=name,
        link=_deliveries(name, moments[0].at, moments[-1].at + step.length),
        keys=[
            ("all", _("%(number)d callbacks") % {"number": callbacks}),
            ("paid", _("%(number)d payments") % {"number": paid}),
            ("refunded", _("%(number)d refunds") % {"number": refunded}),
        ],
        columns=columns,
        top=str(chart.highest(columns)),
        table=cells.table(
            (_("From"), _("Callbacks"), _("Payments"), _("Refunds")),
            [
                (
                    _link(name, moment, step),
                    moment.callbacks,
                    moment.paid,
                    moment.refunded,
                )
                for moment in reversed(moments)
                if moment.callbacks or moment.paid or moment.refunded
            ],
        ),
    )


def _link(provider: str, moment: Moment, step: Step) -> SafeString:
    address = _deliveries(provider, moment.at, moment.at + step.length)
    shown = _time(moment.at, step)
    return format_html('<a class="c-link" href="{}">{}</a>', address, shown)


def _deliveries(provider: str, first: datetime, end: datetime) -> str:
    """The deliveries of this time, whose filter takes both ends in."""
    last = end - timedelta(seconds=1)
    asked = {
        "account__provider": provider,
        "received_at_from_0": f"{first:%Y-%m-%d}",
        "received_at_from_1": f"{first:%H:%M:%S}",
        "received_at_to_0": f"{last:%Y-%m-%d}",
        "received_at_to_1": f"{last:%H:%M:%S}",
    }
    name = Delivery._meta.model_name  # noqa: SLF001 - Django's documented way to a model's names
    return f"{reverse(f'admin:payments_{name}_changelist')}?{urlencode(asked)}"


def _time(at: datetime, step: Step) -> str:
    return f"{at:%Y-%m-%d}" if step is Step.DAY else f"{at:%Y-%m-%d %H:%M} UTC"


def _currency(currency: str, days: Sequence[Day]) -> Chart:
    columns = [
        Column(_says(currency, day), {"paid": day.paid_minor, "refunded": day.refunded_minor})
        for day in days
    ]
    paid, refunded = (
        money(sum(getattr(day, what) for day in days), currency)
        for what in ("paid_minor", "refunded_minor")
    )
    return Chart(
        title=currency,
        link=f"{reverse('admin:orders_order_changelist')}?status__exact=PAID",
        keys=[
            ("paid", _("paid %(amount)s") % {"amount": paid}),
            ("refunded", _("refunded %(amount)s") % {"amount": refunded}),
        ],
        columns=columns,
        top=money(chart.highest(columns), currency),
        table=cells.table(
            (_("Day"), _("Payments"), _("Paid"), _("Refunded")),
            [
                (
                    f"{day.day:%Y-%m-%d}",
                    day.paid_count,
                    cells.amount(money(day.paid_minor, currency)),
                    cells.amount(money(day.refunded_minor, currency)),
                )
                for day in reversed(days)
                if day.paid_count or day.paid_minor or day.refunded_minor
            ],
        ),
    )


def _says(currency: str, day: Day) -> str:
    return _("%(day)s: %(paid)s in %(count)d payments, %(refunded)s refunded") % {
        "day": f"{day.day:%Y-%m-%d}",
        "paid": money(day.paid_minor, currency),
        "count": day.paid_count,
        "refunded": money(day.refunded_minor, currency),
    }
