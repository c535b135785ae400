from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind, Unreadable
from tests.providers.hmac_senders import SHOPIFY, read, read_one

ORDER: dict[str, Any] = {
    "id": 820982911946154508,
    "name": "#1001",
    "order_number": 1001,
    "financial_status": "paid",
    "total_price": "254.98",
    "currency": "USD",
    "total_price_set": {"presentment_money": {"amount": "230.10", "currency_code": "EUR"}},
    "note_attributes": [{"name": "order_no", "value": "O-1"}],
    "cancelled_at": None,
    "test": False,
    "processed_at": "2025-12-31T18:59:50-05:00",
}
GIVEN_BACK: dict[str, Any] = {
    "id": 179259969,
    "kind": "refund",
    "status": "success",
    "amount": "10.00",
    "currency": "USD",
    "test": False,
}
REFUND: dict[str, Any] = {
    "id": 509562969,
    "order_id": 820982911946154508,
    "processed_at": "2026-01-01T00:00:00Z",
    "transactions": [GIVEN_BACK],
}
TRANSACTION: dict[str, Any] = {
    "id": 389404469,
    "order_id": 820982911946154508,
    "kind": "sale",
    "status": "success",
    "amount": "254.98",
    "currency": "USD",
}
DISPUTE: dict[str, Any] = {
    "id": 598735659,
    "order_id": 820982911946154508,
    "type": "chargeback",
    "amount": "254.98",
    "currency": "USD",
    "reason": "fraudulent",
    "status": "needs_response",
    "evidence_due_by": "2026-01-10T00:00:00Z",
    "initiated_at": "2026-01-01T00:00:00Z",
}


def test_a_paid_order_is_what_the_shop_is_owed_in_its_own_currency() -> None:
    callback = read_one(SHOPIFY, ORDER)
    assert callback.occurred_at is not None
    assert callback == Callback(
        event_id=callback.event_id,
        event_type="orders/paid",
        kind=Kind.PAID,
        txn_no="820982911946154508",
        order_no="1001",
        money=Money(25498, "USD"),
        live=True,
        occurred_at=callback.occurred_at,
    )


def test_the_order_number_is_where_the_account_says() -> None:
    for pointer, number in (("/note_attributes/0/value", "O-1"), ("/order_number", "1001")):
        assert read_one(SHOPIFY, ORDER, order=pointer).order_no == number


@pytest.mark.parametrize(
    "forged",
    [
        {"X-Shopify-Topic": "refunds/create"},
        {"X-Shopify-Shop-Domain": "another.myshopify.com"},
        {"X-Shopify-Event-Id": "e-2", "X-Shopify-Webhook-Id": "w-2"},
        {"X-Shopify-Test": "true"},
    ],
)
def test_what_stands_in_headers_is_not_signed_and_decides_nothing(forged: dict[str, str]) -> None:
    assert read(SHOPIFY, ORDER, headers=forged) == read(SHOPIFY, ORDER)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"financial_status": "authorized"}, Kind.AUTHORIZED),
        ({"financial_status": "pending"}, Kind.PENDING),
        ({"financial_status": "partially_paid"}, Kind.PENDING),
        ({"financial_status": "voided"}, Kind.CLOSED),
        ({"financial_status": "expired"}, Kind.CLOSED),
        ({"financial_status": "pending", "cancelled_at": "2026-01-01T00:00:00Z"}, Kind.CLOSED),
        ({"financial_status": "paid", "cancelled_at": "2026-01-01T00:00:00Z"}, Kind.PAID),
        ({"financial_status": "partially_refunded"}, Kind.IGNORED),
        ({"financial_status": "refunded"}, Kind.IGNORED),
        ({"financial_status": None}, Kind.IGNORED),
    ],
)
def test_an_orders_status_has_its_meaning(changes: dict[str, Any], kind: Kind) -> None:
    assert read_one(SHOPIFY, {**ORDER, **changes}).kind is kind


def test_a_refund_is_the_sum_of_what_was_given_back() -> None:
    second = {**GIVEN_BACK, "id": 2, "amount": "5.50"}
    failed = {**GIVEN_BACK, "id": 3, "status": "error", "amount": "100.00"}
    captured = {**GIVEN_BACK, "id": 4, "kind": "capture"}
    callback = read_one(SHOPIFY, {**REFUND, "transactions": [GIVEN_BACK, second, failed, captured]})
    assert (callback.kind, callback.txn_no) == (Kind.REFUNDED, "509562969")
    assert callback.money == Money(1550, "USD")
    assert callback.linked_nos == ("820982911946154508",)
    assert callback.live is True


@pytest.mark.parametrize(
    ("transactions", "kind"),
    [
        ([], Kind.IGNORED),
        ([{**GIVEN_BACK, "kind": "void"}], Kind.IGNORED),
        ([{**GIVEN_BACK, "status": "pending"}], Kind.PENDING),
        ([{**GIVEN_BACK, "status": "failure"}], Kind.REFUND_FAILED),
        ([{**GIVEN_BACK, "status": "error"}], Kind.REFUND_FAILED),
    ],
)
def test_a_refund_that_gave_nothing_back_is_none(
    transactions: list[dict[str, Any]], kind: Kind
) -> None:
    assert read_one(SHOPIFY, {**REFUND, "transactions": transactions}).kind is kind


@pytest.mark.parametrize(
    "transactions",
    [
        "none",
        [7],
        [{**GIVEN_BACK, "amount": None}],
        [{**GIVEN_BACK, "amount": "ten"}],
        [{**GIVEN_BACK, "amount": "10.001"}],
        [GIVEN_BACK, {**GIVEN_BACK, "currency": "EUR"}],
    ],
)
def test_a_refund_that_cannot_be_summed_is_kept_for_a_person(transactions: Any) -> None:
    (reading,) = read(SHOPIFY, {**REFUND, "transactions": transactions})
    assert isinstance(reading, Unreadable)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"kind": "authorization"}, Kind.AUTHORIZED),
        # Part of the order's money: the order says when it is paid.
        ({"kind": "sale"}, Kind.IGNORED),
        ({"kind": "capture"}, Kind.IGNORED),
        ({"kind": "sale", "status": "failure"}, Kind.FAILED),
        ({"kind": "capture", "status": "error"}, Kind.FAILED),
        ({"kind": "void"}, Kind.CLOSED),
        # The refund itself tells it.
        ({"kind": "refund"}, Kind.IGNORED),
    ],
)
def test_a_single_transaction_says_less_than_its_order(changes: dict[str, Any], kind: Kind) -> None:
    assert read_one(SHOPIFY, {**TRANSACTION, **changes}).kind is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("needs_response", Kind.DISPUTED),
        ("under_review", Kind.DISPUTED),
        ("won", Kind.DISPUTE_WON),
        ("charge_refunded", Kind.DISPUTE_WON),
        ("lost", Kind.DISPUTE_LOST),
        ("accepted", Kind.DISPUTE_LOST),
    ],
)
def test_a_dispute_is_linked_to_its_order(status: str, kind: Kind) -> None:
    callback = read_one(SHOPIFY, {**DISPUTE, "status": status})
    assert (callback.kind, callback.txn_no) == (kind, "598735659")
    assert callback.linked_nos == ("820982911946154508",)


def test_other_resources_of_the_shop_are_ignored() -> None:
    product = {"id": 1, "admin_graphql_api_id": "gid://shopify/Product/1", "title": "Hat"}
    assert read_one(SHOPIFY, product).kind is Kind.IGNORED


@pytest.mark.parametrize(
    ("prices", "paid"),
    [
        # Edited before it was paid: what the shop asks for now is what was paid.
        ({"current_total_price": "199.98", "total_outstanding": "0.00"}, 19_998),
        ({"current_total_price": "299.98"}, 29_998),
        # Made cheaper after it was paid: the rest is owed to the buyer, and was paid.
        ({"current_total_price": "199.98", "total_outstanding": "-55.00"}, 25_498),
        ({"current_total_price": None}, 25_498),
        ({}, 25_498),
    ],
)
def test_an_edited_order_was_paid_at_its_present_price(prices: dict[str, Any], paid: int) -> None:
    assert read_one(SHOPIFY, {**ORDER, **prices}).money == Money(paid, "USD")


def test_a_stranger_field_never_is_the_amount() -> None:
    order = {**ORDER, "amount_paid": "0.01"}
    assert read_one(SHOPIFY, order).money == Money(25_498, "USD")


def test_a_price_that_no_money_can_express_is_kept_as_stated() -> None:
    callback = read_one(SHOPIFY, {**ORDER, "current_total_price": "1.005"})
    assert (callback.money, callback.stated_amount) == (None, "1.005 USD")
