"""The first page draws what the days came to and says who is behind, at the same cost always."""

import re
from datetime import date, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.console import flow
from orders.models import DailyTotal
from outbox import backlogs
from outbox.models import BUS, Destination
from tests import factories
from tests.console.staff import staff
from tests.factories import CREATED_AT

TODAY = date(2031, 5, 4)


def total(currency: str, *, days_ago: int = 0, paid: int = 0, refunded: int = 0) -> None:
    DailyTotal.objects.create(
        day=TODAY - timedelta(days=days_ago),
        merchant="shop",
        currency=currency,
        paid_minor=paid,
        refunded_minor=refunded,
        paid_count=2,
    )


def bars(drawn: str, kind: str) -> list[tuple[float, float, float]]:
    """Of each bar x, y and height."""
    found = re.findall(
        rf'<rect class="c-{kind}" x="(\S+)" y="(\S+)" width="4" height="(\S+)"', drawn
    )
    return [(float(x), float(y), float(height)) for x, y, height in found]


def test_each_currency_has_its_chart_with_the_days_in_their_places(db: None) -> None:
    total("USD", days_ago=1, paid=10_000, refunded=2_500)
    total("USD", days_ago=29, paid=5_000)
    total("USD", days_ago=30, paid=999)  # the day before the first
    total("JPY", paid=70)

    drawn = str(flow.by_currency(TODAY))

    dollars, yen = drawn.split("<figure")[1:]
    assert "paid 150.00 USD" in dollars
    assert "refunded 25.00 USD" in dollars
    assert "2031-05-03: 100.00 USD in 2 payments, 25.00 USD refunded" in dollars
    assert bars(dollars, "paid") == [(1, 50, 50), (281, 0, 100)]
    assert bars(dollars, "refunded") == [(285, 75, 25)]
    assert "paid 70 JPY" in yen
    assert bars(yen, "paid") == [(291, 0, 100)]


def test_what_came_back_from_refunds_hangs_below_the_line(db: None) -> None:
    total("USD", paid=300, refunded=-100)

    drawn = str(flow.by_currency(TODAY))

    assert bars(drawn, "paid") == [(291, 0, 75)]
    assert bars(drawn, "refunded") == [(295, 75, 25)]


def test_days_on_which_only_nothing_remained_are_drawn_too(db: None) -> None:
    total("USD")

    assert bars(str(flow.by_currency(TODAY)), "paid") == []


def test_more_currencies_than_there_is_room_for_are_named(db: None) -> None:
    for currency in ("AUD", "CAD", "CHF", "DKK", "EUR", "GBP", "JPY", "DEM"):
        total(currency, paid=1)

    drawn = str(flow.by_currency(TODAY))

    assert drawn.count("<figure") == 6
    assert "Also: GBP, JPY." in drawn
    assert "1 minor units of DEM" in drawn


def test_where_nothing_is_counted_the_page_says_what_counts(superuser: Client) -> None:
    assert "manage.py consume daily-totals" in superuser.get("/admin/").content.decode()


def test_a_page_with_charts_has_no_script_and_no_style_in_them(superuser: Client) -> None:
    total("USD", paid=1)

    drawn = str(flow.by_currency(TODAY))

    assert re.search(r"<script|<style|style=|\son\w+=|javascript:", drawn) is None


def test_each_sees_the_parts_that_he_may(db: None) -> None:
    def titles(*rights: str) -> list[str]:
        shown = staff(*rights, name="-".join(rights)).get("/admin/").context
        return [part.title for part in (*shown["figures"], *shown["sections"])]

    assert titles("view_order") == ["The last 30 days, by currency"]
    assert titles("view_conflict") == ["Conflicts to decide", "Conflicts to decide, by reason"]
    assert titles("view_conflict", "approve_conflict")[:2] == [
        "Conflicts to decide",
        "For you to approve",
    ]
    assert titles("view_confirmation") == ["Payments held"]
    assert titles("view_refund") == ["Refunds in doubt"]
    assert titles("view_provideraccount") == ["Accounts"]
    assert titles("view_delivery") == ["The last 24 hours, by provider", "Latest deliveries"]
    assert titles("view_dispatch") == ["Dispatches waiting", "Dispatches dead"]
    assert titles("view_dispatch", "view_destination") == [
        "Dispatches waiting",
        "Dispatches dead",
        "Destinations that are behind",
    ]


def test_destinations_that_are_behind_lead_to_what_they_miss(superuser: Client) -> None:
    quiet = factories.DestinationFactory.create(code="quiet")
    behind = factories.DestinationFactory.create(
        code="behind", state="PAUSED", reason="<b>disk</b>"
    )
    for _ in range(2):
        factories.DispatchFactory.create(destination=behind)
    lost = factories.DispatchFactory.create(
        state="DEAD", dead_at=CREATED_AT, last_error="<i>unroutable</i>"
    )

    page = superuser.get("/admin/").content.decode()

    link = "/admin/outbox/dispatch/?destination__id__exact={}&amp;state={}"
    assert f'href="{link.format(behind.pk, "WAITING")}">2</a>' in page
    assert f'href="{link.format(lost.destination_id, "DEAD")}">1</a>' in page
    assert f"/admin/outbox/destination/{quiet.pk}/" not in page
    assert "&lt;b&gt;disk&lt;/b&gt;" in page
    assert "&lt;i&gt;unroutable&lt;/i&gt;" in page


def test_the_first_page_asks_the_same_however_much_there_is(superuser: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert superuser.get("/admin/").status_code == 200
        return len(asked)

    superuser.get("/admin/jsi18n/")  # a session's first page asks more
    factories.DispatchFactory.create()
    few = queries()
    for number in range(30):
        destination = factories.DestinationFactory.create()
        factories.DispatchFactory.create(destination=destination)
        factories.DispatchFactory.create(destination=destination, state="DEAD", dead_at=CREATED_AT)
        total("USD", days_ago=number, paid=1)

    assert queries() == few
    assert few <= 22


def test_a_backlog_is_counted_up_to_its_limit(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlogs, "COUNTED_MAX", 3)
    bus = Destination.objects.get(code=BUS)
    for number in range(5):
        factories.DispatchFactory.create(created_at=CREATED_AT + timedelta(hours=number))

    known = backlogs.backlogs([bus.pk, 10**9])

    assert known[bus.pk] == backlogs.Backlog(waiting=3, oldest=CREATED_AT)
    assert known[10**9] == backlogs.Backlog()


def test_the_error_is_that_of_who_waits_longest_else_of_the_last_that_died(db: None) -> None:
    bus = Destination.objects.get(code=BUS)

    def error() -> str:
        return backlogs.backlogs([bus.pk])[bus.pk].last_error

    for hours, words in ((1, "died first"), (2, "died last")):
        died = CREATED_AT + timedelta(hours=hours)
        factories.DispatchFactory.create(state="DEAD", dead_at=died, last_error=words)
    factories.DispatchFactory.create()
    assert error() == "died last"

    for hours, words in ((2, "younger"), (1, "older")):
        told = CREATED_AT + timedelta(hours=hours)
        factories.DispatchFactory.create(created_at=told, last_error=words)
    assert error() == "older"


def test_who_is_behind_is_found_by_looking_at_each_once(db: None) -> None:
    destinations = [factories.DestinationFactory.create() for _ in range(4)]
    for destination in destinations[:2]:
        for _ in range(3):
            factories.DispatchFactory.create(destination=destination)
    for destination in destinations[1:3]:
        factories.DispatchFactory.create(destination=destination, state="DEAD", dead_at=CREATED_AT)

    assert backlogs.behind(most=10) == [row.pk for row in destinations[:3]]
    assert backlogs.behind(most=1) == [row.pk for row in destinations[:2]]
