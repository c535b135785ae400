"""One field finds everything that has a number: exactly, cheaply, and only what one may see."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.console import finding
from config.console.navigation import title_of
from idempotency.models import Record
from orders.models import Merchant, Order
from outbox.models import Destination, Dispatch, Event
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
    Refund,
)
from tests import factories
from tests.console.rooms import Rows, list_of, page_of
from tests.console.staff import staff

FIND = "/admin/find/"

#: What is typed, and the row whose page it leads to.
STRAIGHT: list[tuple[type[Model], Callable[[Any], str]]] = [
    (Order, lambda row: row.order_no),
    (Order, lambda row: f" {row.order_no}\u200b\n"),
    (Order, lambda row: f"order:{row.pk}"),
    (ProviderTransaction, lambda row: row.txn_no),
    (ProviderTransaction, lambda row: f"transaction:{row.pk}"),
    (Refund, lambda row: row.refund_no),
    (Refund, lambda row: row.provider_refund_no),
    (Delivery, lambda row: row.event_id),
    (Delivery, lambda row: row.body_sha256.hex()),
    (Delivery, lambda row: row.body_sha256.hex().upper()),
    (Delivery, lambda row: str(row.batch_id)),
    (Delivery, lambda row: f"Delivery:{row.pk}"),
    (Confirmation, lambda row: row.txn_no),
    (Conflict, lambda row: f"conflict:{row.pk}"),
    (Event, lambda row: str(row.pk)),
    (Event, lambda row: row.aggregate_id),
    (Dispatch, lambda row: f"dispatch:{row.pk}"),
    (Record, lambda row: row.idem_key),
    (Record, lambda row: f"record:{row.pk}"),
    (ProviderAccount, lambda row: row.endpoint),
    (AccountKey, lambda row: f"key:{row.pk}"),
    (Merchant, lambda row: row.code),
    (Destination, lambda row: row.code),
]


@pytest.fixture
def known(rows: Rows) -> Rows:
    """With a record in the scope of a merchant's call, and a refund that its provider knows."""
    scope = f"{rows[Merchant].pk}/request_refund/v1"
    record = rows[Record]
    Record.objects.filter(pk=record.pk).update(scope=scope)
    refund = rows[Refund]
    refund.provider_refund_no = "re_1"
    refund.save()
    return rows


@pytest.mark.parametrize(("table", "typed"), STRAIGHT)
def test_a_number_that_one_thing_has_leads_straight_to_it(
    superuser: Client, known: Rows, table: type[Model], typed: Callable[[Any], str]
) -> None:
    answer = superuser.get(FIND, {"q": typed(known[table])})

    assert (answer.status_code, answer.headers.get("Location")) == (302, page_of(known[table]))


def test_what_several_have_is_a_choice_by_kind(superuser: Client, known: Rows) -> None:
    number = known[Order].order_no
    other = factories.OrderFactory.create(order_no=number)
    payment = factories.ProviderTransactionFactory.create(txn_no=number)

    answer = superuser.get(FIND, {"q": number})

    titles = [section.title for section in answer.context["sections"]]
    assert titles == [title_of(list_of(table)) for table in (Order, ProviderTransaction)]
    shown = answer.content.decode()
    for row in (known[Order], other, payment):
        assert f'href="{page_of(row)}"' in shown


def test_what_nobody_has_placed_is_found_by_what_told_of_it(superuser: Client, db: None) -> None:
    told = factories.DeliveryFactory.create(order_no="LOST-1", txn_no="pi_lost")

    for typed in ("LOST-1", "pi_lost"):
        assert superuser.get(FIND, {"q": typed}).headers["Location"] == page_of(told)


def test_of_many_some_are_shown_and_the_page_says_so(superuser: Client, db: None) -> None:
    account = factories.ProviderAccountFactory.create()
    for _ in range(finding.ROWS_MAX + 1):
        factories.DeliveryFactory.create(account=account, order_no="LOST-1")

    (section,) = superuser.get(FIND, {"q": "LOST-1"}).context["sections"]

    assert section.content.count("<tr>") == finding.ROWS_MAX + 1  # and the heads of its columns
    assert "There are more" in section.content


@pytest.mark.parametrize(
    "typed",
    [
        *("", "   ", "O-", "no such number", "%", "conflict:", "conflict:x", "conflict:\u0661"),
        *("conflict:99999999999999999999", "planet:1", "a/b", "<script>", "\0", "x" * 256),
        *("0" * 64, "g" * 64, "00000000-0000-0000-0000-000000000000"),
    ],
)
def test_what_is_nowhere_teaches_what_can_be_typed(
    superuser: Client, known: Rows, typed: str
) -> None:
    answer = superuser.get(FIND, {"q": typed})

    assert (answer.status_code, answer.context["sections"]) == (200, [])
    assert len(answer.context["teaches"]) == 9
    assert "<script>" not in answer.content.decode().replace("<script src", "")


def test_each_finds_only_what_his_screens_show(known: Rows) -> None:
    viewer = staff("view_delivery", name="vera")
    nobody = staff(name="nora")

    # The order is not for him, the delivery that names it is.
    found = viewer.get(FIND, {"q": known[Order].order_no}).headers["Location"]
    assert found == page_of(known[Delivery])
    assert viewer.get(FIND, {"q": known[Record].idem_key}).context["sections"] == []
    assert len(viewer.get(FIND).context["teaches"]) == 4
    assert nobody.get(FIND, {"q": known[Order].order_no}).context["sections"] == []
    assert nobody.get(FIND).context["teaches"] == []


def test_a_screen_that_shows_some_rows_finds_no_others(
    superuser: Client, known: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = admin.site.get_model_admin(Order)
    monkeypatch.setattr(screen, "get_queryset", lambda _request: Order.objects.none())

    answer = superuser.get(FIND, {"q": f"order:{known[Order].pk}"})

    assert answer.context["sections"] == []


def test_a_stranger_finds_nothing(client: Client, db: None) -> None:
    assert client.get(FIND, {"q": "x"}).status_code == 302


#: What makes copies of a row others: each value is SQL over their number.
_COPIED: dict[type[Model], dict[str, str]] = {
    Order: {"id": "-n", "order_no": "'o-' || n"},
    ProviderTransaction: {"id": "-n", "txn_no": "'t-' || n"},
    Refund: {"id": "-n", "refund_no": "'r-' || n", "provider_refund_no": "'p-' || n"},
    Delivery: {
        "id": "-n",
        "batch_id": "gen_random_uuid()",
        "event_id": "'e-' || n",
        "order_no": "'o-' || n",
        "txn_no": "'t-' || n",
        "body_sha256": r"'\x' || encode(sha256(n::text::bytea), 'hex')",
    },
    Confirmation: {"id": "-n", "txn_no": "'t-' || n"},
    Event: {"id": "gen_random_uuid()", "aggregate_id": "'shop/o-' || n"},
    Record: {"id": "-n", "idem_key": "'k-' || n"},
}


def copy(row: Model, times: int) -> str:
    """Insert copies of a row, and let the planner know; its table's name."""
    table = row._meta.db_table  # noqa: SLF001 - Django's documented way to a model's names
    values = ", ".join(f"'{name}', {value}" for name, value in _COPIED[type(row)].items())
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} SELECT (jsonb_populate_record(t, jsonb_build_object({values}))).*"  # noqa: S608 - our own names
            f"  FROM {table} t, generate_series(1, {times}) n WHERE t.id = %s",
            [row.pk],
        )
        cursor.execute(f"ANALYZE {table}")
    return table


@pytest.mark.parametrize("typed", ["typed", "00000000-0000-0000-0000-00000000beef", "be" * 32])
def test_every_question_goes_along_an_index_by_what_was_typed(
    superuser: Client, known: Rows, typed: str
) -> None:
    tables = [copy(known[table], 2000) for table in _COPIED]

    with CaptureQueriesContext(connection) as asked:
        assert superuser.get(FIND, {"q": typed}).status_code == 200

    questions = [
        query["sql"]
        for query in asked
        if re.search(rf'FROM "({"|".join(tables)})"', query["sql"]) and typed in query["sql"]
    ]
    assert len(questions) >= 7
    with connection.cursor() as cursor:
        for question in questions:
            cursor.execute(f"EXPLAIN {question}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert not set(tables) & set(re.findall(r"Seq Scan on (\w+)", plan)), plan
            conditions = re.findall(r"Index Cond: .*", plan)
            assert [line for line in conditions if typed in line], plan
            # Whatever is left to be looked at one by one has been found along an index.
            assert [line for line in re.findall(r" Filter: .*", plan) if typed in line] == [], plan
    assert len(asked) <= 22


def test_every_page_has_the_field_and_the_first_page_has_it_in_its_middle(
    superuser: Client, rows: Rows
) -> None:
    for page in ("/admin/", list_of(Order), page_of(rows[Order]), FIND):
        shown = superuser.get(page).content.decode()
        assert shown.count(f'action="{FIND}"') == (2 if page in ("/admin/", FIND) else 1), page
