"""Each resolution in each state through its page: what fits is done once, the rest does nothing."""

import pytest
from django.db import transaction
from django.test import Client

from audit.models import AuditEntry
from orders.models import Order
from outbox.models import Event
from payments.conflicts import seen
from payments.models import Conflict, ProviderAccount, Resolution
from tests.books import books
from tests.console.conflict.conftest import someone
from tests.console.conflict.filling import address, filled, form_of, said
from tests.console.rooms import page_of
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import order_of
from tests.payments.conflicts.test_resolve import EFFECTS, MATCH, STATES, TELLS
from tests.payments.telling import callback, tell_one

pytestmark = pytest.mark.django_db

REFUND, ACCEPT, NOT_OURS = Resolution.REFUND, Resolution.ACCEPT, Resolution.NOT_OURS
RECEIVED = Resolution.ACCEPT_RECEIVED


@pytest.mark.parametrize("state", STATES)
def test_every_resolution_in_every_state_through_its_page(
    account: ProviderAccount, alice: Client, state: str
) -> None:
    make, fitting = STATES[state]
    conflict = make(account)
    other = deciding.payable_by(account, conflict)
    shown = alice.get(page_of(conflict)).content.decode()

    for how in EFFECTS:
        assert (f'href="{address(conflict, how)}"' in shown) == (how in fitting), how
        point = transaction.savepoint()
        (_is_done if how in fitting else _is_refused)(alice, how, conflict, other)
        transaction.savepoint_rollback(point)


def _is_done(alice: Client, how: Resolution, conflict: Conflict, other: Order) -> None:
    conflict = Conflict.objects.get(pk=conflict.pk)
    named = {"order_no": "2002"} if how is MATCH else {}
    events, asked = Event.objects.count(), seen.look(conflict.pk, **_target(how)).facts
    form = filled(alice, conflict, how, **named)

    answer = alice.post(address(conflict, how), form)

    assert (answer.status_code, answer["Location"]) == (302, page_of(conflict)), said(answer)
    assert asked.status == "OPEN"
    EFFECTS[how](conflict, other)
    conflict.refresh_from_db()
    assert (conflict.decision, conflict.why) == (how, "because")
    assert Event.objects.count() == events + TELLS.get(how, 1)
    assert_books_balance()
    _a_second_click_does_nothing(alice, how, conflict, form)


def _a_second_click_does_nothing(
    alice: Client, how: Resolution, conflict: Conflict, form: dict[str, str]
) -> None:
    before = books()

    again = alice.post(address(conflict, how), form)

    assert again.status_code == 302
    assert "alice decided it at" in said(again)
    assert books() == before


def _is_refused(alice: Client, how: Resolution, conflict: Conflict, _: Order) -> None:
    named = {"order_no": "2002"} if how is MATCH else {}
    before = books()
    page = alice.get(address(conflict, how), named)
    token = seen.look(conflict.pk, **_target(how)).seen.token()

    answer = alice.post(
        address(conflict, how), {"why": "because", "seen": token, "way": "decide", **named}
    )

    assert (page.status_code, page["Location"]) == (302, page_of(conflict))
    assert (answer.status_code, answer["Location"]) == (302, page_of(conflict))
    assert "Nothing was changed." in said(answer)
    assert books() == before


def _target(how: Resolution) -> dict[str, str]:
    return {"target_no": "2002"} if how is MATCH else {}


def test_the_page_spells_out_what_will_happen(account: ProviderAccount, alice: Client) -> None:
    conflict = deciding.late(account)

    page = alice.get(address(conflict, REFUND)).content.decode()

    assert "10.99 USD of txn_A go back to the payer through stripe/main" in page
    assert '<button type="submit" class="c-button c-grave">Refund this payment</button>' in page


def test_a_form_that_was_overtaken_shows_what_changed_and_asks_again(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.mismatch(account)
    form = filled(alice, conflict, REFUND)
    tell_one(account, callback(txn_no="txn_right"))
    before = books()

    answer = alice.post(address(conflict, REFUND), form)

    shown = answer.content.decode()
    assert answer.status_code == 409
    assert "Nothing was done: what you saw has moved." in shown
    for part in ("<td>Order: status</td>", "<td>WAIT_PAY</td>", "<td>PAID</td>", "txn_right"):
        assert part in shown
    assert books() == before
    again = alice.post(address(conflict, REFUND), {**form_of(answer), "why": "still"})
    assert again.status_code == 302
    assert Conflict.objects.get(pk=conflict.pk).decision == REFUND


def test_a_form_that_fits_no_more_shows_what_changed_and_has_no_button(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.mismatch(account)
    form = filled(alice, conflict, RECEIVED)
    tell_one(account, callback(txn_no="txn_right"))

    answer = alice.post(address(conflict, RECEIVED), form)

    shown = answer.content.decode()
    assert answer.status_code == 409
    assert "What you wanted to do fits no more: Order 1001 is PAID." in shown
    assert "txn_right" in shown
    assert "seen" not in form_of(answer)


def test_another_amount_is_accepted_only_by_who_types_it(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.mismatch(account)
    before = books()

    for typed, says in (
        ("10.99", "10.00 USD came: type exactly that."),
        ("ten", "That is no amount of USD."),
        ("", "This field is required."),
    ):
        form = filled(alice, conflict, RECEIVED, amount=typed)
        answer = alice.post(address(conflict, RECEIVED), form)
        assert (answer.status_code, says in answer.content.decode()) == (200, True)
    assert books() == before
    alice.post(address(conflict, RECEIVED), filled(alice, conflict, RECEIVED, amount="10.00 USD"))
    assert Conflict.objects.get().decision == RECEIVED


def test_what_leaves_a_question_behind_is_not_done_without_a_reason(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account)

    answer = alice.post(address(conflict, NOT_OURS), filled(alice, conflict, NOT_OURS, why=" "))

    assert "This field is required." in answer.content.decode()
    assert Conflict.objects.get().status == "OPEN"


def test_orders_to_match_to_are_searched_and_say_why_they_do_not_fit(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account)
    order_of(account, "2001", amount_minor=5)
    order_of(account, "2002")

    offered = alice.get(address(conflict, MATCH)).content.decode()
    searched = alice.get(address(conflict, MATCH), {"q": "200"}).content.decode()

    link = f'href="{address(conflict, MATCH)}?order_no=2002"'
    assert link in offered
    assert "2001" not in offered
    assert "10.99 USD came and order 2001 costs 0.05 USD." in searched
    assert link in searched
    assert "?order_no=2001" not in searched


def test_a_refund_that_could_not_be_sent_is_no_button(alice: Client) -> None:
    conflict = deciding.late(ProviderAccountFactory.create(name="no-key"))

    page = alice.get(page_of(conflict)).content.decode()

    assert f'href="{address(conflict, REFUND)}"' not in page
    assert "Refunds through stripe/no-key cannot be sent: the account has no key" in page
    assert "own pages: when its callback tells of that, this conflict ends." in page


@pytest.mark.parametrize("role", ["viewer", "operator", "approver"])
def test_who_may_not_decide_sees_no_button_and_opens_no_page(
    account: ProviderAccount, alice: Client, role: str
) -> None:
    conflict = deciding.late(account)
    form = filled(alice, conflict, REFUND)
    vera = someone("vera", role)
    before = books()

    assert "/resolve/" not in vera.get(page_of(conflict)).content.decode()
    for how in EFFECTS:
        assert vera.get(address(conflict, how)).status_code == 403
        assert vera.post(address(conflict, how), form).status_code == 403
    assert books() == before
    assert not AuditEntry.objects.filter(object_type="conflict").exists()


@pytest.mark.parametrize("spoilt", ["[]", "", "{"])
def test_what_is_no_form_of_ours_is_a_bad_request(
    account: ProviderAccount, alice: Client, spoilt: str
) -> None:
    conflict = deciding.late(account)
    form = filled(alice, conflict, REFUND) | {"seen": spoilt}

    assert alice.post(address(conflict, REFUND), form).status_code == 400
    for how in ("ask_provider", "nonsense"):
        assert alice.get(f"{page_of(conflict)[:-7]}resolve/{how}/").status_code == 404
    assert Conflict.objects.get().status == "OPEN"


def test_a_number_with_markup_is_text_wherever_it_is_told(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account, txn_no="txn_<b>A")
    told = [alice.get(page_of(conflict)), alice.get(address(conflict, REFUND))]
    alice.post(address(conflict, REFUND), filled(alice, conflict, REFUND))
    told.append(alice.get(page_of(conflict)))

    for answer in told:
        shown = answer.content.decode()
        assert "txn_&lt;b&gt;A" in shown
        assert "txn_<b>A" not in shown
