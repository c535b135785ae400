"""The provider is asked from the page, over real HTTP, and what it said stays on the page."""

import pytest
from django.test import Client
from django.urls import reverse

from payments.models import Delivery
from tests.clients.servers.base import Payment, running
from tests.clients.servers.simulator import SECRET, SimulatorApi
from tests.console.conflict.filling import said
from tests.console.rooms import page_of
from tests.factories import AccountKeyFactory, ProviderAccountFactory
from tests.payments.conflicts import deciding


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_received_like_a_callback_and_a_lost_one_says_so(
    transactional_db: None, alice: Client
) -> None:
    with running(SimulatorApi()) as api:
        account = ProviderAccountFactory.create(
            provider="simulator",
            name="try",
            account_no="sim-acme",
            live=False,
            settings={"api_url": api.url},
        )
        AccountKeyFactory.create(account=account, purpose="api", secret=SECRET)
        conflict = deciding.late(account)
        api.pay(Payment(txn_no="txn_A", order_no="1001", amount="1099", currency="USD"))
        ask = reverse("admin:payments_conflict_ask", args=[conflict.pk])

        assert said(alice.post(ask)) == "The provider says: SUCCEEDED."
    assert said(alice.post(ask)).endswith("The provider says: UNKNOWN.")

    page = alice.get(page_of(conflict)).content.decode()
    answers = page.partition("What the provider says now")[2].partition("</table>")[0]
    assert [answers.count(word) for word in ("SUCCEEDED", "UNKNOWN", "10.99 USD", "alice")] == [
        *(1, 1, 1, 2)
    ]
    fetched = Delivery.objects.latest("pk")
    assert (fetched.key_id, fetched.outcome) == ("api", "DUPLICATE")
    assert page_of(fetched) in page
