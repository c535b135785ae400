from typing import Any

import pytest

from orders.money import Money
from payments.callback import Callback, Kind
from tests.providers.hmac_senders import RAZORPAY, read, read_one

PAYMENT: dict[str, Any] = {
    "id": "pay_1",
    "amount": 1099,
    "currency": "INR",
    "status": "captured",
    "order_id": "order_1",
    "captured": True,
    "fee": 99,
    "tax": 15,
    "notes": {"order_no": "O-1"},
}
ORDER = {"id": "order_1", "amount": 1099, "amount_paid": 1099, "receipt": "R-1"}
REFUND = {
    "id": "rfnd_1",
    "amount": 500,
    "currency": "INR",
    "payment_id": "pay_1",
    "status": "processed",
}
DISPUTE = {"id": "disp_1", "amount": 1099, "currency": "INR", "payment_id": "pay_1"}
LINK = {"id": "plink_1", "order_id": "order_1", "amount": 1099, "currency": "INR"}


def event(event_type: str, **things: Any) -> dict[str, Any]:
    return {
        "entity": "event",
        "account_id": "acc_1",
        "event": event_type,
        "payload": {name: {"entity": thing} for name, thing in things.items()},
        "created_at": 1767225591,
    }


def test_a_payment_is_one_transaction_whichever_events_tell_it() -> None:
    told = [
        read_one(RAZORPAY, event("payment.captured", payment=PAYMENT)),
        read_one(RAZORPAY, event("order.paid", payment=PAYMENT, order=ORDER)),
        read_one(RAZORPAY, event("invoice.paid", payment=PAYMENT, invoice={"id": "inv_1"})),
        read_one(RAZORPAY, event("payment_link.paid", payment=PAYMENT, payment_link=LINK)),
    ]
    facts = {(c.kind, c.txn_no, c.order_no, c.money, c.account_no) for c in told}
    assert facts == {(Kind.PAID, "pay_1", "order_1", Money(1099, "INR"), "acc_1")}
    assert len({callback.event_id for callback in told}) == 4


def test_the_order_number_is_where_the_account_says() -> None:
    paid = event("order.paid", payment=PAYMENT, order=ORDER)
    for pointer, number in (
        ("/payload/payment/entity/notes/order_no", "O-1"),
        ("/payload/order/entity/receipt", "R-1"),
    ):
        assert read_one(RAZORPAY, paid, order=pointer).order_no == number


def test_the_event_id_in_the_header_is_not_signed_and_not_used() -> None:
    paid = event("payment.captured", payment=PAYMENT)
    headers = {"x-razorpay-event-id": "evt_of_somebody"}
    assert read(RAZORPAY, paid, headers=headers) == read(RAZORPAY, paid)


def test_a_fee_that_the_customer_bears_is_not_owed_to_the_merchant() -> None:
    paid = event("payment.captured", payment=PAYMENT)
    assert read_one(RAZORPAY, paid).money == Money(1099, "INR")
    assert read_one(RAZORPAY, paid, customer_bears_fee=True).money == Money(1000, "INR")


def test_a_currency_with_three_decimals_is_read_in_thousandths() -> None:
    paid = event("payment.captured", payment={**PAYMENT, "amount": 10990, "currency": "KWD"})
    money = read_one(RAZORPAY, paid).money
    assert str(money) == "10.990 KWD"


@pytest.mark.parametrize(
    ("told", "kind", "number"),
    [
        (event("payment.authorized", payment=PAYMENT), Kind.AUTHORIZED, "pay_1"),
        (event("payment.pending", payment=PAYMENT), Kind.PENDING, "pay_1"),
        (event("payment.failed", payment=PAYMENT), Kind.FAILED, "pay_1"),
        (event("payment_link.expired", payment_link=LINK), Kind.CLOSED, "plink_1"),
        (event("payment_link.cancelled", payment_link=LINK), Kind.CLOSED, "plink_1"),
        (event("refund.created", refund=REFUND, payment=PAYMENT), Kind.REFUNDED, "rfnd_1"),
        (
            event("refund.created", refund={**REFUND, "status": "pending"}, payment=PAYMENT),
            Kind.PENDING,
            "rfnd_1",
        ),
        (event("refund.processed", refund=REFUND, payment=PAYMENT), Kind.REFUNDED, "rfnd_1"),
        (event("refund.failed", refund=REFUND, payment=PAYMENT), Kind.REFUND_FAILED, "rfnd_1"),
        (
            event("payment.dispute.created", dispute=DISPUTE, payment=PAYMENT),
            Kind.DISPUTED,
            "disp_1",
        ),
        (event("payment.dispute.won", dispute=DISPUTE), Kind.DISPUTE_WON, "disp_1"),
        (event("payment.dispute.lost", dispute=DISPUTE), Kind.DISPUTE_LOST, "disp_1"),
        (
            event("payment.dispute.closed", dispute={**DISPUTE, "amount_deducted": 0}),
            Kind.DISPUTE_WON,
            "disp_1",
        ),
        (
            event("payment.dispute.closed", dispute={**DISPUTE, "amount_deducted": 1099}),
            Kind.DISPUTE_LOST,
            "disp_1",
        ),
    ],
)
def test_an_event_has_its_meaning(told: dict[str, Any], kind: Kind, number: str) -> None:
    callback = read_one(RAZORPAY, told)
    assert (callback.kind, callback.txn_no) == (kind, number)


@pytest.mark.parametrize("event_type", ["payment_link.partially_paid", "refund.speed_changed"])
def test_what_says_nothing_of_money_is_ignored(event_type: str) -> None:
    assert read_one(RAZORPAY, event(event_type, payment=PAYMENT)).kind is Kind.IGNORED


def test_a_refund_states_its_own_amount_and_its_payment() -> None:
    callback = read_one(RAZORPAY, event("refund.processed", refund=REFUND, payment=PAYMENT))
    assert (callback.money, callback.linked_nos) == (Money(500, "INR"), ("pay_1",))


@pytest.mark.parametrize("event_type", ["refund.created", "refund.processed", "refund.failed"])
def test_giving_back_what_was_never_captured_is_no_refund(event_type: str) -> None:
    uncaptured = {**PAYMENT, "captured": False}
    (reading,) = read(RAZORPAY, event(event_type, refund=REFUND, payment=uncaptured))
    assert isinstance(reading, Callback)
    assert reading.kind is Kind.CLOSED
