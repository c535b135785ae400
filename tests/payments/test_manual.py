"""An order that was paid outside of any provider is paid once, by whom and why is known."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from audit.models import AuditEntry
from orders.models import Order
from outbox.models import Event
from payments.conflicts.people import Person
from payments.conflicts.refusals import DoesNotFit, NoReason, NotAllowed
from payments.manual import recording
from payments.models import (
    Conflict,
    ManualPayment,
    ManualStatus,
    ProviderAccount,
    ProviderTransaction,
)
from payments.refunds import request
from payments.refunds.access import clients
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import LATER, somebody
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def order(account: ProviderAccount) -> Order:
    """Of 10.99 USD."""
    return deciding.order_of(account)


@pytest.fixture
def alice() -> Person:
    return somebody("alice", "reviewer")


@pytest.fixture
def bob() -> Person:
    return somebody("bob", "approver")


def record(order: Order, who: Person, **values: Any) -> ManualPayment:
    usual: dict[str, Any] = {
        "note": "cash, receipt 7",
        "seen": order.version,
        "person": who,
        "now": NOW,
    }
    return recording.record(order.pk, **usual | values)


def tried() -> list[tuple[str, str]]:
    rows = AuditEntry.objects.filter(action__startswith="manual_payment").order_by("seq")
    return list(rows.values_list("action", "actor"))


def test_up_to_the_amount_one_person_pays_it_once_with_a_row_an_event_and_an_entry(
    account: ProviderAccount, order: Order, alice: Person
) -> None:
    deciding.alone_up_to(account.merchant, 1099)

    made = record(order, alice)

    with pytest.raises(DoesNotFit, match="Order 1001 is PAID by manual-1001"):
        record(order, alice)
    money = ProviderTransaction.objects.get()
    assert (money.txn_no, money.disposition, money.order_id) == ("manual-1001", "APPLIED", order.pk)
    assert (money.account.endpoint, money.account.active) == (f"manual/{account.merchant}", False)
    assert (made.status, made.transaction_id, made.decided_by_id) == (
        "BOOKED",
        money.pk,
        alice.user_id,
    )
    order.refresh_from_db()
    assert (order.status, order.paid_txn_no, order.version) == ("PAID", "manual-1001", 1)
    assert Event.objects.filter(type="order.paid").count() == 1
    assert tried() == [("manual_payment.booked", "alice"), ("manual_payment.refused", "alice")]
    entry = AuditEntry.objects.get(action="manual_payment.booked")
    assert (entry.object_type, entry.why) == ("order", "cash, receipt 7")
    assert entry.after["amount_minor"] == 1099
    assert_books_balance()


def test_above_the_amount_another_approves_it(
    account: ProviderAccount, order: Order, alice: Person, bob: Person
) -> None:
    deciding.alone_up_to(account.merchant, 1098)
    waiting = record(order, alice)
    assert (waiting.status, waiting.needs_two) == ("PROPOSED", True)
    assert not ProviderTransaction.objects.exists()
    with pytest.raises(DoesNotFit, match="waits for approval already"):
        record(order, alice)

    done = recording.approve(waiting.pk, person=bob, now=LATER)

    with pytest.raises(DoesNotFit, match="Order 1001 is PAID"):
        recording.approve(waiting.pk, person=bob, now=LATER)
    assert (done.status, done.decided_by_id) == ("BOOKED", bob.user_id)
    assert Order.objects.get(pk=order.pk).status == "PAID"
    assert Event.objects.filter(type="order.paid").count() == 1
    assert [action for action, _ in tried()] == [
        "manual_payment.proposed",
        "manual_payment.refused",
        "manual_payment.booked",
        "manual_payment.refused",
    ]
    assert_books_balance()


def test_nobody_approves_his_own_not_even_in_the_database(order: Order) -> None:
    both = somebody("alice", "reviewer", "approver")
    waiting = record(order, both)

    with pytest.raises(NotAllowed, match="another person must approve it"):
        recording.approve(waiting.pk, person=both, now=LATER)

    row = ManualPayment.objects.filter(pk=waiting.pk)
    values = {"status": "BOOKED", "decided_by_id": both.user_id, "decided_at": NOW}
    with pytest.raises(IntegrityError), transaction.atomic():
        row.update(**values)
    assert Order.objects.get(pk=order.pk).status == "WAIT_PAY"


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"status": "CLOSED", "closed_at": NOW, "version": 1}, "is CLOSED"),
        (
            {"status": "PAID", "paid_txn_no": "txn_A", "paid_at": NOW, "version": 1},
            "is PAID by txn_A",
        ),
        (
            {
                "status": "REFUNDED",
                "paid_txn_no": "txn_A",
                "paid_at": NOW,
                "refunded_minor": 1099,
                "version": 2,
            },
            "is REFUNDED",
        ),
    ],
)
def test_an_order_that_does_not_wait_is_refused_and_the_attempt_kept(
    account: ProviderAccount, alice: Person, values: dict[str, Any], says: str
) -> None:
    order = deciding.order_of(account, **values)

    with pytest.raises(DoesNotFit, match=says):
        record(order, alice)

    assert tried() == [("manual_payment.refused", "alice")]
    assert not ProviderTransaction.objects.exists()


@pytest.mark.parametrize("role", ["viewer", "approver", "operator", "admin"])
def test_who_only_reads_or_approves_marks_nothing(order: Order, role: str) -> None:
    with pytest.raises(NotAllowed):
        record(order, somebody("carol", role))
    assert tried() == [("manual_payment.refused", "carol")]


def test_it_needs_a_note_and_the_order_as_it_was_seen(order: Order, alice: Person) -> None:
    with pytest.raises(NoReason):
        record(order, alice, note="  ")
    Order.objects.filter(pk=order.pk).update(version=1)
    with pytest.raises(DoesNotFit, match="has moved since"):
        record(order, alice)
    with pytest.raises(recording.NoSuchPayment):
        recording.record(10**12, note="x", seen=0, person=alice, now=NOW)
    with pytest.raises(recording.NoSuchPayment):
        recording.approve(10**12, person=alice, now=NOW)


def test_a_callback_after_it_is_asked_about_as_a_duplicate(
    account: ProviderAccount, order: Order, alice: Person
) -> None:
    deciding.alone_up_to(account.merchant)
    record(order, alice)

    tell_one(account, callback(txn_no="txn_A"))

    conflict = Conflict.objects.get()
    assert (conflict.reason, conflict.expected["paid_txn_no"]) == (
        "DUPLICATE_PAYMENT",
        "manual-1001",
    )
    assert Event.objects.filter(type="order.paid").count() == 1
    assert_books_balance()


def test_a_callback_before_the_approval_makes_it_void(
    account: ProviderAccount, order: Order, alice: Person, bob: Person
) -> None:
    waiting = record(order, alice)
    tell_one(account, callback(txn_no="txn_A"))

    with pytest.raises(DoesNotFit, match="is PAID by txn_A"):
        recording.approve(waiting.pk, person=bob, now=LATER)

    assert recording.decline(waiting.pk, why="paid", person=bob, now=LATER).status == "REJECTED"
    assert ProviderTransaction.objects.count() == 1
    assert_books_balance()


def test_the_proposer_withdraws_and_another_rejects_and_it_may_be_tried_again(
    order: Order, alice: Person, bob: Person
) -> None:
    first = record(order, alice)
    with pytest.raises(NoReason):
        recording.decline(first.pk, why=" ", person=bob, now=LATER)
    with pytest.raises(NotAllowed):
        recording.decline(first.pk, why="x", person=somebody("carol", "reviewer"), now=LATER)
    withdrawn = recording.decline(first.pk, why="wrong order", person=alice, now=LATER)
    with pytest.raises(DoesNotFit, match="It is WITHDRAWN, by alice"):
        recording.approve(first.pk, person=bob, now=LATER)

    second = record(order, alice)
    rejected = recording.decline(second.pk, why="no receipt", person=bob, now=LATER)

    assert (withdrawn.status, rejected.status) == (ManualStatus.WITHDRAWN, ManualStatus.REJECTED)
    assert record(order, alice).status == ManualStatus.PROPOSED


def test_its_money_goes_back_where_it_came_from_and_not_through_here(
    account: ProviderAccount, order: Order, alice: Person
) -> None:
    deciding.alone_up_to(account.merchant)
    record(order, alice)
    asked = request.Asked(order_no="1001", refund_no="r1", money=None)

    with pytest.raises(request.NotRefundable, match="is not active"):
        request.request(
            merchant=account.merchant, asked=asked, now=LATER, client_for=clients(lambda: LATER)
        )
