"""Orders marked as paid by hand: by whoever may, once, and above the amount by two."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from audit.models import AuditEntry
from orders.models import Order
from outbox.models import Event
from payments.models import ManualPayment, ProviderAccount, ProviderTransaction
from tests.console.rooms import list_of, page_of
from tests.console.staff import INSIDERS, member
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db

NOTE = "cash at the desk, receipt 7"
MARK = "Mark as paid by hand"


@pytest.fixture
def account() -> ProviderAccount:
    return ProviderAccountFactory.create(name="main")


@pytest.fixture
def order(account: ProviderAccount) -> Order:
    return deciding.order_of(account)


def named(page: Any) -> list[str]:
    """The deeds that it offers."""
    return [deed.name for deed in page.context["deeds"]]


def at(order: Order) -> str:
    return reverse("admin:orders_order_mark_paid", args=[order.pk])


def answer_to(made: ManualPayment, verb: str) -> str:
    return reverse(f"admin:payments_manualpayment_{verb}", args=[made.pk])


def said(answer: Any) -> str:
    return [str(message) for message in get_messages(answer.wsgi_request)][-1]


def test_a_second_click_and_the_form_sent_again_pay_nothing_more(
    account: ProviderAccount, order: Order
) -> None:
    deciding.alone_up_to(account.merchant)
    alice = member("reviewer", name="alice")
    form = {"why": NOTE, **alice.get(at(order)).context["asked"].seen}

    first, second = alice.post(at(order), form), alice.post(at(order), form)
    by_another = member("reviewer", name="carol").post(at(order), form)

    assert said(first) == "Order 1001 is paid."
    for answer in (second, by_another):
        assert "Nothing was changed: Order 1001 is PAID by manual-1001." in said(answer)
    money = ProviderTransaction.objects.get()
    assert Event.objects.filter(type="order.paid").count() == 1
    kept = AuditEntry.objects.filter(action__startswith="manual_payment").order_by("seq")
    assert list(kept.values_list("actor", "action", "why")) == [
        ("alice", "manual_payment.booked", NOTE),
        ("alice", "manual_payment.refused", ""),
        ("carol", "manual_payment.refused", ""),
    ]
    shown = alice.get(page_of(ManualPayment.objects.get())).content.decode()
    assert f"alice says that 10.99 USD were paid for order 1001: {NOTE}" in shown
    assert page_of(money) in shown
    assert MARK not in named(alice.get(page_of(order)))
    assert_books_balance()


def test_who_said_so_is_on_both_pages_and_in_the_evidence_of_the_order(
    superuser: Client, account: ProviderAccount, order: Order
) -> None:
    deciding.alone_up_to(account.merchant)
    alice = member("reviewer", name="alice")
    alice.post(at(order), {"why": NOTE, "seen": "0"})
    alice.post(at(order), {"why": NOTE, "seen": "0"})

    pages = [superuser.get(page_of(row)) for row in (order, ManualPayment.objects.get())]
    asked = {"why": "dispute", "form": "json"}
    pack = superuser.post(f"/admin/evidence/order/{order.pk}/", asked).json()

    for page in pages:
        assert "manual_payment.booked" in page.content.decode()
    assert [(entry["actor"], entry["action"], entry["why"]) for entry in pack["audit"]] == [
        ("alice", "manual_payment.booked", NOTE),
        ("alice", "manual_payment.refused", None),
    ]


def test_above_the_amount_another_approves_on_a_page_that_says_all_of_it(order: Order) -> None:
    alice, bob = member("reviewer", name="alice"), member("approver", name="bob")
    form = {"why": NOTE, "seen": "0"}

    assert said(alice.post(at(order), form)) == "It waits for another person to approve it."
    made = ManualPayment.objects.get()
    own = alice.get(page_of(made))
    page = bob.get(answer_to(made, "approve")).content.decode()
    answer = bob.post(answer_to(made, "approve"))

    assert [deed.name for deed in own.context["deeds"]] == ["Withdraw"]
    assert "You proposed it: another person must approve it." in own.content.decode()
    assert f"10.99 USD were paid for order 1001: {NOTE}" in page
    assert said(answer) == "Order 1001 is paid."
    assert Order.objects.get().status == "PAID"
    assert_books_balance()


def test_a_hand_made_post_of_the_proposer_and_a_stale_approval_do_nothing(order: Order) -> None:
    both, bob = member("reviewer", "approver", name="alice"), member("approver", name="bob")
    both.post(at(order), {"why": NOTE, "seen": "0"})
    made = ManualPayment.objects.get()

    own = both.post(answer_to(made, "approve"))
    Order.objects.update(status="CLOSED", closed_at=NOW, version=1)
    stale = bob.post(answer_to(made, "approve"))
    shown = bob.get(page_of(made))

    assert "alice proposed it: another person must approve it" in said(own)
    assert "Order 1001 is CLOSED" in said(stale)
    assert [deed.name for deed in shown.context["deeds"]] == ["Reject"]
    assert "order 1001 has moved since, it is CLOSED" in shown.content.decode()
    assert bob.get(answer_to(made, "approve")).status_code == 302
    bob.post(answer_to(made, "decline"), {"why": "closed"})
    made.refresh_from_db()
    assert (made.status, made.decided_why) == ("REJECTED", "closed")
    assert not ProviderTransaction.objects.exists()


@pytest.mark.parametrize("role", INSIDERS)
def test_each_role_may_just_this(order: Order, role: str) -> None:
    member("reviewer", name="alice").post(at(order), {"why": NOTE, "seen": "0"})
    made = ManualPayment.objects.get()
    person = member(role, name="carol")

    assert person.get(list_of(ManualPayment)).status_code == 200
    assert person.get(page_of(made)).status_code == 200
    marks = 200 if role == "reviewer" else 403
    answers = 200 if role == "approver" else 403
    assert person.get(at(order)).status_code == marks
    assert (MARK in named(person.get(page_of(order)))) == (role == "reviewer")
    if marks == 403:
        assert person.post(at(order), {"why": NOTE, "seen": "0"}).status_code == 403
    for verb in ("approve", "decline"):
        assert person.get(answer_to(made, verb)).status_code == answers, verb
        if answers == 403:
            assert person.post(answer_to(made, verb), {"why": "x"}).status_code == 403, verb
    assert Order.objects.get().status == "WAIT_PAY"


@pytest.mark.parametrize("form", [{"why": NOTE}, {"why": NOTE, "seen": "x"}])
def test_a_form_that_does_not_say_what_it_saw_is_refused(
    order: Order, form: dict[str, str]
) -> None:
    alice = member("reviewer", name="alice")

    assert alice.post(at(order), form).status_code == 400
    assert alice.post(at(order), {"why": "  ", "seen": "0"}).status_code == 200
    assert not ManualPayment.objects.exists()
