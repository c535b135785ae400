"""The answers to `Idempotency-Key`, as `docs/idempotency.md` has them."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from idempotency import claims, lifecycle
from idempotency.claims import Claimed
from idempotency.digest import meaning_of
from idempotency.keys import Scope, intent
from idempotency.lifecycle import Claim
from idempotency.models import Record, RecordStatus
from orders.models import Order, OrderStatus
from outbox.models import Event
from tests.orders.client import ApiClient, pointers, problem
from tests.orders.rows import order_in

pytestmark = pytest.mark.django_db

LATER = "2999-01-31T12:00:00Z"


def wanted(**members: Any) -> dict[str, Any]:
    return {"order_no": "A-1", "amount": {"amount_minor": 1099, "currency": "USD"}} | members


def raw(text: str) -> bytes:
    return text.encode()


def test_a_call_without_a_key_is_refused() -> None:
    response = ApiClient().post("/v1/orders", wanted(), key=None)

    assert problem(response) == (400, "idempotency-key-missing")
    assert not Order.objects.exists()


@pytest.mark.parametrize("key", [" ", "a b", "a" * 129, "a" * 256, "a\nb", "k,k", '"k"', "\u00e9"])
def test_a_malformed_key_is_refused_and_leaves_no_row(key: str) -> None:
    api = ApiClient()
    response = Client().post(
        "/v1/orders",
        wanted(),
        content_type="application/json",
        HTTP_AUTHORIZATION=api.headers["Authorization"],
        HTTP_IDEMPOTENCY_KEY=key,
    )

    assert problem(response) == (400, "idempotency-key-malformed")
    assert not Record.objects.exists()
    assert not Order.objects.exists()


def test_a_repeat_gets_status_and_body_to_the_byte_and_is_marked() -> None:
    api = ApiClient()

    first = api.post("/v1/orders", wanted(), key="k")
    again = api.post("/v1/orders", wanted(), key="k")

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["Content-Type"] == first.headers["Content-Type"]
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Order.objects.count() == 1


def test_a_replay_tells_what_was_first_answered_not_how_the_order_stands_now() -> None:
    api = ApiClient()
    first = api.post("/v1/orders", wanted(), key="k")
    api.post("/v1/orders/A-1/close")

    again = api.post("/v1/orders", wanted(), key="k")
    under_a_new_key = api.post("/v1/orders", wanted(), key="k2")

    assert again.content == first.content
    assert under_a_new_key.json()["status"] == "CLOSED"


@pytest.mark.parametrize(
    "body",
    [
        '{"amount":{"currency":"USD","amount_minor":1099},"order_no":"A-1"}',
        '{"order_no": "A-1", "amount": {"amount_minor": 1099.0, "currency": "USD"}}',
        '{"order_no": "A-1", "amount": {"amount_minor": 1.099e3, "currency": "USD"}}',
        '{"order_no":"\\u0041-1","amount":{"amount_minor":1099,"currency":"USD"}}',
        '{"order_no":"A-1","amount":{"amount_minor":1099,"currency":"USD"},"expires_at":null}',
        '{"payable_through":null,"order_no":"A-1","amount":{"amount_minor":1099,"currency":"USD"}}',
    ],
)
def test_another_spelling_of_the_request_is_the_same_request(body: str) -> None:
    api = ApiClient()
    first = api.post("/v1/orders", wanted(), key="k")

    again = api.post("/v1/orders", raw(body), key="k")

    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.parametrize(
    "change",
    [
        {"order_no": "A-2"},
        {"amount": {"amount_minor": 1100, "currency": "USD"}},
        {"amount": {"amount_minor": 1099, "currency": "EUR"}},
        {"expires_at": LATER},
        {"nonsense": 1},
        {"amount": "1099"},
    ],
)
def test_a_key_with_another_meaning_is_refused_before_anything_else(
    change: dict[str, Any],
) -> None:
    api = ApiClient()
    api.post("/v1/orders", wanted(), key="k")

    response = api.post("/v1/orders", wanted() | change, key="k")

    assert problem(response) == (409, "idempotency-key-reused")
    assert "Idempotent-Replayed" not in response.headers
    assert Order.objects.count() == 1


def test_a_business_refusal_is_final_and_replayed() -> None:
    api = ApiClient()
    order_in(OrderStatus.WAIT_PAY, merchant=api.merchant, order_no="A-1", amount_minor=5)

    first = api.post("/v1/orders", wanted(), key="k")
    Order.objects.all().delete()
    again = api.post("/v1/orders", wanted(), key="k")

    assert problem(first) == (409, "order-exists")
    assert problem(again) == (409, "order-exists")
    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Record.objects.get().status == RecordStatus.FAILED_FINAL


def test_a_request_that_is_out_of_shape_leaves_no_row_and_its_key_is_free() -> None:
    api = ApiClient()

    refused = api.post("/v1/orders", wanted(order_no=""), key="k")

    assert problem(refused) == (400, "invalid-request")
    assert not Record.objects.exists()
    assert api.post("/v1/orders", wanted(), key="k").status_code == 201


def test_an_order_that_would_be_born_expired_is_refused_finally() -> None:
    api = ApiClient()
    past = wanted(expires_at="2001-01-31T12:00:00Z")

    first = api.post("/v1/orders", past, key="k")
    again = api.post("/v1/orders", past, key="k")

    assert problem(first) == (400, "invalid-request")
    assert pointers(again) == ["#/expires_at"]
    assert again.headers["Idempotent-Replayed"] == "true"
    assert not Order.objects.exists()


def test_who_asks_comes_before_the_key() -> None:
    response = Client().post(
        "/v1/orders",
        wanted(),
        content_type="application/json",
        headers={"Idempotency-Key": "not a key"},
    )

    assert problem(response) == (401, "unauthenticated")
    assert not Record.objects.exists()


def test_two_merchants_with_one_key_get_orders_of_their_own() -> None:
    one, other = ApiClient(), ApiClient()

    first = one.post("/v1/orders", wanted(), key="k")
    second = other.post("/v1/orders", wanted(), key="k")

    assert "Idempotent-Replayed" not in second.headers
    assert (first.status_code, second.status_code) == (201, 201)
    assert Order.objects.filter(order_no="A-1").count() == 2


def test_a_rotated_api_key_replays_what_the_old_one_did() -> None:
    api = ApiClient()
    first = api.post("/v1/orders", wanted(), key="k")
    api.post("/v1/orders/A-1/close")

    again = ApiClient(api.merchant).post("/v1/orders", wanted(), key="k")

    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"


def test_one_key_on_two_calls_is_two_keys() -> None:
    api = ApiClient()
    api.post("/v1/orders", wanted(), key="k")

    closed = api.post("/v1/orders/A-1/close", key="k")

    assert (closed.status_code, closed.json()["status"]) == (200, "CLOSED")
    assert "Idempotent-Replayed" not in closed.headers


def test_one_key_for_two_orders_of_one_call_is_refused() -> None:
    api = ApiClient()
    for order_no in ("A-1", "A-2"):
        order_in(OrderStatus.WAIT_PAY, merchant=api.merchant, order_no=order_no)
    api.post("/v1/orders/A-1/close", key="k")

    response = api.post("/v1/orders/A-2/close", key="k")

    assert problem(response) == (409, "idempotency-key-reused")
    assert Order.objects.get(order_no="A-2").status == OrderStatus.WAIT_PAY


@pytest.mark.parametrize("slash", ["", "/"])
def test_closing_with_a_key_replays_its_first_answer(slash: str) -> None:
    api = ApiClient()
    order_in(OrderStatus.WAIT_PAY, merchant=api.merchant, order_no="A-1")

    first = api.post("/v1/orders/A-1/close", key="k")
    again = api.post(f"/v1/orders/A-1/close{slash}", key="k")

    assert again.content == first.content
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Event.objects.count() == 1


def test_closing_needs_no_key_and_keeps_none_then() -> None:
    api = ApiClient()
    order_in(OrderStatus.WAIT_PAY, merchant=api.merchant, order_no="A-1")

    first = api.post("/v1/orders/A-1/close", key=None)
    again = api.post("/v1/orders/A-1/close", key=None)

    assert (first.status_code, again.content) == (200, first.content)
    assert not Record.objects.exists()
    assert Event.objects.count() == 1


def test_a_missing_order_is_not_closed_and_the_answer_is_kept() -> None:
    api = ApiClient()

    first = api.post("/v1/orders/A-1/close", key="k")
    again = api.post("/v1/orders/A-1/close", key="k")

    assert problem(first) == problem(again) == (404, "not-found")
    assert again.headers["Idempotent-Replayed"] == "true"


def claimed(api: ApiClient, key: str = "k") -> Claim:
    """Somebody is carrying out the placing of `wanted()`."""
    digest = meaning_of(
        method="POST",
        path="/v1/orders",
        body=wanted(),
    )
    answer = claims.claim(
        intent(scope=Scope(str(api.merchant.pk), "place_order"), key=key, digest=digest)
    )
    assert isinstance(answer, Claimed)
    return answer.claim


def test_while_the_first_runs_a_repeat_is_told_when_and_where_to_ask() -> None:
    api = ApiClient()
    mine = claimed(api)

    response = api.post("/v1/orders", wanted(), key="k")
    asked = api.get(response.headers["Location"])

    assert response.status_code == asked.status_code == 202
    assert response.headers["Location"] == "/v1/idempotency/k?operation=place_order"
    assert response.headers["Retry-After"] == "5"
    assert response.json() == {"key": "k", "operation": "place_order", "status": "PROCESSING"}
    assert asked.json() == response.json()
    lifecycle.finish(mine, RecordStatus.SUCCEEDED, lifecycle.Result(201, b'{"order_no": "A-1"}'))
    assert api.get(response.headers["Location"]).json()["answer"] == {
        "status": 201,
        "body": {"order_no": "A-1"},
    }


def test_while_the_first_runs_another_meaning_is_refused_already() -> None:
    api = ApiClient()
    claimed(api)

    response = api.post("/v1/orders", wanted(order_no="B"), key="k")

    assert problem(response) == (409, "idempotency-key-reused")


def test_what_is_handed_to_a_person_is_asked_for_seldom() -> None:
    api = ApiClient()
    lifecycle.hand_over(claimed(api), "the provider contradicts itself")

    response = api.post("/v1/orders", wanted(), key="k")

    assert (response.status_code, response.headers["Retry-After"]) == (202, "300")


def test_what_became_of_a_key_can_be_read() -> None:
    api = ApiClient()
    before = datetime.now(UTC)  # noqa: TID251 - the edge reads the clock
    placed = api.post("/v1/orders", wanted(), key="k")

    answer = api.get("/v1/idempotency/k", operation="place_order")

    assert answer.status_code == 200
    content = answer.json()
    moments = [datetime.fromisoformat(content.pop(name)) for name in ("created_at", "finished_at")]
    assert before <= moments[0] <= moments[1]
    assert content == {
        "key": "k",
        "operation": "place_order",
        "status": "SUCCEEDED",
        "retry_count": 0,
        "answer": {"status": 201, "body": placed.json()},
    }


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1/idempotency/other?operation=place_order", (404, "not-found")),
        ("/v1/idempotency/k?operation=close_order", (404, "not-found")),
        ("/v1/idempotency/k?operation=nothing", (400, "invalid-request")),
        ("/v1/idempotency/k", (400, "invalid-request")),
        ("/v1/idempotency/a%20b?operation=place_order", (404, "not-found")),
    ],
)
def test_a_key_that_is_not_known_is_not_found(path: str, expected: tuple[int, str]) -> None:
    api = ApiClient()
    api.post("/v1/orders", wanted(), key="k")

    assert problem(api.get(path)) == expected
    assert problem(ApiClient().get("/v1/idempotency/k?operation=place_order"))[0] == 404
    assert problem(Client().get(path))[0] in (401, 404)


def test_beyond_the_days_quota_a_new_key_is_refused_and_an_old_one_still_replays(
    settings: LazySettings,
) -> None:
    settings.IDEMPOTENCY_KEYS_PER_DAY = 2
    api = ApiClient()
    for number in range(2):
        content = wanted(order_no=f"A-{number}")
        assert api.post("/v1/orders", content, key=str(number)).status_code == 201

    refused = api.post("/v1/orders", wanted(order_no="A-9"), key="9")
    replayed = api.post("/v1/orders", wanted(order_no="A-1"), key="1")

    assert problem(refused) == (429, "too-many-requests")
    assert 0 < int(refused.headers["Retry-After"]) <= 24 * 60 * 60
    assert replayed.status_code == 201
    assert Order.objects.count() == 2
    assert ApiClient().post("/v1/orders", wanted(), key="9").status_code == 201


def test_beyond_the_minutes_calls_a_merchant_waits_and_others_do_not(
    settings: LazySettings,
) -> None:
    settings.API_CALLS_PER_MINUTE = 3
    api = ApiClient()

    answers = [api.get("/v1/orders") for _ in range(8)]

    # A minute may begin in between.
    refused = [answer for answer in answers if answer.status_code == 429]
    assert 2 <= len(refused) <= 5
    assert problem(refused[0]) == (429, "too-many-requests")
    assert 1 <= int(refused[0].headers["Retry-After"]) <= 60
    assert ApiClient().get("/v1/orders").status_code == 200


def test_half_a_character_is_refused_where_it_stands() -> None:
    response = ApiClient().post("/v1/orders", raw(json.dumps(wanted(order_no="\ud800"))))

    assert problem(response) == (400, "invalid-request")
    assert set(pointers(response)) == {"#/order_no"}
