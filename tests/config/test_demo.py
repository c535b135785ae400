"""What the demo shows of idempotency keys, against the real web server."""

from config.demo import one_key
from orders.models import Order
from tests.orders.client import ApiClient


def test_twenty_requests_with_one_key_from_four_processes_are_one_execution(
    live_service: str,
) -> None:
    answers = one_key.send(
        one_key.Order(
            url=f"{live_service}/v1/orders",
            headers=ApiClient().headers | {"Idempotency-Key": "k"},
            content={"order_no": "A-1", "amount": {"amount_minor": 1099, "currency": "USD"}},
        )
    )

    assert one_key.statuses(answers) == {201: one_key.PROCESSES * one_key.EACH}
    assert one_key.summary(answers) == "businessExecutions=1 distinctResults=1"
    assert Order.objects.count() == 1


def test_the_summary_counts_what_was_done_twice_and_what_differs() -> None:
    answers = [
        one_key.Answer(201, b"a", replayed=False),
        one_key.Answer(201, b"b", replayed=False),
        one_key.Answer(409, b"b", replayed=True),
    ]

    assert one_key.summary(answers) == "businessExecutions=2 distinctResults=3"
