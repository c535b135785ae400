"""A list as a file: exactly what is filtered, safe for a spreadsheet, entered in the audit."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client

from audit.models import AuditEntry
from config.console import columns, csv_cells, exporting
from config.console.columns import EXPORTS, Amount
from config.console.screens import ReadOnlyScreen
from orders.models import Merchant, Order
from payments.models import Delivery, Proposal, ProviderTransaction
from tests import factories
from tests.console.rooms import Rows, furnish, list_of
from tests.console.staff import staff
from tests.factories import CREATED_AT

#: What a spreadsheet would calculate, fetch or run, plain and in disguise.
FORMULAS = (
    *("=1+1", "+1+1", "-2+3", "@SUM(A1)", "=cmd|' /C calc'!A0", '=HYPERLINK("http://x","y")'),
    *("\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "\u00a0=1+1", "\u3000=1+1", "\u2212" + "2+3"),
    *("\uff1d1+1", "\uff0b1+1", "\uff0d1+1", "\uff201+1", "\ufe66" + "1+1", "\ufeff=1+1"),
    *("\u200b=1+1", "\u202e=1+1", '"=1+1', "x\r\n=1+1,=2", "'=1+1", "\0=1+1"),
)
_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\u2212")


#: What shows all rows of a list that shows what waits, if it is asked nothing.
WHOLE: dict[type[Model], str] = {Proposal: "decision=all"}


def download(client: Client, table: type[Model], query: str = "", **form: str) -> bytes:
    answer: Any = client.post(f"{list_of(table)}export/?{query}", form)
    assert answer.status_code == 200
    assert isinstance(answer.streaming_content, Iterator)
    return b"".join(answer.streaming_content)


def read(raw: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(raw.decode(), newline="")))


def audited() -> list[Any]:
    entries = AuditEntry.objects.filter(object_type="list").order_by("seq")
    return list(entries.values_list("action", "object_id", "after"))


@pytest.mark.parametrize("table", EXPORTS)
def test_no_cell_of_any_list_can_be_a_formula(table: type[Model]) -> None:
    shape = EXPORTS[table]
    for hostile in FORMULAS:
        values = [-1099 if isinstance(column, Amount) else hostile for column in shape]

        (cells,) = csv.reader(
            io.StringIO(csv_cells.lines([columns.line(shape, values)]).decode(), newline="")
        )

        assert len(cells) == len(columns.head(shape))
        amounts = {"", "-1099"}
        assert [each for each in cells if each.startswith(_STARTS) and each not in amounts] == []
        assert not any("\u202e" in each or "\0" in each for each in cells)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("1001", "1001"),
        ("a-b", "a-b"),
        ('caf\u00e9 \u6843, "x"', 'caf\u00e9 \u6843, "x"'),
        ("=1", "'=1"),
        ("a;=1;b;-1", "a;'=1;b;'-1"),
        ("a;\t \uff1d1", "a;'\t' \uff1d1"),
        ("a; b;c-d", "a; b;c-d"),
        ("\uff1d1", "'\uff1d1"),
        ("\u202e=1", "[U+202E]=1"),
        ("", ""),
        (None, ""),
        (True, "true"),
        (False, "false"),
        (-5, "-5"),
        (b"\xbe\xef", "beef"),
        (["=a", "b"], "'=a b"),
        (CREATED_AT, "2026-03-01T11:00:00.000000Z"),
        (
            datetime(2026, 3, 1, 19, 0, tzinfo=timezone(timedelta(hours=8))),
            "2026-03-01T11:00:00.000000Z",
        ),
    ],
)
def test_each_value_has_one_form(value: Any, written: str) -> None:
    assert csv_cells.cell(value) == written


@pytest.mark.parametrize(
    ("minor", "currency", "written"),
    [
        (1099, "USD", "10.99"),
        (500, "JPY", "500"),
        (1234567, "KWD", "1234.567"),
        (-5, "USD", "-0.05"),
        (2**63 - 1, "EUR", "92233720368547758.07"),
        (500, "DEM", ""),
        (None, "USD", ""),
    ],
)
def test_money_is_written_in_the_decimals_of_its_currency(
    minor: int | None, currency: str, written: str
) -> None:
    assert csv_cells.major(minor, currency) == written


def test_every_list_has_its_file_with_all_its_rows(superuser: Client, rows: Rows) -> None:
    screens = [
        model
        for model, screen in admin.site._registry.items()  # noqa: SLF001 - all that there are
        if isinstance(screen, ReadOnlyScreen)
    ]
    assert set(screens) == set(EXPORTS)

    for table in screens:
        query = WHOLE.get(table, "")
        shown = superuser.get(f"{list_of(table)}?{query}")
        raw = download(superuser, table, query)

        assert raw.endswith(b"\r\n"), table
        assert raw.splitlines()[0].decode() == ",".join(columns.head(EXPORTS[table])), table
        # The audit's own file begins with the entry that it was asked for.
        more = 1 if table is AuditEntry else 0
        assert len(read(raw)) == shown.context["cl"].result_count + more > 0, table
        assert f"{list_of(table)}export/" in shown.content.decode()
        assert superuser.get(f"{list_of(table)}export/").status_code == 200


def test_the_file_has_what_is_filtered_and_the_audit_says_which_and_how_much(
    superuser: Client, db: None
) -> None:
    merchant = factories.MerchantFactory.create(code="shop")
    for number, currency in enumerate(("USD", "JPY", "USD")):
        factories.OrderFactory.create(
            merchant=merchant, order_no=f"X-{number}", currency=currency, amount_minor=1099
        )
    factories.OrderFactory.create(order_no="Y-1")
    query = urlencode({"q": "X-", "status__exact": "WAIT_PAY"})

    raw = download(superuser, Order, query)

    assert not raw.startswith(b"\xef\xbb\xbf")
    assert [
        (row["order_no"], row["amount"], row["amount_minor"], row["currency"]) for row in read(raw)
    ] == [
        ("X-2", "10.99", "1099", "USD"),
        ("X-1", "1099", "1099", "JPY"),
        ("X-0", "10.99", "1099", "USD"),
    ]
    assert read(raw)[0]["created_at"] == "2026-03-01T11:00:00.000000Z"
    began, ended = audited()
    assert began == ("list.exported", "orders.Order", {"filter": query})
    assert ended[:2] == ("list.export_ended", "orders.Order")
    assert (ended[2]["filter"], ended[2]["rows"], ended[2]["complete"]) == (query, 3, True)
    assert ended[2]["began"] == AuditEntry.objects.get(action="list.exported").seq
    assert AuditEntry.objects.filter(object_type="list", actor="root").count() == 2


def test_a_spreadsheet_may_have_its_mark(superuser: Client, rows: Rows) -> None:
    assert download(superuser, Merchant, bom="on").startswith(b"\xef\xbb\xbfcode,name")


def test_a_page_says_what_will_be_in_the_file(superuser: Client, rows: Rows) -> None:
    page = superuser.get(f"{list_of(Order)}export/?status__exact=PAID").content.decode()
    plain = superuser.get(f"{list_of(Order)}export/").content.decode()

    assert "The rows as they are filtered now: status__exact=PAID" in page
    assert f'href="{list_of(Order)}?status__exact=PAID"' in page
    assert "no filter is set" in plain
    assert "order_no, status, amount, amount_minor" in plain
    assert audited() == []


def test_rows_come_some_at_a_time_through_a_cursor_of_the_server(
    superuser: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_CHUNK", 2)
    for _ in range(5):
        factories.OrderFactory.create()
    answer: Any = superuser.post(f"{list_of(Order)}export/")
    parts = iter(answer.streaming_content)

    head, first = next(parts), next(parts)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_cursors")
        (cursors,) = cursor.fetchone()
    rest = list(parts)

    assert head.startswith(b"merchant,")
    assert [part.count(b"\r\n") for part in (first, *rest)] == [2, 2, 1]
    assert cursors == 1
    assert audited()[-1][2]["rows"] == 5


def test_who_breaks_off_is_in_the_audit_with_what_he_got(
    superuser: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_CHUNK", 2)
    for _ in range(5):
        factories.OrderFactory.create()
    answer: Any = superuser.post(f"{list_of(Order)}export/")
    parts = iter(answer.streaming_content)
    next(parts), next(parts)

    # What a server does when the other side has gone; its own end of a request would also close
    # the connection that this test is a transaction of.
    for closes in answer._resource_closers:  # noqa: SLF001 - as above
        closes()

    assert (audited()[-1][2]["rows"], audited()[-1][2]["complete"]) == (2, False)


def test_a_file_has_at_most_so_many_rows_and_the_audit_says_that_it_is_not_all(
    superuser: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "ROWS_EXPORTED_MAX", 2)
    for _ in range(3):
        factories.OrderFactory.create()

    assert len(read(download(superuser, Order))) == 2
    assert audited()[-1][2]["complete"] is False


def test_only_who_may_both_see_and_export_does(rows: Rows) -> None:
    viewer = staff("view_order", name="vera")
    exporter = staff("export_evidence", "view_order", name="eric")

    assert "export/" not in viewer.get(list_of(Order)).content.decode()
    for client, table in ((viewer, Order), (exporter, Delivery)):
        assert client.get(f"{list_of(table)}export/").status_code == 403
        assert client.post(f"{list_of(table)}export/").status_code == 403
    assert audited() == []
    assert len(read(download(exporter, Order))) == 1


@pytest.mark.parametrize("nonsense", ["created_at_from_0=x", "nothing=1", "q=%00"])
def test_nonsense_in_the_address_is_no_fault_of_ours(
    superuser: Client, rows: Rows, nonsense: str
) -> None:
    assert superuser.get(f"{list_of(Order)}export/?{nonsense}").status_code in (200, 400)


def test_hostile_rows_are_one_record_each(superuser: Client, db: None) -> None:
    hostile = '=1+1",\r\n"@x\u202e'
    furnish(
        merchant_name=hostile,
        key_label=hostile,
        delivery_detail=hostile,
        delivery_event_id=hostile,
        dispatch_last_error=hostile,
        account_account_no=hostile,
        transaction_stated_account_no=hostile,
        conflict_subject=hostile,
        refund_reason=hostile,
        record_reason=hostile,
        confirmation_why=hostile,
    )

    for table in EXPORTS:
        (row,) = read(download(superuser, table, WHOLE.get(table, "")))[-1:]
        assert None not in row, table
        told = [value for value in row.values() if "1+1" in value]
        assert all(value.startswith("'=1+1\",") for value in told), table
    (payment,) = read(download(superuser, ProviderTransaction))
    assert payment["stated_account_no"] == '\'=1+1",[U+000D]\n"@x[U+202E]'
