import json
from typing import Any

import pytest

from payments.callback import Callback, Kind, Unreadable
from payments.providers.port import Reply, Verified
from tests.providers.hmac_senders import GOCARDLESS, read


def event(number: int = 1, action: str = "confirmed", **changes: Any) -> dict[str, Any]:
    return {
        "id": f"EV{number}",
        "created_at": "2025-12-31T23:59:00.000Z",
        "resource_type": "payments",
        "action": action,
        "links": {"payment": f"PM{number}"},
        "metadata": {},
        **changes,
    }


def one(told: dict[str, Any], **settings: Any) -> Callback:
    (reading,) = read(GOCARDLESS, {"events": [told]}, **settings)
    assert isinstance(reading, Callback), reading
    return reading


def test_a_confirmed_payment_is_paid_and_only_the_api_knows_how_much() -> None:
    callback = one(event(resource_metadata={"order_no": "O-1"}))
    assert (callback.kind, callback.txn_no, callback.order_no) == (Kind.PAID, "PM1", "O-1")
    assert callback.money is None
    assert callback.needs_api
    assert callback.occurred_at is not None


def test_the_order_number_is_where_the_account_says() -> None:
    told = event(resource_metadata={"cart": "C-9", "order_id": "O-1"})
    assert one(told).order_no == "O-1"
    assert one(told, order="/resource_metadata/cart").order_no == "C-9"


def test_a_batch_of_250_is_read_in_its_order() -> None:
    body = json.dumps({"events": [event(n) for n in range(250)]}).encode()
    request = GOCARDLESS.signed(body)
    assert GOCARDLESS.authenticate(request) == Verified("k0")
    readings = GOCARDLESS.provider.read(request, GOCARDLESS.account)
    assert [reading.event_id for reading in readings] == [f"EV{n}" for n in range(250)]
    assert all(isinstance(reading, Callback) for reading in readings)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        7,
        [],
        {},
        {"id": "EV2"},
        event(2, links={}),
        event(2, links="none"),
        {**event(2), "action": 9},
        event(2, created_at=[], links={"payment": "not an id"}),
        event(2, resource_metadata={"order_no": "not an order number"}),
    ],
)
def test_one_bad_event_never_fails_its_batch(bad: Any) -> None:
    first, second, third = read(GOCARDLESS, {"events": [event(1), bad, event(3)]})
    assert isinstance(second, Unreadable)
    assert second.event_id
    assert [first.event_id, third.event_id] == ["EV1", "EV3"]
    assert all(isinstance(reading, Callback) for reading in (first, third))


def test_an_event_with_a_repeated_action_is_unreadable_alone() -> None:
    text = json.dumps({"events": [event(1), event(2)]})
    doubled = text.replace('"action": "confirmed"', '"action": "failed", "action": "confirmed"', 1)
    request = GOCARDLESS.signed(doubled.encode())
    first, second = GOCARDLESS.provider.read(request, GOCARDLESS.account)
    assert isinstance(first, Unreadable)
    assert isinstance(second, Callback)


def test_events_without_an_id_are_told_apart() -> None:
    first, second = read(GOCARDLESS, {"events": [event(1, id=None), event(1, id=None)]})
    assert first.event_id != second.event_id


def test_a_batch_without_events_is_acknowledged_and_ignored() -> None:
    (reading,) = read(GOCARDLESS, {"events": []})
    assert isinstance(reading, Callback)
    assert reading.kind is Kind.IGNORED


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("created", Kind.PENDING),
        ("submitted", Kind.PENDING),
        ("resubmission_requested", Kind.PENDING),
        ("confirmed", Kind.PAID),
        ("failed", Kind.FAILED),
        ("late_failure_settled", Kind.FAILED),
        ("customer_approval_denied", Kind.FAILED),
        ("cancelled", Kind.CLOSED),
        ("charged_back", Kind.DISPUTED),
        ("chargeback_cancelled", Kind.DISPUTE_WON),
        ("chargeback_settled", Kind.DISPUTE_LOST),
        ("paid_out", Kind.IGNORED),
        ("customer_approval_granted", Kind.IGNORED),
    ],
)
def test_a_payments_action_has_its_meaning(action: str, kind: Kind) -> None:
    assert one(event(action=action)).kind is kind


@pytest.mark.parametrize(
    ("action", "kind"),
    [
        ("created", Kind.PENDING),
        ("paid", Kind.REFUNDED),
        ("failed", Kind.REFUND_FAILED),
        ("bounced", Kind.REFUND_FAILED),
        ("funds_returned", Kind.REFUND_FAILED),
    ],
)
def test_a_refunds_action_has_its_meaning(action: str, kind: Kind) -> None:
    links = {"refund": "RF1", "payment": "PM1"}
    callback = one(event(action=action, resource_type="refunds", links=links))
    assert (callback.kind, callback.txn_no, callback.linked_nos) == (kind, "RF1", ("PM1",))


@pytest.mark.parametrize("resource", ["mandates", "payouts", "subscriptions", "billing_requests"])
def test_events_of_other_resources_are_ignored(resource: str) -> None:
    assert one(event(resource_type=resource)).kind is Kind.IGNORED


def test_a_partners_webhook_names_the_organisation() -> None:
    assert one(event(links={"payment": "PM1", "organisation": "OR1"})).account_no == "OR1"


def test_a_wrong_signature_is_answered_as_gocardless_asks() -> None:
    assert GOCARDLESS.provider.acknowledge(Reply.REJECTED).status == 498
