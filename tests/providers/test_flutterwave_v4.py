from typing import Any

import pytest

from orders.money import Money
from payments.callback import Kind
from tests.providers.hmac_senders import FLUTTERWAVE_V4, read_one

CHARGE: dict[str, Any] = {
    "id": "chg_1",
    "amount": 200,
    "currency": "NGN",
    "reference": "O-1",
    "status": "succeeded",
}
REFUND: dict[str, Any] = {
    "id": "rfd_1",
    "charge_id": "chg_1",
    "amount_refunded": 50,
    "status": "succeeded",
}


def event(event_type: str, data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "webhook_id": "wbk_1",
        "timestamp": 1767225594000,
        "type": event_type,
        "data": {**data, **changes},
    }


@pytest.mark.parametrize(
    ("amount", "minor"), [(200, 20000), (200.5, 20050), (0.1, 10), (19.99, 1999)]
)
def test_amounts_are_exact_numbers_in_major_units(amount: float, minor: int) -> None:
    callback = read_one(FLUTTERWAVE_V4, event("charge.completed", CHARGE, amount=amount))
    assert callback.money == Money(minor, "NGN")


def test_too_many_decimals_are_not_rounded() -> None:
    callback = read_one(FLUTTERWAVE_V4, event("charge.completed", CHARGE, amount=200.005))
    assert (callback.money, callback.stated_amount) == (None, "200.005 NGN")


def test_what_the_customer_was_charged_on_top_is_not_owed_to_the_merchant() -> None:
    told = event("charge.completed", CHARGE, amount=20, charged_amount=20.4, app_fee=0.4)
    assert read_one(FLUTTERWAVE_V4, told).money == Money(2000, "NGN")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("succeeded", Kind.PAID),
        ("pending", Kind.PENDING),
        ("failed", Kind.FAILED),
        ("voided", Kind.CLOSED),
        ("successful", Kind.IGNORED),
    ],
)
def test_completed_is_not_paid_unless_the_status_says_so(status: str, kind: Kind) -> None:
    callback = read_one(FLUTTERWAVE_V4, event("charge.completed", CHARGE, status=status))
    assert callback.kind is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("new", Kind.PENDING),
        ("pending", Kind.PENDING),
        ("requires_action", Kind.PENDING),
        ("succeeded", Kind.REFUNDED),
        ("completed", Kind.REFUNDED),
        ("failed", Kind.REFUND_FAILED),
        ("cancelled", Kind.REFUND_FAILED),
    ],
)
def test_a_refund_states_no_currency_and_its_charge(status: str, kind: Kind) -> None:
    callback = read_one(FLUTTERWAVE_V4, event("refund.completed", REFUND, status=status))
    assert (callback.kind, callback.money) == (kind, None)
    assert (callback.txn_no, callback.linked_nos) == ("rfd_1", ("chg_1",))


def test_transfers_are_ignored() -> None:
    assert read_one(FLUTTERWAVE_V4, event("transfer.disburse", CHARGE)).kind is Kind.IGNORED
