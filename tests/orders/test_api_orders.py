from datetime import timedelta

import pytest
from django.test import Client

from orders.models import Order, OrderStatus
from outbox.models import Event
from tests.factories import CREATED_AT, MerchantFactory, OrderFactory
from tests.orders.client import ApiClient, pointers, problem
from tests.orders.rows import order_in

pytestmark = pytest.mark.django_db


def test_an_order_is_read_as_it_stands() -> None:
    api = ApiClient()
    order_in(OrderStatus.PAID, merchant=api.merchant, order_no="A-1", version=1)

    response = api.get("/v1/orders/A-1")

    assert response.status_code == 200
    assert response.json() == {
        "order_no": "A-1",
        "status": "PAID",
        "amount": {"amount_minor": 1099, "currency": "USD"},
        "refunded_minor": 0,
        "expires_at": None,
        "payable_through": None,
        "paid_txn_no": "txn-1",
        "paid_at": "2026-03-01T11:00:00Z",
        "closed_at": None,
        "created_at": "2026-03-01T11:00:00Z",
        "version": 1,
    }


@pytest.mark.parametrize("path", ["/v1/orders/A-1", "/v1/orders/A-1/"])
def test_an_order_of_another_merchant_is_as_absent_as_none(path: str) -> None:
    api = ApiClient()
    absent = api.get(path)

    OrderFactory.create(order_no="A-1", merchant=MerchantFactory.create())
    foreign = api.get(path)

    assert problem(absent) == problem(foreign) == (404, "not-found")
    assert absent.content == foreign.content


def test_every_character_of_order_numbers_works_in_an_address() -> None:
    api = ApiClient()
    number = "A-z_0.9:"
    OrderFactory.create(order_no=number, merchant=api.merchant)

    assert api.get(f"/v1/orders/{number}").json()["order_no"] == number
    assert api.post(f"/v1/orders/{number}/close").json()["order_no"] == number


@pytest.mark.parametrize("slash", ["", "/"])
def test_both_slash_forms_of_each_address_answer_without_a_redirect(slash: str) -> None:
    api = ApiClient()
    content = {"order_no": "A-1", "amount": {"amount_minor": 1, "currency": "USD"}}

    assert api.post(f"/v1/orders{slash}", content).status_code == 201
    assert api.get(f"/v1/orders{slash}").status_code == 200
    assert api.get(f"/v1/orders/A-1{slash}").status_code == 200
    assert api.post(f"/v1/orders/A-1/close{slash}").status_code == 200
    assert api.get(f"/v1/schema{slash}").status_code == 200
    assert api.get(f"/v1/docs{slash}").status_code == 200


def test_closing_an_order_tells_it() -> None:
    api = ApiClient()
    OrderFactory.create(order_no="A-1", merchant=api.merchant)

    response = api.post("/v1/orders/A-1/close")

    assert (response.status_code, response.json()["status"]) == (200, "CLOSED")
    closed_at = response.json()["closed_at"]
    event = Event.objects.get()
    assert (event.aggregate_type, event.aggregate_id) == ("order", f"{api.merchant.code}/A-1")
    assert (event.seq, event.type) == (1, "order.closed")
    assert event.payload == {
        "order_no": "A-1",
        "merchant": api.merchant.code,
        "status": "CLOSED",
        "amount": {"amount_minor": 1099, "currency": "USD"},
        "version": 1,
        "paid_txn_no": None,
        "paid_at": None,
        "closed_at": closed_at,
    }


def test_closing_again_answers_the_same_and_tells_nothing() -> None:
    api = ApiClient()
    OrderFactory.create(order_no="A-1", merchant=api.merchant)
    first = api.post("/v1/orders/A-1/close")

    again = api.post("/v1/orders/A-1/close")

    assert (again.status_code, again.json()) == (200, first.json())
    assert Event.objects.count() == 1


@pytest.mark.parametrize("status", [OrderStatus.PAID, OrderStatus.REFUNDED])
def test_what_was_paid_is_not_closed(status: OrderStatus) -> None:
    api = ApiClient()
    order = order_in(status, merchant=api.merchant, order_no="A-1")

    response = api.post("/v1/orders/A-1/close")

    assert problem(response) == (409, "order-not-closable")
    assert status in response.json()["detail"]
    order.refresh_from_db()
    assert (order.status, order.version) == (status, 0)
    assert not Event.objects.exists()


def test_an_order_of_another_merchant_is_not_closed() -> None:
    order = OrderFactory.create(order_no="A-1")

    assert problem(ApiClient().post("/v1/orders/A-1/close")) == (404, "not-found")
    order.refresh_from_db()
    assert order.status == OrderStatus.WAIT_PAY


def _numbers(response: object) -> list[str]:
    return [order["order_no"] for order in response.json()["orders"]]  # type: ignore[attr-defined]


def test_a_list_walks_all_orders_once_newest_first() -> None:
    api = ApiClient()
    # Two at each moment: the time alone does not order them.
    for number in range(10):
        created_at = CREATED_AT + timedelta(seconds=number // 2)
        OrderFactory.create(order_no=f"A-{number}", merchant=api.merchant, created_at=created_at)
    OrderFactory.create(order_no="foreign")

    seen: list[str] = []
    query = {"limit": "3"}
    while True:
        page = api.get("/v1/orders", **query)
        seen += _numbers(page)
        if page.json()["next"] is None:
            break
        query["cursor"] = page.json()["next"]

    assert seen == [f"A-{number}" for number in reversed(range(10))]


def test_orders_placed_between_two_pages_shift_nothing() -> None:
    api = ApiClient()
    for number in range(4):
        OrderFactory.create(order_no=f"A-{number}", merchant=api.merchant)
    first = api.get("/v1/orders", limit="2")

    OrderFactory.create(order_no="new", merchant=api.merchant)
    second = api.get("/v1/orders", limit="2", cursor=first.json()["next"])

    assert _numbers(first) == ["A-3", "A-2"]
    assert _numbers(second) == ["A-1", "A-0"]
    assert second.json()["next"] is None


def test_a_list_is_narrowed_by_status_and_time() -> None:
    api = ApiClient()
    for number, status in enumerate(OrderStatus):
        created_at = CREATED_AT + timedelta(seconds=number)
        order_in(status, merchant=api.merchant, order_no=f"A-{number}", created_at=created_at)

    assert _numbers(api.get("/v1/orders", status="CLOSED")) == ["A-2"]
    # Strictly after: the last one seen is not shown again.
    after = api.get("/v1/orders", created_after="2026-03-01T12:00:01+01:00")
    assert _numbers(after) == ["A-3", "A-2"]


def test_a_page_is_bounded_when_nothing_is_asked() -> None:
    api = ApiClient()
    OrderFactory.create_batch(51, merchant=api.merchant)

    assert len(api.get("/v1/orders").json()["orders"]) == 50
    assert len(api.get("/v1/orders", limit="200").json()["orders"]) == 51


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("status=SHIPPED", "#/status"),
        ("status=", "#/status"),
        ("created_after=yesterday", "#/created_after"),
        ("created_after=2026-03-01", "#/created_after"),
        ("limit=0", "#/limit"),
        ("limit=201", "#/limit"),
        ("limit=many", "#/limit"),
        ("limit=1&limit=2", "#/limit"),
        ("cursor=", "#/cursor"),
        ("cursor=x", "#/cursor"),
        ("cursor=%C3%A9", "#/cursor"),
        ("cursor=%00", "#/cursor"),
        ("cursor=MjAyNi0wMy0wMVQxMTowMDowMCAx", "#/cursor"),  # a time without a zone
        ("cursor=MjAyNi0wMy0wMVQxMTowMDowMCswMDowMCAtMQ", "#/cursor"),  # the order -1
        (f"cursor={'A' * 201}", "#/cursor"),
        ("staus=PAID", "#/staus"),
    ],
)
def test_a_wrong_query_is_named(query: str, pointer: str) -> None:
    response = ApiClient().get(f"/v1/orders?{query}")

    assert problem(response) == (400, "invalid-request")
    assert pointers(response) == [pointer]


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*", "nonsense"])
def test_the_answer_is_json_whatever_is_accepted(accept: str) -> None:
    api = ApiClient()

    response = Client().get("/v1/orders", headers=api.headers | {"Accept": accept})

    assert (response.status_code, response.json()) == (200, {"orders": [], "next": None})


def test_cookies_and_origins_do_not_matter() -> None:
    api = ApiClient()
    strict = Client(enforce_csrf_checks=True)
    strict.cookies["sessionid"] = "anything"
    content = {"order_no": "A-1", "amount": {"amount_minor": 1, "currency": "USD"}}

    response = strict.post(
        "/v1/orders",
        content,
        content_type="application/json",
        headers=api.headers | {"Origin": "https://evil.test", "Idempotency-Key": "k"},
    )

    assert response.status_code == 201
    assert Order.objects.count() == 1
