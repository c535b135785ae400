"""In which order things may be told, and how often."""

import itertools
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection

from orders import expiry
from orders.models import Order
from orders.money import Money
from orders.place import place
from payments import parked
from payments.models import Conflict, Delivery
from tests.journeys.shop import Shop, at_once, conflicts, events, outcomes, transactions
from tests.payments.over_http import call, custom_body, number, stripe_paid
from tests.signing import stripe_event
from tests.wire import send

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_a_callback_that_is_faster_than_its_order_waits_for_it(shop: Shop) -> None:
    assert shop.tell(stripe_paid("O-2")) == "PARKED"
    assert events() == []

    assert shop.place("O-2") == "PAID"
    assert (outcomes(), events()) == (["PARKED"], ["order.paid"])


def _being_placed(shop: Shop, order_no: str) -> tuple[threading.Thread, threading.Event]:
    """An order whose transaction stays open until the event is set."""
    inserted, let_go = threading.Event(), threading.Event()

    def hold(order: Order, now: datetime) -> None:
        inserted.set()
        let_go.wait(20)
        parked.apply_to(order, now)

    def run() -> None:
        money = Money(1099, "USD")
        place(
            merchant=shop.merchant,
            order_no=order_no,
            money=money,
            expires_at=None,
            payable_through="",
            now=NOW,
            on_placed=hold,
        )
        connection.close()

    placing = threading.Thread(target=run)
    placing.start()
    assert inserted.wait(10)
    return placing, let_go


def test_a_callback_during_the_transaction_that_creates_its_order_pays_it(shop: Shop) -> None:
    placing, let_go = _being_placed(shop, "O-2")
    threading.Timer(0.3, let_go.set).start()

    assert shop.tell(stripe_paid("O-2")) == "APPLIED"

    placing.join()
    assert (shop.status("O-2"), events()) == ("PAID", ["order.paid"])


def test_a_callback_that_cannot_wait_for_its_order_is_put_off_not_lost(shop: Shop) -> None:
    placing, let_go = _being_placed(shop, "O-2")
    body = stripe_paid("O-2")

    answer = shop.post(body)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    let_go.set()
    placing.join()
    assert outcomes() == []

    assert shop.tell(body) == "APPLIED"
    assert (shop.status("O-2"), events()) == ("PAID", ["order.paid"])


def _attempt(order_no: str, event_type: str, txn_no: str, at: datetime) -> bytes:
    return stripe_paid(
        order_no, 2000, "eur", event_type=event_type, txn_no=txn_no, created=int(at.timestamp())
    )


def test_what_failed_or_expired_does_not_undo_what_was_paid(shop: Shop) -> None:
    shop.place("O-4", 2000, "EUR")
    hour, month = timedelta(hours=1), timedelta(days=30)
    failed, expired = "payment_intent.payment_failed", "payment_intent.canceled"
    told = [
        _attempt("O-4", "payment_intent.succeeded", "pi_2", NOW),
        _attempt("O-4", failed, "pi_1", NOW - hour),
        _attempt("O-4", expired, "pi_1", NOW + month),
        _attempt("O-4", failed, "pi_2", NOW - hour),
        _attempt("O-4", "payment_intent.processing", "pi_2", NOW + hour),
    ]

    assert [shop.tell(body) for body in told] == [
        *("APPLIED", "RECORDED", "RECORDED", "RECORDED STALE", "RECORDED STALE")
    ]
    assert (shop.status("O-4"), events(), conflicts()) == ("PAID", ["order.paid"], [])
    assert Delivery.objects.count() == 5


def test_an_order_whose_first_attempt_failed_is_paid_by_the_second(shop: Shop) -> None:
    shop.place("O-4", 2000, "EUR")
    told = [
        _attempt("O-4", "payment_intent.payment_failed", "pi_1", NOW),
        _attempt("O-4", "payment_intent.payment_failed", "pi_2", NOW),
        _attempt("O-4", "payment_intent.succeeded", "pi_2", NOW),
    ]

    assert [shop.tell(body) for body in told] == ["RECORDED", "RECORDED", "APPLIED"]
    assert (shop.status("O-4"), events()) == ("PAID", ["order.paid"])


def test_twenty_copies_at_once_are_all_acknowledged_and_pay_once(shop: Shop) -> None:
    shop.place("O-6")
    raw = call(shop.stripe, stripe_paid("O-6"))

    answers = at_once(*[lambda: send(shop.url, raw)] * 20)

    assert {(answer.status, answer.body) for answer in answers} == {(200, b"ok")}
    assert sorted(outcomes()) == ["APPLIED", *["DUPLICATE"] * 19]
    assert len(transactions()) == 1
    assert (shop.status("O-6"), events(), conflicts()) == ("PAID", ["order.paid"], [])


@pytest.mark.parametrize("amount", [2500, 3000])
def test_one_transaction_never_pays_two_orders(shop: Shop, amount: int) -> None:
    shop.place("O-20a", 2500)
    shop.place("O-20b", amount)

    assert shop.tell(stripe_paid("O-20a", 2500, txn_no="pi_7")) == "APPLIED"
    assert shop.tell(stripe_paid("O-20b", amount, txn_no="pi_7")) == "CONFLICT TRANSACTION_ALTERED"

    assert [shop.status("O-20a"), shop.status("O-20b")] == ["PAID", "WAIT_PAY"]
    assert transactions() == [("pi_7", 2500, "USD", "APPLIED")]
    assert events() == ["conflict.opened", "order.paid"]
    conflict = Conflict.objects.get()
    assert (conflict.expected["order_no"], conflict.received["order_no"]) == ("O-20a", "O-20b")


def test_a_second_payment_is_kept_whole_and_asks_a_person(shop: Shop) -> None:
    shop.place("O-21", 6000, "EUR")
    other_provider = custom_body("O-21", amount=6000, currency="EUR", payment_id="pay_9")

    assert shop.tell(stripe_paid("O-21", 6000, "eur", txn_no="pi_1")) == "APPLIED"
    assert [
        shop.tell(stripe_paid("O-21", 6000, "eur", txn_no="pi_2")),
        shop.tell(other_provider, shop.custom),
    ] == ["CONFLICT DUPLICATE_PAYMENT"] * 2

    assert transactions() == [
        ("pi_1", 6000, "EUR", "APPLIED"),
        ("pi_2", 6000, "EUR", "HELD"),
        ("pay_9", 6000, "EUR", "HELD"),
    ]
    assert events() == [*["conflict.opened"] * 2, "order.paid"]
    surplus = [conflict.received["txn_no"] for conflict in Conflict.objects.order_by("id")]
    assert surplus == ["pi_2", "pay_9"]
    assert Order.objects.get().paid_txn_no == "pi_1"


def test_two_payments_at_the_same_instant_pay_once(shop: Shop) -> None:
    for turn in range(10):
        order_no = f"O-{turn}"
        shop.place(order_no)
        raws = [call(shop.stripe, stripe_paid(order_no)) for _ in range(2)]

        assert [answer.status for answer in at_once(*[_sent(shop, raw) for raw in raws])] == [
            200
        ] * 2
        assert sorted(outcomes()[-2:]) == ["APPLIED", "CONFLICT DUPLICATE_PAYMENT"]
    assert events() == [*["conflict.opened"] * 10, *["order.paid"] * 10]


def _sent(shop: Shop, raw: bytes) -> Callable[[], Any]:
    return lambda: send(shop.url, raw)


def test_a_browser_that_asks_meanwhile_sees_one_truth(shop: Shop) -> None:
    """The callback, another event of the same payment, and the page that the buyer returns to."""
    for turn in range(20):
        order_no = f"O-{turn}"
        shop.place(order_no)
        callback = stripe_paid(order_no, txn_no=f"pi_{order_no}")
        _, charge, _ = _three_events(order_no, 1099, f"pi_{order_no}")
        answers = at_once(
            _sent(shop, call(shop.stripe, callback)),
            _sent(shop, call(shop.stripe, charge)),
            partial(shop.read, order_no),
            partial(shop.read, order_no),
        )

        assert [answer.status for answer in answers[:2]] == [200] * 2
        for seen in answers[2:]:
            assert seen["status"] in {"WAIT_PAY", "PAID"}
            assert (seen["status"] == "PAID") is (seen["paid_txn_no"] == f"pi_{order_no}")
        # The charge names no order: if it comes first, its money waits for the other event.
        assert sorted(outcomes()[-2:]) in (["APPLIED", "DUPLICATE"], ["APPLIED", "PARKED"])
    assert events() == ["order.paid"] * 20


def _three_events(order_no: str, amount: int, intent: str) -> tuple[bytes, bytes, bytes]:
    """Checkout, charge and intent of one payment; only two of them name the order."""
    checkout = {
        "id": f"cs_{intent}",
        "object": "checkout.session",
        "payment_intent": intent,
        "payment_status": "paid",
        "client_reference_id": order_no,
        "amount_total": amount,
        "currency": "usd",
    }
    charge = {
        "id": f"ch_{intent}",
        "object": "charge",
        "payment_intent": intent,
        "paid": True,
        "captured": True,
        "amount": amount,
        "amount_captured": amount,
        "currency": "usd",
        "metadata": {},
    }
    return (
        stripe_event(
            "checkout.session.completed", checkout, event_id=f"evt_{number()}", livemode=True
        ),
        stripe_event("charge.succeeded", charge, event_id=f"evt_{number()}", livemode=True),
        stripe_paid(order_no, amount, txn_no=intent),
    )


def test_three_events_of_one_payment_pay_once_in_every_order(shop: Shop) -> None:
    for turn, order in enumerate(itertools.permutations(range(3))):
        order_no = f"O-{turn}"
        shop.place(order_no, 900)
        told = _three_events(order_no, 900, f"pi_{turn}")
        for which in order:
            shop.tell(told[which])
        assert (order, shop.status(order_no)) == (order, "PAID")

    assert Delivery.objects.count() == 18
    assert [row[0] for row in transactions()] == [f"pi_{turn}" for turn in range(6)]
    assert (events(), conflicts()) == (["order.paid"] * 6, [])
    linked = {number for row in Delivery.objects.filter(txn_no="pi_0") for number in row.linked_nos}
    assert linked == {"cs_pi_0", "ch_pi_0", "pi_0"}


def test_three_events_of_one_payment_pay_once_when_they_come_at_once(shop: Shop) -> None:
    for turn in range(10):
        order_no = f"O-{turn}"
        shop.place(order_no, 900)
        told = _three_events(order_no, 900, f"pi_{turn}")
        answers = at_once(*[_sent(shop, call(shop.stripe, body)) for body in told])

        assert [answer.status for answer in answers] == [200] * 3
        assert (turn, shop.status(order_no)) == (turn, "PAID")
    assert (len(transactions()), events(), conflicts()) == (10, ["order.paid"] * 10, [])


def _session(order_no: str, event_type: str, payment_status: str) -> bytes:
    session = {
        "id": f"cs_{order_no}",
        "object": "checkout.session",
        "payment_intent": f"pi_{order_no}",
        "payment_status": payment_status,
        "client_reference_id": order_no,
        "amount_total": 1099,
        "currency": "usd",
    }
    return stripe_event(event_type, session, event_id=f"evt_{number()}", livemode=True)


def test_a_completed_checkout_is_not_paid_until_the_money_came(shop: Shop) -> None:
    for order_no in ("O-paid", "O-failed"):
        shop.place(order_no)
        completed = _session(order_no, "checkout.session.completed", "unpaid")
        assert shop.tell(completed) == "RECORDED"
        assert (shop.status(order_no), transactions(), events()) == ("WAIT_PAY", [], [])

    failed = _session("O-failed", "checkout.session.async_payment_failed", "unpaid")
    assert (shop.tell(failed), shop.status("O-failed")) == ("RECORDED", "WAIT_PAY")
    paid = _session("O-paid", "checkout.session.async_payment_succeeded", "paid")
    assert (shop.tell(paid), shop.status("O-paid")) == ("APPLIED", "PAID")
    # Whoever failed may still pay another way.
    assert shop.tell(stripe_paid("O-failed")) == "APPLIED"
    assert events() == ["order.paid"] * 2


@pytest.mark.parametrize("closed_by", ["expiry", "the merchant"])
def test_money_for_a_closed_order_is_never_told_as_paid(shop: Shop, closed_by: str) -> None:
    expires_at = datetime.fromtimestamp(time.time(), UTC) + timedelta(minutes=5)
    content = {
        "order_no": "O-1",
        "amount": {"amount_minor": 1099, "currency": "USD"},
        "expires_at": expires_at.isoformat(),
    }
    assert shop.api("POST", "/v1/orders", content).status_code == 201
    if closed_by == "expiry":
        assert expiry.expire_due(now=expires_at) == 1
    else:
        assert shop.api("POST", "/v1/orders/O-1/close").status_code == 200

    body = stripe_paid("O-1")
    assert [shop.tell(body), shop.tell(body)] == ["CONFLICT LATE_PAYMENT", "DUPLICATE"]

    assert (shop.status("O-1"), shop.read("O-1")["status"]) == ("CLOSED", "CLOSED")
    assert "order.paid" not in events()
    assert (events().count("conflict.opened"), transactions()[0][3]) == (1, "HELD")


WRITES = {
    "delivery": "payments_delivery",
    "transaction": "payments_providertransaction",
    "order": "orders_order",
    "event": "outbox_event",
}


@pytest.mark.parametrize("write", WRITES)
def test_no_part_of_a_payment_stays_without_the_others(shop: Shop, write: str) -> None:
    """Whichever write fails: nothing has happened, and the repeat does all of it."""
    shop.place("O-9")
    body = stripe_paid("O-9")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'as a test wants it'; END $$"
        )
        cursor.execute(
            f"CREATE TRIGGER fail AFTER INSERT OR UPDATE ON {WRITES[write]}"
            " FOR EACH ROW EXECUTE FUNCTION fail()"
        )
        try:
            answer = shop.post(body)
        finally:
            cursor.execute("DROP FUNCTION fail() CASCADE")

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert (outcomes(), transactions(), events()) == ([], [], [])
    assert shop.status("O-9") == "WAIT_PAY"

    assert shop.tell(body) == "APPLIED"
    assert (shop.status("O-9"), events()) == ("PAID", ["order.paid"])


def test_a_merchant_who_names_the_account_is_paid_through_no_other(shop: Shop) -> None:
    content = {
        "order_no": "O-30",
        "amount": {"amount_minor": 1099, "currency": "USD"},
        "payable_through": shop.stripe.endpoint,
    }
    assert shop.api("POST", "/v1/orders", content).status_code == 201

    assert shop.tell(custom_body("O-30"), shop.custom) == "CONFLICT MERCHANT_MISMATCH"
    assert shop.tell(stripe_paid("O-30")) == "APPLIED"
