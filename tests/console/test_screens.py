"""Every screen shows its rows, finds them, and costs the same however many there are."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model, QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEntry
from config.console.screens import ROWS_COUNTED_MAX
from idempotency.models import Record
from orders.models import ApiKey, Merchant, Order
from outbox.models import Destination, Dispatch, Endpoint, Event
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    ConflictPolicy,
    Delivery,
    Disposition,
    ManualPayment,
    Proposal,
    ProviderAccount,
    ProviderTransaction,
    Recipient,
    Refund,
)
from tests import factories
from tests.console.rooms import TABLES, Rows, entered, list_of, page_of, pages
from tests.factories import CREATED_AT

_THEN = "{0}_from_0=2026-03-01&{0}_from_1=11:00:00&{0}_to_0=2026-03-01&{0}_to_1=11:00:00"
_THAT_DAY = "{0}_from_0=2026-03-01&{0}_to_0=2026-03-01"
_LATER = "{0}_from_0=2026-03-01&{0}_from_1=11:00:01"
_EARLIER = "{0}_to_0=2026-02-28"
_NEVER = "{0}_from_0=yesterday"

Ask = Callable[[Any], str]

#: What each list may be asked, once so that its only row matches and once so that none does.
QUESTIONS: list[tuple[type[Model], Ask, str]] = [
    (Order, lambda row: f"q={row.order_no[:3]}", "q=-"),
    (Order, lambda _: "status__exact=WAIT_PAY", "status__exact=PAID"),
    (Order, lambda row: f"merchant__id__exact={row.merchant_id}", "merchant__id__exact=0"),
    (Order, lambda _: _THEN.format("created_at"), _LATER.format("created_at")),
    (ProviderTransaction, lambda row: f"q={row.txn_no}", "q=none"),
    (ProviderTransaction, lambda row: f"q={row.order_no}", "q=none"),
    (ProviderTransaction, lambda _: "disposition__exact=PARKED", "disposition__exact=HELD"),
    (ProviderTransaction, lambda _: "kind__exact=PAYMENT", "kind__exact=REFUND"),
    (ProviderTransaction, lambda _: "account__provider=stripe", "account__provider=other"),
    (
        ProviderTransaction,
        lambda row: f"merchant__id__exact={row.merchant_id}",
        "merchant__id__exact=0",
    ),
    (
        ProviderTransaction,
        lambda _: _THAT_DAY.format("occurred_at"),
        _EARLIER.format("occurred_at"),
    ),
    (Refund, lambda row: f"q={row.refund_no}", "q=none"),
    (Refund, lambda _: "status__exact=REQUESTED", "status__exact=FAILED"),
    (Refund, lambda _: _THEN.format("requested_at"), _LATER.format("requested_at")),
    (Delivery, lambda row: f"q={row.event_id}", "q=none"),
    (Delivery, lambda row: f"q={row.order_no}", "q=none"),
    (Delivery, lambda row: f"q={row.body_sha256.hex()}", f"q={'0' * 64}"),
    (Delivery, lambda _: "outcome__exact=IGNORED", "outcome__exact=APPLIED"),
    (Delivery, lambda _: "account__provider=stripe", "account__provider=other"),
    (Delivery, lambda row: f"account__id__exact={row.account_id}", "account__id__exact=0"),
    (Delivery, lambda row: f"merchant__id__exact={row.merchant_id}", "reason=WRONG_MODE"),
    (Delivery, lambda row: f"transaction__id__exact={row.transaction_id}", "reason=STALE"),
    (
        Delivery,
        lambda _: _THAT_DAY.format("received_at"),
        _LATER.format("received_at"),
    ),
    (Conflict, lambda row: f"q={row.order.order_no}", "q=none"),
    (Conflict, lambda row: f"q={row.transaction.txn_no}", "q=none"),
    (Conflict, lambda _: "decision=undecided", "decision=decided"),
    (Conflict, lambda _: "reason__exact=AMOUNT_MISMATCH", "reason__exact=LATE_PAYMENT"),
    (Conflict, lambda _: "severity__exact=PAGE", "severity__exact=TICKET"),
    (
        Conflict,
        lambda _: _THAT_DAY.format("opened_at"),
        _EARLIER.format("opened_at"),
    ),
    (Event, lambda row: f"q={row.pk}", "q=00000000-0000-0000-0000-000000000000"),
    (Event, lambda row: f"q={row.aggregate_id}", "q=none"),
    (Event, lambda _: "state=WAITING", "state=DEAD"),
    (Event, lambda _: _THEN.format("created_at"), _NEVER.format("created_at")),
    (Dispatch, lambda row: f"q={row.event_id}", "q=00000000-0000-0000-0000-000000000000"),
    (Dispatch, lambda row: f"q={row.destination.code}", "q=none"),
    (Dispatch, lambda _: "state=WAITING", "state=DEAD"),
    (Dispatch, lambda row: f"destination__id__exact={row.destination_id}", "state=PUBLISHED"),
    (Dispatch, lambda _: _THEN.format("created_at"), _LATER.format("created_at")),
    (Destination, lambda row: f"q={row.code}", "q=none"),
    (Destination, lambda row: f"q={row.tenant}", "q=none"),
    (Destination, lambda _: "kind__exact=webhook", "kind__exact=kafka"),
    (Endpoint, lambda row: f"q={row.destination.code}", "q=none"),
    (Endpoint, lambda row: f"q={row.destination.tenant}", "q=none"),
    (Endpoint, lambda _: "destination__state__exact=ACTIVE", "destination__state__exact=PAUSED"),
    (ProviderAccount, lambda row: f"q={row.account_no}", "q=none"),
    (ProviderAccount, lambda _: "provider=stripe", "provider=other"),
    (ProviderAccount, lambda _: "live__exact=1", "live__exact=0"),
    (AccountKey, lambda row: f"q={row.key_id}", "q=none"),
    (AccountKey, lambda _: "purpose=signature", "purpose=decryption"),
    (AccountKey, lambda _: "last_used_at__isempty=1", "last_used_at__isempty=0"),
    (Merchant, lambda row: f"q={row.code}", "q=none"),
    (Merchant, lambda _: "active__exact=1", "active__exact=0"),
    (Recipient, lambda row: f"q={row.shown[:9]}", "q=none"),
    (Recipient, lambda _: "kind__exact=EMAIL", "kind__exact=WEBHOOK"),
    (Recipient, lambda _: "active__exact=1", "active__exact=0"),
    (ApiKey, lambda row: f"q={row.prefix}", "q=none"),
    (ApiKey, lambda _: "revoked_at__isempty=1", "revoked_at__isempty=0"),
]


def test_every_page_answers(superuser: Client, rows: Rows) -> None:
    assert {page: superuser.get(page).status_code for page in pages(rows)} == dict.fromkeys(
        pages(rows), 200
    )


@pytest.mark.parametrize(("table", "found", "not_found"), QUESTIONS)
def test_a_list_shows_what_it_is_asked_for(
    superuser: Client, rows: Rows, table: type[Model], found: Ask, not_found: str
) -> None:
    if table not in (Merchant, ProviderAccount, AccountKey):
        factories.ProviderAccountFactory.create()  # a filter with one choice only is not offered
    here = superuser.get(f"{list_of(table)}?{found(rows[table])}")
    gone = superuser.get(f"{list_of(table)}?{not_found}")

    assert (here.status_code, gone.status_code) == (200, 200)
    assert here.context["cl"].result_count == 1
    assert gone.context["cl"].result_count == 0


@pytest.mark.parametrize(
    "nonsense",
    [
        "q=%00",
        "q=%ED%A0%80",
        "p=99999999",
        "p=x",
        "o=9.-9",
        "e=1",
        "nothing=1",
        "merchant__id__exact=x",
        "order_no__regex=(",
        "status__exact=%00",
        "decision=%00",
        "created_at_from_0=x&created_at_from_1=y",
    ],
)
def test_nonsense_in_the_address_is_no_fault_of_ours(
    superuser: Client, rows: Rows, nonsense: str
) -> None:
    for table in TABLES:
        assert superuser.get(f"{list_of(table)}?{nonsense}").status_code in (200, 302, 400), table


@pytest.mark.parametrize("key", ["0", "x", "00000000-0000-0000-0000-000000000000"])
def test_a_row_that_is_not_there_leads_back(superuser: Client, key: str) -> None:
    for table in TABLES:
        assert superuser.get(f"{list_of(table)}{key}/change/").status_code == 302, table


_ANOTHER: dict[type[Model], Callable[[], Any]] = {
    Order: factories.OrderFactory.create,
    ProviderAccount: factories.ProviderAccountFactory.create,
    ProviderTransaction: factories.ProviderTransactionFactory.create,
    Delivery: factories.DeliveryFactory.create,
    Confirmation: factories.ConfirmationFactory.create,
    Conflict: factories.ConflictFactory.create,
    Refund: factories.RefundFactory.create,
    Event: lambda: factories.DispatchFactory.create().event,
    Destination: factories.DestinationFactory.create,
    Dispatch: factories.DispatchFactory.create,
    Endpoint: factories.EndpointFactory.create,
    ApiKey: factories.ApiKeyFactory.create,
    AccountKey: factories.ProviderAccountFactory.create,
    Merchant: factories.MerchantFactory.create,
    Proposal: factories.ProposalFactory.create,
    ConflictPolicy: factories.ConflictPolicyFactory.create,
    ManualPayment: factories.ManualPaymentFactory.create,
    Record: factories.RecordFactory.create,
    Recipient: factories.RecipientFactory.create,
    AuditEntry: entered,
}


@pytest.mark.parametrize("table", TABLES)
def test_a_list_of_50_rows_asks_the_database_no_more_than_one_of_5(
    superuser: Client, table: type[Model]
) -> None:
    def queries(rows: int) -> int:
        while QuerySet(table).count() < rows:
            _ANOTHER[table]()
        superuser.get("/admin/jsi18n/")  # a session's first page asks more
        with CaptureQueriesContext(connection) as asked:
            response = superuser.get(list_of(table))
        assert len(response.context["cl"].result_list) == rows
        return len(asked)

    few, many = queries(5), queries(50)

    assert few == many
    assert many <= 15


def test_a_list_counts_no_further_than_its_limit(superuser: Client, rows: Rows) -> None:
    with CaptureQueriesContext(connection) as asked:
        superuser.get(list_of(Order))

    counts = [query["sql"] for query in asked if query["sql"].startswith("SELECT COUNT(*)")]
    (count,) = (sql for sql in counts if "orders_order" in sql)
    assert f"LIMIT {ROWS_COUNTED_MAX}" in count


def test_a_list_of_deliveries_leaves_their_bytes_in_the_database(
    superuser: Client, rows: Rows
) -> None:
    with CaptureQueriesContext(connection) as asked:
        superuser.get(list_of(Delivery))

    assert [query["sql"] for query in asked if '"payments_delivery"."body",' in query["sql"]] == []


def test_amounts_and_times_are_written_for_people(superuser: Client, rows: Rows) -> None:
    factories.OrderFactory.create(order_no="YEN", amount_minor=500, currency="JPY")
    factories.OrderFactory.create(order_no="OLD", amount_minor=500, currency="DEM")

    shown = superuser.get(list_of(Order)).content.decode()

    assert '<span class="c-amount">10.99 USD</span>' in shown
    assert '<span class="c-amount">500 JPY</span>' in shown
    assert '<span class="c-amount">500 minor units of DEM</span>' in shown
    assert "2026-03-01 11:00:00 UTC" in shown


def test_an_order_leads_to_everything_that_was_said_about_it(superuser: Client, rows: Rows) -> None:
    shown = superuser.get(page_of(rows[Order])).content.decode()

    for table in (ProviderTransaction, Delivery, Conflict, Event):
        assert f'href="{page_of(rows[table])}"' in shown, table


#: Pages that lead from one to another, in the direction of the pair.
LINKED: list[tuple[type[Model], type[Model]]] = [
    *((Order, table) for table in (ProviderTransaction, Refund, Delivery, Conflict, Event)),
    *((ProviderTransaction, table) for table in (Delivery, Refund, Conflict, ProviderAccount)),
    *((Delivery, table) for table in (Order, ProviderTransaction, Conflict, ProviderAccount)),
    (Delivery, AccountKey),
    *((Refund, table) for table in (Order, ProviderTransaction, ProviderAccount)),
    *((Conflict, table) for table in (Order, ProviderTransaction, Delivery)),
    *((Event, table) for table in (Order, Dispatch)),
    *((Dispatch, table) for table in (Event, Endpoint)),
    *((Record, table) for table in (Merchant, Order, Refund)),
    (ProviderAccount, AccountKey),
    (AccountKey, ProviderAccount),
]


def test_what_belongs_together_is_linked(superuser: Client, rows: Rows) -> None:
    key, record, refund = rows[AccountKey], rows[Record], rows[Refund]
    Delivery.objects.update(key_id=key.key_id)
    Order.objects.update(merchant=refund.merchant)
    said = {"order_no": rows[Order].order_no, "refund_no": refund.refund_no, "paid": True}
    Record.objects.filter(pk=record.pk).update(
        scope=f"{refund.merchant_id}/request_refund/v1",
        status="SUCCEEDED",
        lease_until=None,
        handed_over_at=None,
        finished_at=CREATED_AT,
        result_code=201,
        result_body=json.dumps(said).encode(),
    )
    pages: dict[type[Model], str] = {
        table: superuser.get(page_of(rows[table])).content.decode() for table in TABLES
    }

    missing = [
        (table.__name__, other.__name__)
        for table, other in LINKED
        if f'href="{page_of(rows[other])}"' not in pages[table]
    ]

    assert missing == []


@pytest.mark.parametrize("answer", [b"", b"[]", b"null", b"\xff", b'{"order_no": {}}', b"7"])
def test_an_answer_that_names_nothing_leads_to_its_merchant_alone(
    superuser: Client, rows: Rows, answer: bytes
) -> None:
    merchant = rows[Merchant]
    record = factories.RecordFactory.create(
        scope=f"{merchant.pk}/place_order/v1",
        status="SUCCEEDED",
        lease_until=None,
        handed_over_at=None,
        finished_at=CREATED_AT,
        result_code=201,
        result_body=answer,
    )

    shown = superuser.get(page_of(record)).content.decode()

    assert page_of(merchant) in shown
    assert page_of(rows[Order]) not in shown


def test_a_refund_s_and_a_payment_s_events_lead_to_them(superuser: Client, rows: Rows) -> None:
    refund, payment = rows[Refund], rows[ProviderTransaction]
    named = {"refund": f"{refund.merchant.code}/{refund.refund_no}", "payment": str(payment.pk)}
    told = {
        kind: factories.EventFactory.create(aggregate_type=kind, aggregate_id=number)
        for kind, number in named.items()
    }

    assert page_of(refund) in superuser.get(page_of(told["refund"])).content.decode()
    assert page_of(payment) in superuser.get(page_of(told["payment"])).content.decode()
    assert page_of(told["payment"]) in superuser.get(page_of(payment)).content.decode()


def test_an_order_shows_money_that_is_held_because_of_it(superuser: Client) -> None:
    order = factories.OrderFactory.create()
    held = factories.ProviderTransactionFactory.create(disposition=Disposition.HELD)
    factories.ConflictFactory.create(order=order, transaction=held)

    assert f'href="{page_of(held)}"' in superuser.get(page_of(order)).content.decode()


def test_an_event_leads_to_what_it_tells_of(superuser: Client, rows: Rows) -> None:
    about_conflict = factories.EventFactory.create(
        aggregate_type="conflict", aggregate_id=str(rows[Conflict].pk)
    )
    about_nothing = factories.EventFactory.create(aggregate_type="planet", aggregate_id="9")

    def links(event: Event) -> str:
        return superuser.get(page_of(event)).content.decode()

    assert f'href="{page_of(rows[Order])}"' in links(rows[Event])
    assert f'href="{page_of(rows[Conflict])}"' in links(about_conflict)
    assert about_nothing.aggregate_id in links(about_nothing)


def test_the_first_page_says_what_waits(superuser: Client, rows: Rows) -> None:
    factories.ProviderTransactionFactory.create()
    factories.DispatchFactory.create(state="DEAD", dead_at=CREATED_AT, attempts=12)

    figures = {
        figure.title: (figure.number, figure.alarms)
        for figure in superuser.get("/admin/").context["figures"]
    }

    assert figures == {
        "Conflicts to decide": (1, True),  # its hour is long over
        "For you to approve": (0, False),
        "Transactions parked": (2, False),
        "Payments held": (1, False),
        "Refunds in doubt": (0, False),
        "Dispatches waiting": (1, False),
        "Dispatches dead": (1, True),
    }


def test_every_figure_leads_to_as_many_rows(superuser: Client, rows: Rows) -> None:
    dead = factories.DispatchFactory.create(state="DEAD", dead_at=CREATED_AT)
    # An event that is dead in two places has two dispatches.
    factories.DispatchFactory.create(
        event=dead.event,
        destination=factories.DestinationFactory.create(),
        state="DEAD",
        dead_at=CREATED_AT,
    )

    for figure in superuser.get("/admin/").context["figures"]:
        assert superuser.get(figure.link).context["cl"].result_count == figure.number, figure


def test_the_sidebar_counts_conflicts_with_one_query(superuser: Client, rows: Rows) -> None:
    with CaptureQueriesContext(connection) as asked:
        shown = superuser.get(list_of(Merchant)).content.decode()

    assert len([query for query in asked if "payments_conflict" in query["sql"]]) == 1
    assert "Conflicts" in shown
