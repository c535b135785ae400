"""A conflict asks one question, and shows what differs."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape

from config.console import two_sides
from config.console.conflict import question as about
from orders.models import OrderStatus
from orders.money import Money
from payments.conflicts import seen
from payments.models import Conflict, ConflictReason, ConflictStatus
from payments.sweep import sweep
from tests import factories
from tests.console.rooms import list_of, page_of
from tests.payments.telling import NOW, callback, tell_one

LATE_PAID = {"status": OrderStatus.PAID, "paid_txn_no": "txn_A", "paid_at": NOW}
CLOSED = {"status": OrderStatus.CLOSED, "closed_at": NOW}


@pytest.fixture
def superuser(transactional_db: None, admin_client: Client) -> Client:
    return admin_client


@pytest.mark.parametrize(
    ("order", "told", "question", "differing"),
    [
        (
            {},
            {"amount_minor": 109},
            (
                "1.09 USD came for order 1001, which costs 10.99 USD: shall the order take it, or "
                "does it go back?"
            ),
            ["Amount"],
        ),
        (
            {},
            {"currency": "EUR"},
            (
                "10.99 EUR came for order 1001, which costs 10.99 USD in another currency: whose "
                "money is it, and does it go back?"
            ),
            ["Amount"],
        ),
        (
            {},
            {"account_no": "acct_of_another"},
            (
                "10.99 USD for order 1001 came through stripe/main, which does not fit the account "
                "that was named or agreed: whose money is it?"
            ),
            ["Account"],
        ),
        (
            {"payable_through": "stripe/other"},
            {},
            (
                "10.99 USD for order 1001 came through stripe/main, which does not fit the account "
                "that was named or agreed: whose money is it?"
            ),
            ["Through"],
        ),
        (
            CLOSED,
            {},
            (
                "10.99 USD came for order 1001 after it was closed: shall the order be opened "
                "again, or does the money go back?"
            ),
            ["Order status"],
        ),
        (
            LATE_PAID,
            {"txn_no": "txn_B"},
            (
                "Order 1001 was paid by txn_A already, and txn_B brings 10.99 USD more: does that "
                "go back?"
            ),
            ["Transaction"],
        ),
        (
            {},
            {"money": None, "stated_amount": "10.999"},
            (
                "10.999 came for order 1001, which costs 10.99 USD: shall the order take it, or "
                "does it go back?"
            ),
            ["Amount"],
        ),
        (
            None,
            {"txn_no": "txn_C"},
            "10.99 USD came for order 1001, which nobody has placed: what was it paid for?",
            ["Order"],
        ),
    ],
)
def test_a_conflict_is_a_question_with_what_differs(
    superuser: Client,
    order: dict[str, Any] | None,
    told: dict[str, Any],
    question: str,
    differing: list[str],
) -> None:
    account = factories.ProviderAccountFactory.create(name="main")
    if order is not None:
        factories.OrderFactory.create(merchant=account.merchant, order_no="1001", **order)
    tell_one(account, callback(**told))
    sweep(now=NOW + timedelta(hours=1), grace=timedelta(minutes=15))
    conflict = Conflict.objects.get()

    shown = superuser.get(page_of(conflict)).content.decode()

    assert two_sides.question(conflict) == question
    assert escape(about.of(seen.look(conflict.pk)).says) in shown
    assert [line.name for line in two_sides.lines(conflict) if line.differs] == differing
    assert shown.count('class="c-differs"') == len(differing)


def test_a_transaction_told_otherwise_shows_both_stories(superuser: Client) -> None:
    account = factories.ProviderAccountFactory.create(name="main")
    factories.OrderFactory.create(merchant=account.merchant, order_no="1001")
    tell_one(account, callback(txn_no="txn_A"))
    tell_one(account, callback(txn_no="txn_A", money=Money(9900, "USD")))

    conflict = Conflict.objects.get()
    amount = next(line for line in two_sides.lines(conflict) if line.name == "Amount")

    assert (amount.expected, amount.received, amount.differs) == ("10.99 USD", "99.00 USD", True)
    assert two_sides.question(conflict) == (
        "Transaction txn_A was told again with other facts, 99.00 USD for order 1001: "
        "which of the two is true?"
    )


def test_every_reason_has_its_question() -> None:
    for texts in (two_sides.QUESTIONS, about.FACTS, about.ASKS):
        assert set(texts) == set(ConflictReason.values)


@pytest.mark.parametrize("reason", ConflictReason.values)
def test_a_conflict_without_facts_still_asks(superuser: Client, reason: str) -> None:
    conflict = factories.ConflictFactory.create(reason=reason, expected={}, received={})

    assert "(not stated)" in superuser.get(page_of(conflict)).content.decode()


def test_what_else_was_kept_is_shown_by_its_own_name() -> None:
    conflict = Conflict(
        reason=ConflictReason.LATE_PAYMENT,
        expected={"buyer_note": "a", "amount_minor": True},
        received={"buyer_note": "b", "occurred_at": "noon"},
    )

    assert two_sides.lines(conflict) == [
        two_sides.Line("Occurred at", "", "noon", differs=False),
        two_sides.Line("Buyer note", "a", "b", differs=True),
    ]


def test_the_list_is_an_inbox_with_the_most_urgent_first(superuser: Client) -> None:
    def conflict(**values: Any) -> Conflict:
        return factories.ConflictFactory.create(**values)

    later = conflict(due_at=NOW + timedelta(days=1))
    sooner = conflict(due_at=NOW + timedelta(minutes=1), status=ConflictStatus.PROPOSED)
    decided = conflict(status=ConflictStatus.DISMISSED, resolved_at=NOW)

    def listed(question: str = "") -> list[Conflict]:
        return list(superuser.get(f"{list_of(Conflict)}{question}").context["cl"].result_list)

    assert listed() == listed("?p=1") == listed("?decision=undecided") == [sooner, later]
    assert listed("?decision=decided") == [decided]
    assert listed("?decision=all") == [decided, sooner, later]
    assert listed(f"?q={decided.transaction.txn_no}") == [decided]  # type: ignore[union-attr]


def test_a_conflict_whose_time_is_over_is_marked(superuser: Client) -> None:
    conflict = factories.ConflictFactory.create()
    shown = superuser.get(list_of(Conflict)).content.decode()
    Conflict.objects.update(status=ConflictStatus.DISMISSED, resolved_at=NOW)
    decided = superuser.get(page_of(conflict)).content.decode()

    assert '<span class="c-late">2026-03-01 12:00:00 UTC</span>' in shown
    assert "c-late" not in decided
