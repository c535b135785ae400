"""Each resolution against each state: what is allowed does exactly its effect, the rest nothing."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from django.db import transaction

from audit.models import AuditEntry
from orders.models import Order, OrderStatus
from orders.money import Money
from outbox.models import Event
from payments.conflicts import options, seen
from payments.conflicts.checking import Wanted
from payments.conflicts.fitting import FITS
from payments.conflicts.follow_up import follow_up
from payments.conflicts.people import Person
from payments.conflicts.refusals import (
    AlreadyDecided,
    DoesNotFit,
    Moved,
    NoReason,
    Refused,
)
from payments.conflicts.resolve import resolve
from payments.models import (
    Conflict,
    ConflictReason,
    Disposition,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    Resolution,
)
from payments.refunds import carry_out, request
from tests.books import books
from tests.concurrency.deeds import place
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import LATER, can_send, decide, order_of, seen_now
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db


@pytest.fixture
def account() -> ProviderAccount:
    account = ProviderAccountFactory.create(name="main")
    deciding.alone_up_to(account.merchant)
    return account


@pytest.fixture
def alice() -> Person:
    return deciding.somebody("alice", "reviewer")


def paid_meanwhile(account: ProviderAccount, make: Callable[..., Conflict]) -> Conflict:
    """The right payment came after all."""
    conflict = make(account)
    tell_one(account, callback(txn_no="txn_right"))
    return conflict


def refund_under_way(account: ProviderAccount) -> Conflict:
    conflict = deciding.late(account)
    asked = request.Asked(
        order_no="1001",
        refund_no="R-1",
        payment="txn_A",
        money=Money(99, "USD"),
    )
    request.request(merchant=account.merchant, asked=asked, now=NOW)
    return conflict


def order_refunded(account: ProviderAccount) -> Conflict:
    conflict = deciding.duplicate(account)
    asked = request.Asked(order_no="1001", refund_no="R-1", money=None)
    request.request(merchant=account.merchant, asked=asked, now=NOW)
    carry_out.carry_out(ProviderDouble(), now=NOW)
    return conflict


def no_money(account: ProviderAccount) -> Conflict:
    order_of(account)
    tell_one(account, callback(money=None, stated_amount="10.999"))
    return Conflict.objects.get()


ACCEPT, RECEIVED, REFUND = Resolution.ACCEPT, Resolution.ACCEPT_RECEIVED, Resolution.REFUND
OWED = Resolution.ACCEPT_OWED
MATCH, NOT_OURS, DISMISS = Resolution.MATCH, Resolution.NOT_OURS, Resolution.DISMISS

#: How many events each tells: of the conflict, and of the order or the refund, or of both.
TELLS: Final = {ACCEPT: 2, RECEIVED: 2, REFUND: 2, MATCH: 2, OWED: 3}
#: Each state of conflict, order and money, and what may be decided in it.
STATES: Final[dict[str, tuple[Callable[[ProviderAccount], Conflict], set[Resolution]]]] = {
    "late": (deciding.late, {ACCEPT, REFUND, MATCH, NOT_OURS}),
    "too little": (deciding.mismatch, {RECEIVED, REFUND, MATCH, NOT_OURS}),
    "too much": (
        lambda account: deciding.mismatch(account, 1200),
        {RECEIVED, OWED, REFUND, MATCH, NOT_OURS},
    ),
    "too little, paid since": (
        lambda account: paid_meanwhile(account, deciding.mismatch),
        {REFUND, MATCH, NOT_OURS},
    ),
    "other currency": (deciding.currency, {REFUND, MATCH, NOT_OURS}),
    "other account": (deciding.merchant, {ACCEPT, REFUND, MATCH, NOT_OURS}),
    "duplicate": (deciding.duplicate, {REFUND, MATCH, NOT_OURS}),
    "duplicate, order refunded": (order_refunded, {REFUND, MATCH, NOT_OURS}),
    "no order": (deciding.parked, {REFUND, MATCH, NOT_OURS, DISMISS}),
    "told otherwise": (deciding.altered, {DISMISS}),
    "refund from elsewhere": (deciding.external, {DISMISS}),
    "no money": (no_money, {DISMISS}),
    "a part is going back": (refund_under_way, {REFUND, NOT_OURS}),
}


@pytest.mark.parametrize("state", STATES)
def test_every_resolution_in_every_state_does_its_effect_or_nothing(
    account: ProviderAccount, alice: Person, state: str
) -> None:
    make, fitting = STATES[state]
    conflict = make(account)
    other = deciding.payable_by(account, conflict)
    for how in Resolution:
        point = transaction.savepoint()
        (_is_done if how in fitting else _is_refused)(how, conflict.pk, other, alice)
        transaction.savepoint_rollback(point)


def _is_refused(how: Resolution, conflict_id: int, _: Order, alice: Person) -> None:
    before = books()

    with pytest.raises(DoesNotFit):
        decide(Conflict.objects.get(pk=conflict_id), how, alice, order_no=_order_no(how))

    assert books() == before
    assert _entries() == ["conflict.refused"]


def _is_done(how: Resolution, conflict_id: int, other: Order, alice: Person) -> None:
    conflict = Conflict.objects.get(pk=conflict_id)
    events = Event.objects.count()

    decide(conflict, how, alice, order_no=_order_no(how))

    EFFECTS[how](conflict, other)
    conflict.refresh_from_db()
    expected = "DISMISSED" if how is DISMISS else "RESOLVED"
    assert (conflict.status, conflict.decision, conflict.decided_as) == (expected, how, "PERSON")
    assert (conflict.decided_by_id, conflict.why) == (alice.user_id, "because")
    assert Event.objects.count() == events + TELLS.get(how, 1)
    told = Event.objects.get(
        aggregate_type="conflict", aggregate_id=str(conflict_id), seq=conflict.version
    )
    assert (told.type, told.payload["how"]) == ("conflict.resolved", how)
    assert _entries() == ["conflict.resolved"]
    assert_books_balance()


def _order_no(how: Resolution) -> str:
    return "2002" if how is MATCH else ""


def accepted(conflict: Conflict, _: Order) -> None:
    money, order = _money(conflict), _order(conflict)
    assert (money.disposition, money.order_id) == (Disposition.APPLIED, order.pk)
    assert (order.status, order.paid_txn_no, order.amount_minor) == ("PAID", "txn_A", 1099)
    assert (order.placed_minor, order.paid_at) == (None, NOW)


def accepted_as_received(conflict: Conflict, _: Order) -> None:
    money, order = _money(conflict), _order(conflict)
    assert (money.disposition, money.order_id) == (Disposition.APPLIED, order.pk)
    assert (order.status, order.amount_minor) == ("PAID", money.amount_minor)
    assert order.placed_minor == 1099
    told = Event.objects.get(type="order.paid")
    assert told.payload["amount"]["amount_minor"] == money.amount_minor


def accepted_as_owed(conflict: Conflict, other: Order) -> None:
    accepted_as_received(conflict, other)
    money, conflict = _money(conflict), Conflict.objects.get(pk=conflict.pk)
    refund = conflict.refund
    assert refund is not None
    assert (refund.amount_minor, refund.order_id, refund.status) == (
        money.amount_minor - 1099,
        conflict.order_id,
        "REQUESTED",
    )
    assert money.refund_reserved_minor == refund.amount_minor
    assert Event.objects.get(type="refund.requested").payload["refund_no"] == refund.refund_no


def refunded(conflict: Conflict, _: Order) -> None:
    money = _money(conflict)
    conflict.refresh_from_db()
    assert (money.disposition, money.refund_reserved_minor) == ("HELD", money.amount_minor)
    assert conflict.refund is not None
    assert conflict.refund.status == "REQUESTED"
    assert Event.objects.filter(type="refund.requested", payload__refund_no=_number(conflict))


def matched(conflict: Conflict, other: Order) -> None:
    other.refresh_from_db()
    money = _money(conflict)
    assert (money.disposition, money.order_id) == (Disposition.APPLIED, other.pk)
    assert (other.status, other.paid_txn_no) == ("PAID", "txn_A")


def left_held(conflict: Conflict, _: Order) -> None:
    assert (_money(conflict).disposition, Order.objects.filter(order_no="2002").get().status) == (
        "HELD",
        "WAIT_PAY",
    )


def left_as_it_was(conflict: Conflict, other: Order) -> None:
    before = conflict.transaction
    if before is not None:
        assert _money(conflict).disposition == before.disposition
    other.refresh_from_db()
    assert other.status == OrderStatus.WAIT_PAY


EFFECTS: Final[dict[Resolution, Callable[[Conflict, Order], None]]] = {
    ACCEPT: accepted,
    RECEIVED: accepted_as_received,
    OWED: accepted_as_owed,
    REFUND: refunded,
    MATCH: matched,
    NOT_OURS: left_held,
    DISMISS: left_as_it_was,
}


def _money(conflict: Conflict) -> ProviderTransaction:
    assert conflict.transaction_id is not None
    return ProviderTransaction.objects.get(pk=conflict.transaction_id)


def _order(conflict: Conflict) -> Order:
    assert conflict.order_id is not None
    return Order.objects.get(pk=conflict.order_id)


def _number(conflict: Conflict) -> str:
    assert conflict.refund is not None
    return conflict.refund.refund_no


def _entries() -> list[str]:
    return list(AuditEntry.objects.order_by("seq").values_list("action", flat=True))


def test_every_reason_has_its_resolutions() -> None:
    assert set(FITS) == set(ConflictReason)


@pytest.mark.parametrize("how", list(EFFECTS))
@pytest.mark.parametrize("first", [NOT_OURS, REFUND])
def test_what_was_decided_is_not_decided_again(
    account: ProviderAccount, alice: Person, first: Resolution, how: Resolution
) -> None:
    conflict = deciding.late(account)
    form = seen_now(conflict)
    decide(conflict, first, alice, seen=form)
    before = books()

    with pytest.raises(
        AlreadyDecided, match=f"alice decided it at 2026-03-01 14:00:00 UTC: {first}"
    ):
        decide(conflict, how, deciding.somebody("bob", "reviewer"), seen=form)

    assert books() == before


def test_a_form_that_was_opened_before_something_moved_says_what(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.mismatch(account)
    form = seen.read(seen_now(conflict).token())
    tell_one(account, callback(txn_no="txn_right"))
    before = books()

    with pytest.raises(Moved) as refusal:
        decide(conflict, REFUND, alice, seen=form)

    moved = {change.name: (change.then, change.now) for change in refusal.value.changes}
    assert moved == {
        "order.status": ("WAIT_PAY", "PAID"),
        "order.paid_txn_no": ("", "txn_right"),
        "order.version": (0, 1),
    }
    assert "order.status was WAIT_PAY and is PAID" in str(refusal.value)
    assert books() == before


@pytest.mark.parametrize("text", ["[]", "{", '{"a": 1.5}', '{"a": {}}'])
def test_what_is_no_form_of_ours_is_refused(text: str) -> None:
    with pytest.raises(seen.NotSeen):
        seen.read(text)


def test_the_options_say_what_each_would_do(account: ProviderAccount) -> None:
    conflict = deciding.late(account)

    found = {one.resolution: one for one in options.options(seen.look(conflict.pk).facts)}

    assert {how: one.consequence for how, one in found.items()} == {
        ACCEPT: "Order 1001, which is closed, is opened again and becomes PAID by txn_A "
        "with 10.99 USD.",
        REFUND: "10.99 USD of txn_A go back to the payer through stripe/main; "
        "order 1001 does not move.",
        MATCH: "Another order that costs 10.99 USD becomes PAID by txn_A.",
        NOT_OURS: "Nothing moves: 10.99 USD of txn_A stay held and never pay an order from here.",
        Resolution.ASK_PROVIDER: "stripe/main is asked about txn_A; its answer is received like a "
        "callback, and the conflict stays undecided.",
    }
    assert (found[MATCH].needs_order_no, found[ACCEPT].amount_minor) == (True, 1099)


@pytest.mark.parametrize(
    ("came", "consequence", "at_stake"),
    [
        (
            1000,
            (
                "Order 1001 becomes PAID by txn_A with 10.00 USD instead of 10.99 USD: 0.99 USD "
                "less than it costs, which are owed no more."
            ),
            1099,
        ),
        (
            1200,
            (
                "Order 1001 becomes PAID by txn_A with 12.00 USD instead of 10.99 USD: 1.01 USD "
                "more than it costs, which stay with the merchant."
            ),
            1200,
        ),
    ],
)
def test_accepting_another_amount_names_the_difference_and_what_is_given_up(
    account: ProviderAccount, came: int, consequence: str, at_stake: int
) -> None:
    conflict = deciding.mismatch(account, came)

    choice = options.option(RECEIVED, seen.look(conflict.pk).facts)

    assert (choice.consequence, choice.amount_minor) == (consequence, at_stake)


def test_an_order_that_was_accepted_otherwise_is_still_the_order_that_was_placed(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.mismatch(account)
    decide(conflict, RECEIVED, alice)

    assert place(account.merchant, "1001") == "PAID"
    assert_books_balance()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"amount_minor": 1100}, "costs 11.00 USD"),
        ({"currency": "EUR"}, "costs 10.99 EUR"),
        ({"payable_through": "stripe/other"}, "payable through stripe/other only"),
        ({"status": "PAID", "paid_txn_no": "x", "paid_at": NOW}, "is PAID"),
    ],
)
def test_a_payment_is_matched_only_to_an_order_that_it_could_have_paid(
    account: ProviderAccount, alice: Person, values: dict[str, Any], says: str
) -> None:
    conflict = deciding.late(account)
    order_of(account, "2002", **values)
    before = books()

    with pytest.raises(DoesNotFit, match=says):
        decide(conflict, MATCH, alice, order_no="2002")
    with pytest.raises(DoesNotFit, match="no order 3003"):
        decide(conflict, MATCH, alice, order_no="3003")
    with pytest.raises(DoesNotFit, match="Name the order"):
        decide(conflict, MATCH, alice)
    with pytest.raises(DoesNotFit, match="the order that the payment named"):
        decide(conflict, MATCH, alice, order_no="1001")
    assert books() == before


def test_a_payment_is_not_matched_to_another_merchants_order(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.late(account)
    order_of(ProviderAccountFactory.create(), "2002")

    with pytest.raises(DoesNotFit, match="no order 2002"):
        decide(conflict, MATCH, alice, order_no="2002")


def test_a_matched_payment_is_refunded_by_its_orders_number(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.duplicate(account)
    order_of(account, "2002")
    decide(conflict, MATCH, alice, order_no="2002")
    asked = request.Asked(order_no="2002", refund_no="R-1", money=None)

    refund = request.request(merchant=account.merchant, asked=asked, now=LATER).refund
    again = request.request(merchant=account.merchant, asked=asked, now=LATER)
    carry_out.carry_out(ProviderDouble(), now=LATER)

    assert (refund.order_no, refund.amount_minor, again.repeated) == ("2002", 1099, True)
    statuses = dict(account.merchant.orders.values_list("order_no", "status"))
    assert statuses == {"1001": "PAID", "2002": "REFUNDED"}
    with pytest.raises(request.NotRefundable, match="txn_A is no payment of order 1001"):
        request.request(
            merchant=account.merchant,
            asked=request.Asked(order_no="1001", refund_no="R-2", money=None, payment="txn_A"),
            now=LATER,
        )
    assert_books_balance()


def test_a_refund_that_was_decided_goes_through_the_refunds_machine(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.parked(account)

    decided = decide(conflict, REFUND, alice)
    carry_out.carry_out(ProviderDouble(), now=LATER)

    refund = Refund.objects.get()
    assert decided.refund == refund
    assert (refund.refund_no, refund.status) == (f"conflict-{conflict.pk}-1", "SUCCEEDED")
    assert _money(conflict).disposition == Disposition.RETURNED
    assert_books_balance()


def test_a_refund_that_cannot_be_sent_is_not_decided(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.parked(account)
    before = books()

    with pytest.raises(DoesNotFit, match="stripe/main: the account has no key"):
        decide(conflict, REFUND, alice, send=deciding.cannot_send)

    assert books() == before


def test_money_that_waits_for_its_order_waits_no_more_once_it_goes_back(
    account: ProviderAccount, alice: Person
) -> None:
    decide(deciding.parked(account), REFUND, alice)

    assert place(account.merchant, "1001") == "WAIT_PAY"
    assert_books_balance()


def test_a_dismissed_payment_without_an_order_still_pays_it_when_it_appears(
    account: ProviderAccount, alice: Person
) -> None:
    decide(deciding.parked(account), DISMISS, alice)

    assert place(account.merchant, "1001") == "PAID"
    assert_books_balance()


def test_an_excess_whose_refund_fails_is_asked_about_again(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.mismatch(account, 1200)
    decide(conflict, OWED, alice)
    carry_out.carry_out(ProviderDouble(refuses=True), now=LATER)
    assert follow_up(now=LATER) == (1, 0)

    conflict.refresh_from_db()
    held = seen.look(conflict.pk)
    assert (conflict.status, held.order and held.order.status) == ("OPEN", "PAID")
    assert [one.resolution for one in options.options(held.facts)] == [
        DISMISS,
        Resolution.ASK_PROVIDER,
    ]
    assert_books_balance()


def test_an_excess_that_cannot_be_refunded_is_not_accepted(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.mismatch(account, 1200)
    before = books()

    with pytest.raises(DoesNotFit, match="no key with purpose api"):
        decide(conflict, OWED, alice, send=deciding.cannot_send)

    assert books() == before


def test_what_is_owed_is_accepted_with_the_excess_named(account: ProviderAccount) -> None:
    facts = seen.look(deciding.mismatch(account, 1200).pk).facts

    choice = options.option(OWED, facts)

    assert (choice.amount_minor, choice.currency) == (1200, "USD")
    assert choice.consequence == (
        "Order 1001 becomes PAID by txn_A with 12.00 USD. 1.01 USD of it, which are more than the "
        "10.99 USD that are owed, go back to the payer through stripe/main."
    )


@pytest.mark.parametrize("how", [DISMISS, NOT_OURS])
def test_what_leaves_a_question_behind_says_why(
    account: ProviderAccount, alice: Person, how: Resolution
) -> None:
    conflict = deciding.parked(account)
    before = books()

    with pytest.raises(NoReason):
        resolve(
            conflict.pk,
            Wanted(how=how, why=" "),
            seen=seen_now(conflict),
            person=alice,
            client_for=can_send,
            now=LATER,
        )

    assert books() == before


def test_the_callback_of_an_accepted_payment_is_no_news(
    account: ProviderAccount, alice: Person
) -> None:
    conflict = deciding.late(account)
    decide(conflict, ACCEPT, alice)

    again = tell_one(account, callback(txn_no="txn_A"))
    second = tell_one(account, callback(txn_no="txn_B"))

    assert (again.outcome, second.outcome, second.reason) == (
        "DUPLICATE",
        "CONFLICT",
        "DUPLICATE_PAYMENT",
    )
    assert_books_balance()


def test_an_unknown_conflict_is_said_to_be_one(account: ProviderAccount, alice: Person) -> None:
    with pytest.raises(seen.NoSuchConflict):
        decide(Conflict(pk=10**12), REFUND, alice, seen=seen.Seen({}))


def test_every_attempt_is_in_the_audit(account: ProviderAccount, alice: Person) -> None:
    conflict = deciding.late(account)
    form = seen_now(conflict)
    decide(conflict, ACCEPT, alice, seen=form)
    with pytest.raises(Refused):
        decide(conflict, ACCEPT, alice, seen=form)

    done, refused = AuditEntry.objects.order_by("seq")
    assert (done.actor, done.actor_id, done.origin) == ("alice", alice.user_id, "test")
    assert (done.before["order.status"], done.after["order.status"]) == ("CLOSED", "PAID")
    assert (done.after["how"], done.why) == ("ACCEPT", "because")
    assert (refused.action, refused.after["refusal"]) == ("conflict.refused", "AlreadyDecided")
