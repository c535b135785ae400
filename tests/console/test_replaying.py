"""Whoever may takes stored deliveries once more, as the page has shown it, and says why."""

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from audit.models import AuditEntry
from config.console import replaying
from orders.models import Order, OrderStatus
from payments.models import Delivery, ProviderAccount
from tests import factories
from tests.console.rooms import list_of, page_of
from tests.console.staff import staff
from tests.payments.stored import body, deliver, mend

REPLAY = "/admin/payments/delivery/replay/"
WHY = {"why": "the account was in the wrong mode"}


@pytest.fixture
def operator(db: None) -> Client:
    return staff("replay_delivery", "view_delivery", "view_order", name="anna")


@pytest.fixture
def account(db: None) -> ProviderAccount:
    return factories.ProviderAccountFactory.create(
        provider="simulator", name="main", account_no="acct_1", live=True
    )


@pytest.fixture
def order(account: ProviderAccount) -> Order:
    return factories.OrderFactory.create(merchant=account.merchant, order_no="1001")


def said(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def choose(client: Client, rows: list[Delivery], **more: str) -> Any:
    """From the list to the page that shows what would change."""
    chosen = {"action": "replay", "_selected_action": [str(row.pk) for row in rows], **more}
    answer = client.post(f"{list_of(Delivery)}?reason=WRONG_MODE", chosen)
    assert answer.status_code == 302
    return client.get(answer["Location"]), answer["Location"]


def test_from_a_list_to_what_would_change_to_what_changed(
    operator: Client, account: ProviderAccount, order: Order
) -> None:
    stored = [deliver(account, body(1)), deliver(account, body(2, order_no="none", amount_minor=5))]
    again = deliver(account, body(1))
    mend(account)

    page, address = choose(operator, [*stored, again])
    shown = page.content.decode()

    assert "Requests that would change something now: 3 of 3." in shown
    assert f"order.paid {account.merchant.code}/1001" in shown
    assert (Order.objects.get().status, Delivery.objects.count()) == (OrderStatus.WAIT_PAY, 3)
    unexplained = operator.post(address, page.context["asked"].seen)
    assert (unexplained.status_code, Delivery.objects.count()) == (200, 3)

    done = operator.post(address, page.context["asked"].seen | WHY)

    # The third tells what the first has told: by then it is none any more.
    assert said(done) == ["Taken once more: 2 changed something, 1 change nothing any more."]
    assert (Order.objects.get().status, Delivery.objects.count()) == (OrderStatus.PAID, 5)
    kept = (
        AuditEntry.objects.filter(object_type="delivery")
        .order_by("seq")
        .values_list("action", "actor", "why")
    )
    assert list(kept) == [
        *[("delivery.replayed", "anna", WHY["why"])] * 2,
        ("delivery.replays", "anna", WHY["why"]),
    ]
    original = operator.get(page_of(stored[0])).content.decode()
    (replay,) = Delivery.objects.filter(replay_of=stored[0])
    assert "WRONG_MODE" in original
    assert f'href="{page_of(replay)}"' in original
    assert f'href="{page_of(stored[0])}"' in operator.get(page_of(replay)).content.decode()


def test_a_second_click_changes_nothing_and_says_so(
    operator: Client, account: ProviderAccount, order: Order
) -> None:
    stored = deliver(account, body())
    mend(account)
    address = f"{REPLAY}?ids={stored.pk}"
    assert address in operator.get(page_of(stored)).content.decode()
    form = operator.get(address).context["asked"].seen | WHY

    first = operator.post(address, form)
    second = operator.post(address, form)

    assert first["Location"] == page_of(stored)
    assert said(second)[-1] == "Nothing was changed: 1 change nothing any more."
    assert AuditEntry.objects.filter(object_type="delivery").count() == 1
    page = operator.get(address)
    assert (page.context["asked"].button, page.context["asked"].form) == ("", None)
    assert "Requests that would change something now: 0 of 1." in page.content.decode()


def test_a_page_that_is_out_of_date_does_nothing_else(
    operator: Client, account: ProviderAccount, order: Order
) -> None:
    stored = deliver(account, body())
    mend(account)
    address = f"{REPLAY}?ids={stored.pk}"
    form = operator.get(address).context["asked"].seen | WHY
    Order.objects.update(amount_minor=5)

    answer = operator.post(address, form)

    assert said(answer) == ["Nothing was changed: 1 would change something else by now."]
    assert Delivery.objects.count() == 1


def test_a_whole_list_as_it_is_filtered_up_to_a_number(
    operator: Client, account: ProviderAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaying, "REPLAYED_MAX", 2)
    stored = [deliver(account, body(number)) for number in range(3)]
    factories.DeliveryFactory.create()  # it has another reason

    page, address = choose(operator, stored[:1], select_across="1")

    assert address == f"{REPLAY}?ids={stored[0].pk},{stored[1].pk}&more=1"
    assert "these are the 2 that came first" in page.content.decode()


def test_who_may_not_is_offered_nothing_and_can_do_nothing(
    account: ProviderAccount, order: Order
) -> None:
    viewer, blind = staff("view_delivery"), staff("replay_delivery", name="blind")
    stored = deliver(account, body())
    mend(account)

    assert REPLAY not in viewer.get(page_of(stored)).content.decode()
    assert viewer.get(f"{REPLAY}?ids={stored.pk}").status_code == 403
    assert viewer.post(f"{REPLAY}?ids={stored.pk}", WHY).status_code == 403
    # What somebody does not see he cannot choose either.
    assert blind.get(f"{REPLAY}?ids={stored.pk}").status_code == 302
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize("seen", ["", "x", "1:", "1:short", "x:0123456789abcdef", "1"])
def test_a_form_that_does_not_say_what_it_saw_is_refused(
    operator: Client, account: ProviderAccount, seen: str
) -> None:
    stored = deliver(account, body())

    assert operator.post(f"{REPLAY}?ids={stored.pk}", {"seen": seen} | WHY).status_code == 400
    assert operator.get(f"{REPLAY}?ids=x").status_code == 400
    assert operator.get(REPLAY)["Location"] == list_of(Delivery)
