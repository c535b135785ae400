"""What only Stripe's client does."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from orders.strict_json import parse
from payments.clients.port import Answer
from tests.clients.cases import CASES
from tests.clients.servers.base import Refund, running
from tests.clients.servers.stripe import StripeApi

(CASE,) = (case for case in CASES if case.name == "stripe")


@pytest.fixture
def api() -> Iterator[StripeApi]:
    with running(CASE.api()) as server:
        assert isinstance(server, StripeApi)
        server.pay(CASE.payment())
        yield server
        assert server.complaints == []


def refunds(api: StripeApi, count: int) -> None:
    for number in range(count):
        made = Refund(f"D-{number}", f"re_d{number}", "1", "USD", "succeeded")
        api.payments[CASE.txn_no].refunds[made.refund_no] = made


def test_a_refund_is_found_on_a_later_page(api: StripeApi) -> None:
    client = CASE.client(api)
    made = client.refund(CASE.order())
    refunds(api, 5)
    found = client.query_refund(CASE.order(), provider_refund_no="")
    assert (found.answer, found.provider_refund_no) == (Answer.SUCCEEDED, made.provider_refund_no)


def test_what_stands_behind_too_many_pages_is_unknown_and_not_missing(api: StripeApi) -> None:
    refunds(api, 11)
    found = CASE.client(api).query_refund(CASE.order(), provider_refund_no="")
    assert found.answer is Answer.UNKNOWN
    assert len(api.requests) == 5


def test_a_payment_known_by_its_charge_is_refunded_by_its_payment_intent(api: StripeApi) -> None:
    order = replace(
        CASE.order(), payment_txn_no="ch_3MtwBwLkdIwHu7ix28a3tqPa", linked_nos=(CASE.txn_no,)
    )
    assert CASE.client(api).refund(order).answer is Answer.SUCCEEDED
    nothing = replace(order, payment_txn_no="cs_test_1", linked_nos=("sub_1",))
    answer = CASE.client(api).refund(nothing)
    assert (answer.answer, len(api.executed)) == (Answer.REFUSED, 1)


def test_a_charge_is_told_as_its_payment_intent(api: StripeApi) -> None:
    number = "ch_3MtwBwLkdIwHu7ix28a3tqPa"
    answer = CASE.client(api).query_payment(txn_no=number, order_no="")
    assert answer.callback is not None
    assert answer.callback.txn_no == CASE.txn_no
    assert set(answer.callback.linked_nos) == {number, CASE.txn_no}


def test_a_payment_has_the_time_of_its_charge_and_the_mode_of_its_account(api: StripeApi) -> None:
    answer = CASE.client(api).query_payment(txn_no=CASE.txn_no, order_no="")
    assert answer.callback is not None
    assert answer.callback.occurred_at == datetime(2025, 12, 31, 23, 59, 54, tzinfo=UTC)
    assert answer.callback.live is False
    assert answer.callback.event_id == f"api:{CASE.txn_no}:succeeded"


def test_the_payment_that_was_paid_is_chosen_among_those_of_an_order(api: StripeApi) -> None:
    api.pay(CASE.payment(txn_no="pi_2", state="open"))
    answer = CASE.client(api).query_payment(txn_no="", order_no="O-1")
    assert answer.callback is not None
    assert answer.callback.txn_no == CASE.txn_no


def test_the_accounts_own_key_is_searched_for(api: StripeApi) -> None:
    settings = {"order_key": "my'\"key", "api_url": api.url}
    CASE.client(api, settings=settings).query_payment(txn_no="", order_no="O-1")
    assert api.requests[0].query["query"] == "metadata[\"my'\\\"key\"]:'O-1'"


def test_a_statement_is_all_pages_of_its_day(api: StripeApi) -> None:
    pages = parse(CASE.client(api).fetch_statement(date(2026, 1, 1)))
    ids = [entry["id"] for page in pages for entry in page["data"]]
    assert ids == ["txn_0", "txn_1", "txn_2"]
    query = api.requests[0].query
    assert (query["created[gte]"], query["created[lt]"]) == ("1767225600", "1767312000")
