"""The page of a conflict: the question as it stands now, the story, the callback, the provider."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit import chain
from audit.models import AuditEntry
from payments.conflicts import four_eyes
from payments.conflicts.follow_up import follow_up
from payments.models import Conflict, ConflictPolicy, Delivery, ProviderAccount, Resolution
from payments.policies.apply import apply_policies
from payments.refunds import carry_out
from tests.console.conflict.conftest import someone
from tests.console.conflict.filling import said
from tests.console.rooms import page_of
from tests.factories import ConflictFactory, DeliveryFactory
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import LATER, somebody
from tests.payments.refunds.provider_double import ProviderDouble
from tests.payments.telling import NOW, callback, tell_one

pytestmark = pytest.mark.django_db


def question(client: Client, conflict: Conflict) -> str:
    page = client.get(page_of(conflict)).content.decode()
    found = re.search(r'<div class="c-question"><p>(.*?)</p>', page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def story(client: Client, conflict: Conflict) -> list[tuple[str, str]]:
    """The timeline's sources and what they tell, in its order."""
    page = client.get(page_of(conflict)).content.decode()
    table = page.partition("c-timeline")[2].partition("</table>")[0]
    rows = re.findall(r"<tr><td>.*?</td><td>(.*?)</td><td>(.*?)</td></tr>", table, re.DOTALL)
    return [(_text(source), _text(what)) for source, what in rows]


def _text(markup: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_the_question_names_both_sides_and_how_it_stands(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.mismatch(account)

    assert question(alice, conflict) == (
        "Order 1001 expects 10.99 USD; Stripe (stripe/main) reports 10.00 USD paid under txn_A. "
        "The payer has paid, and the money pays no order. The order is still waiting to be paid."
    )
    tell_one(account, callback(txn_no="txn_right"))
    assert question(alice, conflict).endswith("The order is paid, by txn_right.")


def test_the_question_follows_the_money(account: ProviderAccount, alice: Client) -> None:
    conflict, who = deciding.mismatch(account, 1200), somebody("dora", "reviewer")
    deciding.decide(conflict, Resolution.ACCEPT_OWED, who)

    assert question(alice, conflict).endswith("The order has been paid by this payment.")
    carry_out.carry_out(ProviderDouble(refuses=True), now=LATER)
    follow_up(now=LATER)
    page = alice.get(page_of(conflict)).content.decode()
    assert "Open again" in page
    assert "refund conflict-" in page


def test_parked_money_and_money_that_went_back_say_so(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.parked(account)

    assert "for order 1001, which nobody has placed. The payer has paid, and the money waits" in (
        question(alice, conflict)
    )
    deciding.decide(conflict, Resolution.REFUND, somebody("dora", "reviewer"))
    assert "All of it goes back to the payer." in question(alice, conflict)
    carry_out.carry_out(ProviderDouble(), now=LATER)
    assert question(alice, conflict).endswith("All of it has gone back to the payer.")


def test_the_story_is_one_list_by_time_with_its_sources(
    account: ProviderAccount, alice: Client
) -> None:
    conflict, dora = deciding.late(account), somebody("dora", "reviewer")
    proposal = deciding.propose(conflict, Resolution.REFUND, dora)
    four_eyes.withdraw(proposal.pk, why="no", person=dora, now=LATER)
    conflict.refresh_from_db()
    deciding.decide(conflict, Resolution.REFUND, dora)
    carry_out.carry_out(ProviderDouble(), now=LATER)

    told = story(alice, conflict)

    assert told[0] == ("Order", "Order 1001 placed over 10.99 USD")
    for expected in (
        ("Order", "Closed"),
        ("stripe/main", "Delivered: payment.paid CONFLICT LATE_PAYMENT"),
        ("Ledger", "PAYMENT of 10.99 USD: txn_A RETURNED"),
        ("Rules", "Conflict opened: LATE_PAYMENT"),
        ("Event", "conflict.proposed #2"),
        ("Event", "refund.succeeded #2"),
        ("dora", "Proposed: Refund this payment because"),
        ("dora", "Proposal withdrawn: Refund this payment no"),
        ("dora", "Decided: Refund this payment because"),
    ):
        assert expected in told, told
    assert any(source == "Refund" and "asked for" in what for source, what in told)


def test_what_a_policy_decided_is_marked(account: ProviderAccount, alice: Client) -> None:
    ConflictPolicy.objects.update(rules={"late": {"do": "accept", "limits": {"USD": 5000}}})
    conflict = deciding.late(account)
    apply_policies(client_for=deciding.can_send, now=LATER)

    told = dict(story(alice, conflict))
    policy = next(source for source in told if source.startswith("POLICY"))

    assert policy == f"POLICY {account.merchant.code} policy version 1"
    assert "policy version 1" in alice.get(page_of(conflict)).content.decode()


def test_a_long_story_is_bounded_and_leads_to_the_rest(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account)
    for number in range(45):
        DeliveryFactory.create(
            account=account, order_no="1001", received_at=NOW + timedelta(minutes=number)
        )

    told = story(alice, conflict)

    assert len(told) <= 40
    assert "The newest are shown: all deliveries of the order" in (
        alice.get(page_of(conflict)).content.decode()
    )


def test_a_page_asks_the_database_a_bounded_number_of_questions(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            alice.get(page_of(conflict))
        return len(asked)

    ConflictFactory.create(transaction__account=account, order=conflict.order)
    queries()  # A session's first page asks more.
    few = queries()
    for number in range(30):
        DeliveryFactory.create(account=account, order_no="1001")
        ConflictFactory.create(
            transaction__account=account, order=conflict.order, subject=f"more:{number}"
        )
    assert queries() == few
    assert few <= 34


def test_the_callback_is_shown_masked_to_who_may_see_deliveries(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account)
    Delivery.objects.update(
        body=b'{"order": "1001", "receipt_email": "ann@example.com"}', key_id="whsec-1"
    )
    delivery = Delivery.objects.get()

    shown = alice.get(page_of(conflict)).content.decode()

    assert "ann@example.com" not in shown
    assert "receipt_email" in shown
    assert bytes(delivery.body_sha256).hex() in shown
    assert "whsec-1" in shown


def test_other_conflicts_of_the_order_are_shown(account: ProviderAccount, alice: Client) -> None:
    conflict = deciding.late(account)
    tell_one(account, callback(txn_no="txn_B"))
    other = Conflict.objects.latest("pk")

    page = alice.get(page_of(conflict)).content.decode()

    assert "Other conflicts of this order" in page
    assert f'href="{page_of(other)}"' in page


def test_who_cannot_be_asked_is_said_and_what_was_answered_stays(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account)
    chain.record(
        by=somebody("dora", "reviewer").actor,
        action="conflict.provider_answered",
        object_type="conflict",
        object_id=conflict.pk,
        after={"txn_no": "txn_A", "answer": "SUCCEEDED", "states": "10.99 USD", "says": ""},
    )
    ask = reverse("admin:payments_conflict_ask", args=[conflict.pk])

    assert f'action="{ask}"' in alice.get(page_of(conflict)).content.decode()
    account.keys.filter(purpose="api").delete()
    page = alice.get(page_of(conflict)).content.decode()

    assert f'action="{ask}"' not in page
    assert "stripe/main: the account has no key with purpose api" in page
    assert "10.99 USD" in page.partition("What the provider says now")[2]
    answer = alice.post(ask)
    assert said(answer).startswith("Nobody was asked. stripe/main: the account has no key")


def test_the_provider_is_asked_by_post_and_by_who_may(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.late(account)
    ask = reverse("admin:payments_conflict_ask", args=[conflict.pk])

    assert alice.get(ask).status_code == 400
    assert someone("vera", "viewer").post(ask).status_code == 403
    assert not AuditEntry.objects.filter(action__startswith="conflict.").exists()
