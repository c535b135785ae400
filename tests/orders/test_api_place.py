from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orders.models import Order, OrderStatus
from payments.models import ProviderAccount
from tests.factories import ProviderAccountFactory
from tests.orders.client import ApiClient, pointers, problem
from tests.payments import telling

pytestmark = pytest.mark.django_db

LATER = "2999-01-31T12:00:00Z"


def wanted(**members: Any) -> dict[str, Any]:
    return {"order_no": "A-1", "amount": {"amount_minor": 1099, "currency": "USD"}} | members


def test_a_new_order_is_answered_as_it_stands() -> None:
    account = ProviderAccountFactory.create(name="main")
    api = ApiClient(account.merchant)
    before = datetime.now(UTC)  # noqa: TID251 - the edge reads the clock

    response = api.post("/v1/orders", wanted(expires_at=LATER, payable_through="stripe/main"))

    assert response.status_code == 201
    assert response.headers["Content-Type"] == "application/json"
    assert "Idempotent-Replayed" not in response.headers
    answer = response.json()
    created_at = datetime.fromisoformat(answer.pop("created_at"))
    assert before <= created_at <= before + timedelta(minutes=1)
    assert answer == {
        "order_no": "A-1",
        "status": "WAIT_PAY",
        "amount": {"amount_minor": 1099, "currency": "USD"},
        "refunded_minor": 0,
        "expires_at": LATER,
        "payable_through": "stripe/main",
        "paid_txn_no": None,
        "paid_at": None,
        "closed_at": None,
        "version": 0,
    }


@pytest.mark.parametrize(
    "values",
    [{"name": "other"}, {"provider": "paystack"}, {"active": False}],
    ids=["another name", "another provider", "not active"],
)
def test_an_endpoint_that_nobody_can_pay_through_is_refused(values: dict[str, Any]) -> None:
    account = ProviderAccountFactory.create(**{"name": "main"} | values)
    ProviderAccountFactory.create(name="foreign")
    api = ApiClient(account.merchant)

    for endpoint in ("stripe/main", "stripe/foreign"):
        response = api.post("/v1/orders", wanted(payable_through=endpoint))
        assert problem(response) == (400, "invalid-request")
        assert pointers(response) == ["#/payable_through"]
        assert f"no active account {endpoint}" in response.json()["errors"][0]["detail"]
    assert not Order.objects.exists()


def test_a_repeat_is_answered_though_its_endpoint_is_gone() -> None:
    account = ProviderAccountFactory.create(name="main")
    api = ApiClient(account.merchant)
    first = api.post("/v1/orders", wanted(payable_through="stripe/main"))
    ProviderAccount.objects.update(active=False)
    again = api.post("/v1/orders", wanted(payable_through="stripe/main"))

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()


def test_what_is_left_out_and_what_is_null_is_the_same() -> None:
    api = ApiClient()

    first = api.post("/v1/orders", wanted())
    again = api.post("/v1/orders", wanted(expires_at=None, payable_through=None))

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert first.json()["expires_at"] is None
    assert first.json()["payable_through"] is None


def test_a_repeat_gets_the_same_answer_and_says_so() -> None:
    api = ApiClient()
    first = api.post("/v1/orders", wanted(expires_at=LATER))

    again = api.post("/v1/orders", wanted(expires_at="2999-01-31T14:00:00.000+02:00"))

    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Order.objects.count() == 1


def test_a_repeat_with_a_new_key_of_the_same_merchant_gets_the_same_answer() -> None:
    api = ApiClient()
    first = api.post("/v1/orders", wanted())

    again = ApiClient(api.merchant).post("/v1/orders", wanted())

    assert again.json() == first.json()


def test_two_merchants_use_one_number_for_orders_of_their_own() -> None:
    one = ApiClient().post("/v1/orders", wanted())
    other = ApiClient().post("/v1/orders", wanted(amount={"amount_minor": 5, "currency": "EUR"}))

    assert (one.status_code, other.status_code) == (201, 201)
    assert "Idempotent-Replayed" not in other.headers
    assert Order.objects.filter(order_no="A-1").count() == 2


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"amount": {"amount_minor": 1100, "currency": "USD"}}, "#/amount"),
        ({"amount": {"amount_minor": 1099, "currency": "EUR"}}, "#/amount"),
        ({"expires_at": None}, "#/expires_at"),
        ({"expires_at": "2999-01-31T12:00:01Z"}, "#/expires_at"),
        ({"payable_through": "stripe/main"}, "#/payable_through"),
    ],
)
def test_a_taken_number_with_other_content_is_refused(change: dict[str, Any], pointer: str) -> None:
    api = ApiClient()
    api.post("/v1/orders", wanted(expires_at=LATER))

    response = api.post("/v1/orders", wanted(expires_at=LATER) | change)

    assert problem(response) == (409, "order-exists")
    assert pointers(response) == [pointer]
    assert Order.objects.get().amount_minor == 1099


def test_a_payment_that_came_first_pays_the_order_at_once() -> None:
    account = ProviderAccountFactory.create()
    telling.tell_one(account, telling.callback(order_no="A-1", txn_no="txn-7"))

    response = ApiClient(account.merchant).post("/v1/orders", wanted())

    assert response.status_code == 201
    answer = response.json()
    assert (answer["status"], answer["paid_txn_no"], answer["version"]) == ("PAID", "txn-7", 1)


@pytest.mark.parametrize(
    "literal",
    [
        *("1099.0", "19.99", "8.20", "599.80", "0.29", "1.005", "1e2", "1E2"),
        *('"1099"', '"19.99"', '"1,000.00"', '" 10.00"', '"10.001"', '"\uff11\uff10"'),
        *("true", "false", "null", "[1099]", "{}", "0", "-1", "-0"),
        *(str(2**63), "1" + "0" * 99),
    ],
)
def test_an_amount_is_a_positive_json_integer_and_nothing_else(literal: str) -> None:
    body = f'{{"order_no": "A-1", "amount": {{"amount_minor": {literal}, "currency": "EUR"}}}}'

    response = ApiClient().post("/v1/orders", body.encode())

    assert problem(response) == (400, "invalid-request")
    assert pointers(response) == ["#/amount/amount_minor"]
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    ("minor", "currency"),
    [
        *((1999, "EUR"), (820, "EUR"), (59980, "EUR"), (29, "EUR"), (2**63 - 1, "USD")),
        *((18600, "KWD"), (92000, "BHD"), (5, "OMR"), (500, "JPY")),
    ],
)
def test_the_amount_is_kept_to_the_unit(minor: int, currency: str) -> None:
    amount = {"amount_minor": minor, "currency": currency}

    response = ApiClient().post("/v1/orders", wanted(amount=amount))

    assert response.json()["amount"] == amount
    assert Order.objects.values("amount_minor", "currency").get() == amount


@pytest.mark.parametrize(
    "currency", ["usd", "US", "USDX", "XYZ", "XAU", "\uff35\uff33\uff24", "", 840, None]
)
def test_an_unknown_currency_is_refused(currency: Any) -> None:
    response = ApiClient().post(
        "/v1/orders", wanted(amount={"amount_minor": 1, "currency": currency})
    )

    assert problem(response) == (400, "invalid-request")
    assert pointers(response) == ["#/amount/currency"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"order_no": ""}, "#/order_no"),
        ({"order_no": "a" * 65}, "#/order_no"),
        ({"order_no": "A 1"}, "#/order_no"),
        ({"order_no": " A-1"}, "#/order_no"),
        ({"order_no": "A-1\n"}, "#/order_no"),
        ({"order_no": "A/1"}, "#/order_no"),
        ({"order_no": "\x00"}, "#/order_no"),
        ({"order_no": "Ä"}, "#/order_no"),
        ({"order_no": 1}, "#/order_no"),
        ({"order_no": None}, "#/order_no"),
        ({"amount": 1099}, "#/amount"),
        ({"amount": None}, "#/amount"),
        ({"amount": {}}, "#/amount/amount_minor"),
        ({"expires_at": ""}, "#/expires_at"),
        ({"expires_at": "2999-01-31"}, "#/expires_at"),
        ({"expires_at": "2999-01-31T12:00:00"}, "#/expires_at"),
        ({"expires_at": "2999-02-30T12:00:00Z"}, "#/expires_at"),
        ({"expires_at": "2999-01-31T12:00:00+99:00"}, "#/expires_at"),
        ({"expires_at": "0001-01-01T00:00:00+14:00"}, "#/expires_at"),
        ({"expires_at": "9999-12-31T23:59:59-14:00"}, "#/expires_at"),
        ({"expires_at": "\uff12999-01-31T12:00:00Z"}, "#/expires_at"),
        ({"expires_at": 32472144000}, "#/expires_at"),
        ({"expires_at": "2001-01-31T12:00:00Z"}, "#/expires_at"),
        ({"payable_through": ""}, "#/payable_through"),
        ({"payable_through": "stripe"}, "#/payable_through"),
        ({"payable_through": "stripe/main/2"}, "#/payable_through"),
        ({"payable_through": 1}, "#/payable_through"),
        ({"amount_minor": 1099}, "#/amount_minor"),
        ({"status": "PAID"}, "#/status"),
        ({"a/b~c": 1}, "#/a~1b~0c"),
        ({"\ud800": 1}, "#/\\ud800"),
    ],
)
def test_a_wrong_member_is_named(change: dict[str, Any], pointer: str) -> None:
    response = ApiClient().post("/v1/orders", wanted() | change)

    assert problem(response) == (400, "invalid-request")
    assert pointer in pointers(response)
    assert not Order.objects.exists()


def test_an_unknown_member_of_the_amount_is_named() -> None:
    amount = {"amount_minor": 1, "currency": "USD", "exponent": 3}

    response = ApiClient().post("/v1/orders", wanted(amount=amount))

    assert pointers(response) == ["#/amount/exponent"]


@pytest.mark.parametrize("content", ["[]", '"A-1"', "1", "null"])
def test_a_body_that_is_no_object_is_refused(content: str) -> None:
    response = ApiClient().post("/v1/orders", content.encode())

    assert problem(response) == (400, "invalid-request")
    assert pointers(response) == ["#"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"order_no":"A","order_no":"A","amount":{"amount_minor":1,"currency":"EUR"}}',
        b'{"order_no":"A","amount":{"amount_minor":100,"amount_minor":9900,"currency":"EUR"}}',
        b'{"order_no":"A","amount":{"amount_minor":9900,"amount_minor":100,"currency":"EUR"}}',
        b'{"order_no":"A","amount":{"amount_minor":1,"currency":"EUR"},"amount":{}}',
        b'{"order_no":"A","amount":{"amount_minor":NaN,"currency":"EUR"}}',
        b'{"order_no":"A","amount":{"amount_minor":Infinity,"currency":"EUR"}}',
        b'{"order_no":"\xff","amount":{"amount_minor":1,"currency":"EUR"}}',
        '{"order_no":"A","amount":{"amount_minor":1,"currency":"EUR"}}'.encode("utf-16"),
        b'{"order_no":"A","amount":{"amount_minor":1,"currency":"EUR"}',
        b'{"order_no":"A","amount":{"amount_minor":1,"currency":"EUR"}} {}',
        b"[" * 30_000,
        b'{"a":' * 10_000,
        b'{"amount":' + b"1" * 5_000 + b"}",
        b" ",
    ],
)
def test_a_body_that_can_be_read_in_two_ways_or_none_is_refused(body: bytes) -> None:
    response = ApiClient().post("/v1/orders", body)

    assert problem(response) == (400, "unreadable-body")
    assert not Order.objects.exists()


def test_a_body_over_the_limit_is_refused() -> None:
    response = ApiClient().post("/v1/orders", b" " * (64 * 1024 + 1))

    assert problem(response) == (413, "body-too-large")


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x"]
)
def test_a_body_that_is_not_declared_as_json_is_refused(media_type: str) -> None:
    response = ApiClient().post("/v1/orders", b"{}", content_type=media_type)

    assert problem(response) == (415, "unsupported-media-type")


def test_no_body_at_all_lacks_the_required_members() -> None:
    response = ApiClient().post("/v1/orders", b"")

    assert problem(response) == (400, "invalid-request")
    assert pointers(response) == ["#/order_no", "#/amount"]


def test_a_repeat_after_the_order_expired_still_gets_its_answer() -> None:
    api = ApiClient()
    api.post("/v1/orders", wanted(expires_at=LATER))
    past = datetime(2020, 1, 1, tzinfo=UTC)
    Order.objects.update(expires_at=past, status=OrderStatus.CLOSED, closed_at=past)

    response = api.post("/v1/orders", wanted(expires_at="2020-01-01T00:00:00Z"))

    assert (response.status_code, response.json()["status"]) == (201, "CLOSED")
    assert response.headers["Idempotent-Replayed"] == "true"
