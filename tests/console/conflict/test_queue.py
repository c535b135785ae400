"""The queue: what each filter finds, views with names, who has what, and many at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from config.models import SavedView
from payments.models import Conflict, ConflictReason, ProviderAccount
from tests.console.conflict.conftest import someone
from tests.console.conflict.filling import form_of, said
from tests.console.rooms import list_of, page_of
from tests.factories import ConflictFactory, ProviderAccountFactory
from tests.payments.conflicts.deciding import LATER
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db

DISMISS = "admin:payments_conflict_dismiss"
FAR = NOW + timedelta(days=36_500)


def came(amount_minor: int, currency: str = "USD") -> dict[str, Any]:
    return {"received": {"amount_minor": amount_minor, "currency": currency}}


def listed(client: Client, query: str) -> list[Conflict]:
    answer = client.get(f"{list_of(Conflict)}?{query}")
    return list(answer.context["cl"].result_list)


def alice_user() -> User:
    return User.objects.get(username="alice")


#: Each filter: what it finds, and what it leaves out.
FILTERS: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[], dict[str, Any]]]] = {
    "age=week": (dict, lambda: {"opened_at": FAR}),
    "overdue=yes": (dict, lambda: {"due_at": FAR}),
    "assignee=me": (lambda: {"assignee": alice_user(), "assigned_at": NOW}, dict),
    "assignee=nobody": (dict, lambda: {"assignee": alice_user(), "assigned_at": NOW}),
    "provider=paypal": (
        lambda: {"transaction__account__provider": "paypal"},
        dict,
    ),
    "amount_from=10.99": (lambda: came(1099), lambda: came(1098)),
    "amount_from=500&amount_to=500": (lambda: came(500, "JPY"), lambda: came(500)),
    "amount_to=1.5": (lambda: came(1500, "KWD"), lambda: came(1501, "KWD")),
    "reason__exact=LATE_PAYMENT": (lambda: {"reason": "LATE_PAYMENT"}, dict),
    "status__exact=PROPOSED": (lambda: {"status": "PROPOSED"}, dict),
}


@pytest.mark.parametrize("query", FILTERS)
def test_a_filter_finds_what_it_says(alice: Client, query: str) -> None:
    wanted, other = FILTERS[query]
    found = ConflictFactory.create(**wanted())
    ConflictFactory.create(**other())

    assert listed(alice, query) == [found]


def test_money_that_was_never_stated_is_found_by_the_endpoint_that_told(alice: Client) -> None:
    found = ConflictFactory.create(
        transaction=None,
        merchant=ProviderAccountFactory.create(provider="paypal").merchant,
        reason=ConflictReason.UNKNOWN_KEY,
        received={"endpoint": "paypal/main"},
    )

    assert listed(alice, "provider=paypal") == [found]
    assert listed(alice, "amount_from=0") == []


@pytest.mark.parametrize(
    "query",
    [
        *("amount_from=x", "amount_to=NaN", "assignee=x", "age=ever"),
        *(
            "amount_from=1e999",
            "amount_from=1e999999",
            "amount_to=-1e999999",
            "amount_to=1e-999999",
        ),
    ],
)
def test_what_is_no_such_value_finds_nothing(alice: Client, query: str) -> None:
    ConflictFactory.create()

    assert listed(alice, query) == []


def test_the_shared_views_count_what_they_lead_to(alice: Client) -> None:
    mine = {"assignee": alice_user(), "assigned_at": NOW}
    ConflictFactory.create(**mine, due_at=FAR)
    ConflictFactory.create(**came(100_000), due_at=FAR)
    ConflictFactory.create(status="PROPOSED", due_at=FAR)
    ConflictFactory.create(status="DISMISSED", resolved_at=LATER)
    ConflictFactory.create()

    views = alice.get(list_of(Conflict)).context["views"]

    assert [(view.name, view.number, view.is_current) for view in views] == [
        ("To decide", "4", True),
        ("Mine", "1", False),
        ("Unassigned", "3", False),
        ("Overdue", "1", False),
        ("Large", "1", False),
        ("Proposed", "1", False),
    ]
    for view in views:
        answer = alice.get(view.link)
        assert str(len(answer.context["cl"].result_list)) == view.number, view.name
        assert [one.name for one in answer.context["views"] if one.is_current] == [view.name]


def test_a_view_is_kept_under_a_name_for_its_user_and_forgotten(alice: Client) -> None:
    query = "age=day&reason__exact=LATE_PAYMENT"
    save = alice.get(f"{list_of(Conflict)}?{query}&p=2").context["save_link"]

    alice.post(save, {"name": "Late ones"})
    alice.post(save, {"name": "Late ones"})

    view = alice.get(f"{list_of(Conflict)}?{query}").context["views"][-1]
    assert (view.name, view.link, view.is_current) == (
        "Late ones",
        f"{list_of(Conflict)}?{query}",
        True,
    )
    bob = someone("bob", "viewer")
    assert "Late ones" not in [v.name for v in bob.get(list_of(Conflict)).context["views"]]
    assert bob.post(view.forget).status_code == 404
    assert alice.get(view.forget).status_code == 200
    assert SavedView.objects.count() == 1
    alice.post(view.forget)
    assert not SavedView.objects.exists()


def test_nobody_keeps_more_views_than_fit_above_the_list(alice: Client) -> None:
    save = reverse("admin:payments_conflict_save_view")
    for number in range(21):
        answer = alice.post(f"{save}?age=day", {"name": f"view {number}"})

    assert SavedView.objects.count() == 20
    assert "forget one" in said(answer)


def test_a_conflict_is_taken_on_from_the_list_and_laid_back(alice: Client) -> None:
    conflict, me = ConflictFactory.create(), alice_user()
    link = reverse("admin:payments_conflict_assign", args=[conflict.pk])
    back = f"{list_of(Conflict)}?overdue=yes"

    shown = alice.get(list_of(Conflict)).content.decode()
    assert f'data-assign="{link}" data-holder=""' in shown
    taken = alice.post(link, {"to": me.pk, "seen": "", "back": back})

    conflict.refresh_from_db()
    assert (taken["Location"], conflict.assignee) == (back, me)
    assert "Lay it back" in alice.get(page_of(conflict)).content.decode()
    alice.post(link, {"to": "", "seen": me.pk, "back": "https://elsewhere.example/"})
    conflict.refresh_from_db()
    assert conflict.assignee is None


def test_who_takes_what_another_has_taken_meanwhile_is_told(alice: Client) -> None:
    conflict, bob = ConflictFactory.create(), someone("bob", "reviewer")
    link = reverse("admin:payments_conflict_assign", args=[conflict.pk])
    his = User.objects.get(username="bob").pk
    bob.post(link, {"to": his, "seen": ""})

    answer = alice.post(link, {"to": alice_user().pk, "seen": "", "back": "//elsewhere.example"})

    conflict.refresh_from_db()
    assert "assignee was nobody and is bob" in said(answer)
    assert answer["Location"] == page_of(conflict)
    assert conflict.assignee_id == his
    assert someone("vera", "viewer").post(link, {"to": "", "seen": his}).status_code == 403
    assert alice.post(link, {"to": "999999", "seen": his}).status_code == 400
    assert alice.post(link, {"to": "", "seen": "x"}).status_code == 400


def test_many_are_dismissed_where_that_is_harmless_and_the_others_are_named(
    account: ProviderAccount, alice: Client
) -> None:
    known = [
        ConflictFactory.create(reason=ConflictReason.EXTERNAL_REFUND, due_at=FAR) for _ in "abc"
    ]
    late = ConflictFactory.create(reason=ConflictReason.LATE_PAYMENT, due_at=FAR)
    chosen = {"action": "dismiss_many", "_selected_action": [row.pk for row in (*known, late)]}
    asked = alice.post(list_of(Conflict), chosen, follow=True)
    shown = asked.content.decode()
    Conflict.objects.filter(pk=known[0].pk).update(version=7)

    assert "3 conflicts are dismissed" in shown
    assert "1 others stay as they are: only EXTERNAL_REFUND, PAYMENT_NOT_FOUND" in shown
    answer = alice.post(reverse(DISMISS), {**form_of(asked), "why": "known to the shop"})

    assert "Dismissed: 2." in said(answer)
    assert f"Conflict {known[0].pk} was left alone. It has moved since" in said(answer)
    assert set(Conflict.objects.filter(status="DISMISSED")) == set(known[1:])
    again = alice.post(reverse(DISMISS), {**form_of(asked), "why": "known to the shop"})
    assert "Dismissed: 0." in said(again)


def test_nobody_without_the_right_dismisses_many(alice: Client) -> None:
    conflict = ConflictFactory.create(reason=ConflictReason.EXTERNAL_REFUND)
    vera = someone("vera", "viewer")
    sent = {"seen": f"{conflict.pk}:1", "why": "x"}

    assert vera.post(reverse(DISMISS), sent).status_code == 403
    shown = vera.get(list_of(Conflict)).content.decode()
    assert "dismiss_many" not in shown
    assert "queue-assign" not in shown
    assert (
        "This field is required"
        in alice.post(reverse(DISMISS), {**sent, "why": ""}).content.decode()
    )
    for spoilt in ("x:1", "1", f"{conflict.pk}:1.5"):
        assert alice.post(reverse(DISMISS), {"seen": spoilt, "why": "x"}).status_code == 400
    assert Conflict.objects.get().status == "OPEN"


def test_the_keys_come_from_a_file_of_ours_and_are_written_down(alice: Client) -> None:
    ConflictFactory.create()
    shown = alice.get(list_of(Conflict)).content.decode()

    assert '<script src="/static/console/queue.js"></script>' in shown
    for key in ("j", "k", "Enter", "a", "x", "/", "?"):
        assert f"<kbd>{key}</kbd>" in shown
