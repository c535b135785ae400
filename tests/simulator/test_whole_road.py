"""Both sides whole: orders and refunds over the service's API, its errands, and the simulator."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.db import connection

from config.simulator import check
from orders.models import Order
from payments import tasks
from payments.models import ProviderAccount, Refund
from payments.polling import FIRST_AFTER
from tests.factories import ApiKeyFactory, api_token
from tests.invariants import broken_rules
from tests.simulator.running import Simulator, until

Ours = tuple[Simulator, ProviderAccount]
_LEASES_END_SQL = """
    UPDATE payments_refund SET lease_until = clock_timestamp() WHERE status = 'PROCESSING'
"""


@pytest.fixture
def shop(live_service: str, ours: Ours) -> Iterator[httpx2.Client]:
    """The merchant's own system; afterwards both sides must agree."""
    simulator, account = ours
    token = api_token(ApiKeyFactory.create(merchant=account.merchant))
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=live_service, headers=headers, timeout=10) as client:
        yield client
    assert check.compare(simulator.store, final=True).differences == []
    assert broken_rules() == {}


def post(shop: httpx2.Client, path: str, content: Any, key: str) -> Any:
    answer = shop.post(path, json=content, headers={"Idempotency-Key": key})
    assert answer.is_success, answer.text
    return answer.json()


def paid(shop: httpx2.Client, simulator: Simulator, order_no: str, **switches: Any) -> str:
    amount = {"amount_minor": 1099, "currency": "USD"}
    post(shop, "/v1/orders", {"order_no": order_no, "amount": amount}, order_no)
    number = simulator.pay(order_no, **switches)
    simulator.wait_until_sent(number)
    return number


def refund(shop: httpx2.Client, order_no: str, refund_no: str, amount_minor: int) -> None:
    amount = {"amount_minor": amount_minor, "currency": "USD"}
    content = {"refund_no": refund_no, "amount": amount, "reason": "returned"}
    post(shop, f"/v1/orders/{order_no}/refunds", content, refund_no)


def statuses() -> dict[str, str]:
    return dict(Refund.objects.values_list("refund_no", "status"))


def leases_end() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_LEASES_END_SQL)


def test_a_refund_whose_answer_was_lost_is_made_once(shop: httpx2.Client, ours: Ours) -> None:
    simulator, _ = ours
    number = paid(shop, simulator, "O-1")
    simulator.set("refund", drop_reply=1, drop_callback=1)
    refund(shop, "O-1", "R-1", 500)

    tasks.carry_out_refunds()
    assert statuses() == {"R-1": "PROCESSING"}
    leases_end()
    tasks.recover_refunds()

    assert statuses() == {"R-1": "SUCCEEDED"}
    counted = {"refunds": {"R-1": {"asked": 1, "executed": 1}}}
    assert simulator.call("GET", "/api/counters")[1] == counted
    assert Order.objects.get(order_no="O-1").refunded_minor == 500
    assert simulator.call("GET", f"/api/payments/{number}")[1]["payment"]["refunded_minor"] == 500


def test_the_callback_of_a_refund_may_come_before_its_answer(
    shop: httpx2.Client, ours: Ours
) -> None:
    simulator, _ = ours
    number = paid(shop, simulator, "O-1")
    simulator.set("refund", drop_reply=1, duplicates=2)
    refund(shop, "O-1", "R-1", 1099)

    tasks.carry_out_refunds()
    simulator.wait_until_sent(number)

    assert statuses() == {"R-1": "SUCCEEDED"}
    assert Order.objects.get(order_no="O-1").status == "REFUNDED"


@pytest.mark.parametrize("failure", [{"status": 429}, {"status": 500}])
def test_a_refund_that_was_not_taken_is_not_given_up(
    shop: httpx2.Client, ours: Ours, failure: dict[str, int]
) -> None:
    simulator, _ = ours
    number = paid(shop, simulator, "O-1")
    simulator.set("refund", **failure)
    refund(shop, "O-1", "R-1", 1)
    tasks.carry_out_refunds()
    leases_end()
    Refund.objects.update(sent_at=simulator.clock() - timedelta(hours=1))
    tasks.recover_refunds()  # Nobody knows of it, long after: sent again, under its number.
    tasks.carry_out_refunds()
    simulator.wait_until_sent(number)

    assert statuses() == {"R-1": "SUCCEEDED"}


def test_a_refund_that_is_pending_ends_with_its_callback(shop: httpx2.Client, ours: Ours) -> None:
    simulator, _ = ours
    number = paid(shop, simulator, "O-1")
    for refund_no, end in (("R-1", "pending"), ("R-2", "fail")):
        switches: dict[str, Any] = {end: 0.1}
        simulator.set("refund", **switches)
        refund(shop, "O-1", refund_no, 100)
        tasks.carry_out_refunds()
    simulator.clock.pass_(1)
    simulator.wait_until_sent(number)

    def ended() -> bool:
        return statuses() == {"R-1": "SUCCEEDED", "R-2": "FAILED"}

    until(ended)


def test_a_payment_that_no_callback_tells_is_found_by_asking(
    shop: httpx2.Client, ours: Ours
) -> None:
    simulator, _ = ours
    paid(shop, simulator, "O-1", drop_callback=1)
    assert Order.objects.get(order_no="O-1").status == "WAIT_PAY"

    Order.objects.update(created_at=simulator.clock() - FIRST_AFTER - timedelta(minutes=1))
    tasks.poll()

    assert Order.objects.get(order_no="O-1").status == "PAID"
