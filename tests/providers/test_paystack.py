from typing import Any

import pytest

from orders.money import Money
from payments.callback import Kind, Unreadable
from tests.providers.hmac_senders import PAYSTACK, read, read_one

CHARGE: dict[str, Any] = {
    "id": 302961,
    "domain": "live",
    "status": "success",
    "reference": "O-1",
    "amount": 10000,
    "fees": 150,
    "currency": "NGN",
    "paid_at": "2025-12-31T23:59:50.000Z",
}
REFUND: dict[str, Any] = {
    "status": "processed",
    "transaction_reference": "O-1",
    "refund_reference": "RF1",
    "amount": "5000",
    "currency": "NGN",
    "domain": "live",
}
DISPUTE: dict[str, Any] = {
    "id": 2867,
    "refund_amount": 10000,
    "currency": "NGN",
    "domain": "live",
    "transaction": {"id": 302961, "reference": "O-1", "amount": 10000, "currency": "NGN"},
}


def event(event_type: str, data: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"event": event_type, "data": {**data, **changes}}


def test_a_charge_is_the_transaction_and_the_merchants_reference_is_the_order() -> None:
    callback = read_one(PAYSTACK, event("charge.success", CHARGE))
    assert (callback.kind, callback.txn_no, callback.order_no) == (Kind.PAID, "302961", "O-1")
    assert (callback.money, callback.live) == (Money(10000, "NGN"), True)
    assert callback.linked_nos == ("O-1",)
    assert callback.occurred_at is not None


def test_the_signed_domain_is_the_mode() -> None:
    assert read_one(PAYSTACK, event("charge.success", CHARGE, domain="test")).live is False
    (reading,) = read(PAYSTACK, event("charge.success", CHARGE, domain="staging"))
    assert isinstance(reading, Unreadable)


def test_a_refunds_amount_is_text_and_it_is_linked_by_the_reference() -> None:
    callback = read_one(PAYSTACK, event("refund.processed", REFUND))
    assert (callback.txn_no, callback.money) == ("RF1", Money(5000, "NGN"))
    assert (callback.order_no, callback.linked_nos) == ("O-1", ("O-1",))


def test_two_refunds_of_one_payment_are_never_one() -> None:
    """A processed refund without a number of its own is kept for a person."""
    (reading,) = read(PAYSTACK, event("refund.processed", REFUND, refund_reference=None))
    assert isinstance(reading, Unreadable)
    pending = read_one(PAYSTACK, event("refund.pending", REFUND, refund_reference=None))
    assert (pending.kind, pending.txn_no) == (Kind.PENDING, "O-1")


def test_amounts_in_cfa_francs_are_in_hundredths_that_do_not_exist() -> None:
    callback = read_one(PAYSTACK, event("charge.success", CHARGE, currency="XOF"))
    assert str(callback.money) == "100 XOF"


def test_a_fraction_of_a_currency_without_decimals_is_not_rounded() -> None:
    callback = read_one(PAYSTACK, event("charge.success", CHARGE, currency="XOF", amount=10050))
    assert (callback.money, callback.stated_amount) == (None, "10050 XOF")


def test_a_fee_that_the_customer_bears_is_not_owed_to_the_merchant() -> None:
    paid = event("charge.success", CHARGE, amount=10150)
    assert read_one(PAYSTACK, paid).money == Money(10150, "NGN")
    assert read_one(PAYSTACK, paid, customer_bears_fee=True).money == Money(10000, "NGN")


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        (event("charge.failed", CHARGE), Kind.FAILED),
        (event("refund.pending", REFUND), Kind.PENDING),
        (event("refund.processing", REFUND), Kind.PENDING),
        (event("refund.needs-attention", REFUND), Kind.PENDING),
        (event("refund.failed", REFUND), Kind.REFUND_FAILED),
        (event("charge.dispute.create", DISPUTE), Kind.DISPUTED),
        (event("charge.dispute.resolve", DISPUTE, resolution="declined"), Kind.DISPUTE_WON),
        (
            event("charge.dispute.resolve", DISPUTE, resolution="merchant-accepted"),
            Kind.DISPUTE_LOST,
        ),
        (event("charge.dispute.resolve", DISPUTE, resolution="another"), Kind.PENDING),
        (event("charge.dispute.remind", DISPUTE), Kind.IGNORED),
        (event("transfer.success", CHARGE), Kind.IGNORED),
    ],
)
def test_an_event_has_its_meaning(told: dict[str, Any], kind: Kind) -> None:
    assert read_one(PAYSTACK, told).kind is kind


def test_a_dispute_states_what_is_asked_back_and_names_its_payment() -> None:
    callback = read_one(PAYSTACK, event("charge.dispute.create", DISPUTE))
    assert (callback.txn_no, callback.money) == ("2867", Money(10000, "NGN"))
    assert callback.linked_nos == ("302961", "O-1")
