"""What a test tells is held against its schema: each way to disagree is noticed."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import transaction

from orders.events import ORDER_PAID
from outbox.events import emit
from tests import told

PAYLOAD = {
    "order_no": "O-1",
    "merchant": "shop",
    "status": "PAID",
    "amount": {"amount_minor": 1099, "currency": "USD"},
    "version": 1,
    "paid_txn_no": "pi_1",
    "paid_at": "2026-03-01T12:00:00Z",
    "closed_at": None,
}


def unfit(**changes: Any) -> list[str]:
    """What is wrong with an order.paid of this payload, or of another schema."""
    names = ORDER_PAID.names
    names["dataschema"] = changes.pop("dataschema", names["dataschema"])
    with transaction.atomic():
        emit(
            aggregate_id="shop/O-1",
            seq=1,
            payload={name: value for name, value in (PAYLOAD | changes).items() if value != ""},
            at=datetime(2026, 3, 1, tzinfo=UTC),
            **names,
        )
        found = told.unfit()
        transaction.set_rollback(True)
    return found


@pytest.mark.django_db(transaction=True)
def test_an_event_that_agrees_is_fit() -> None:
    assert unfit() == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"closed_at": ""}, "'closed_at' is a required property"),
        ({"channel": "web"}, "'channel' was unexpected"),
        ({"version": "1"}, "'1' is not of type 'integer'"),
        ({"status": "MAYBE"}, "'MAYBE' is not one of"),
        ({"paid_at": "yesterday"}, "'yesterday' is not a 'date-time'"),
        ({"amount": {"amount_minor": -1, "currency": "USD"}}, "-1 is less than the minimum of 0"),
        ({"amount": {"amount_minor": 1, "currency": "usd"}}, "'usd' does not match"),
        ({"dataschema": "urn:paidonce:event:order.lost:1"}, "is not among"),
    ],
    ids=str,
)
def test_an_event_that_disagrees_is_noticed(changes: dict[str, Any], complaint: str) -> None:
    (found,) = unfit(**changes)

    assert complaint in found
