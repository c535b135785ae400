"""What leads a person from a question to its answer, and from one conflict to the next."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from config.console.conflict import advice
from payments.models import (
    Conflict,
    ConflictReason,
    ManualPayment,
    ProviderAccount,
    Resolution,
)
from tests.console.conflict.conftest import someone
from tests.console.rooms import list_of, page_of
from tests.factories import ConflictFactory
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import somebody

pytestmark = pytest.mark.django_db


def shown(client: Client, address: str) -> str:
    return unescape(client.get(address).content.decode())


def test_there_is_advice_for_every_reason() -> None:
    known = {*advice.OF_MONEY, *advice.OF_OTHERS, ConflictReason.AMOUNT_MISMATCH}

    assert known == set(ConflictReason)
    assert not advice.OF_MONEY.keys() & advice.OF_OTHERS.keys()


@pytest.mark.parametrize(("amount_minor", "says"), [(1000, "Too little"), (10990, "Too much")])
def test_another_amount_is_advised_on_by_its_kind(
    account: ProviderAccount, alice: Client, amount_minor: int, says: str
) -> None:
    conflict = deciding.mismatch(account, amount_minor)

    assert f"{says} came. Accept" in shown(alice, page_of(conflict))
    deciding.decide(conflict, Resolution.REFUND, somebody("dora", "reviewer"))
    assert f"{says} came" not in shown(alice, page_of(conflict))


def test_the_excess_goes_back_before_it_is_kept(account: ProviderAccount, alice: Client) -> None:
    page = shown(alice, page_of(deciding.mismatch(account, 10990)))

    assert 0 < page.index("refund the excess</a>") < page.index("Accept at the received amount</a>")


def test_after_a_decision_the_next_is_the_one_due_first_that_nobody_else_has(
    account: ProviderAccount, alice: Client
) -> None:
    conflict, dora = deciding.mismatch(account), somebody("dora", "reviewer")
    first, second, other = (
        ConflictFactory.create(transaction__account=account, subject=f"more:{number}")
        for number in range(3)
    )
    for hours, row in enumerate((other, first, second)):
        Conflict.objects.filter(pk=row.pk).update(due_at=deciding.LATER.replace(hour=hours))
    taken = {"assignee_id": dora.user_id, "assigned_at": deciding.LATER}
    Conflict.objects.filter(pk=other.pk).update(**taken)
    assert "Next to decide" not in shown(alice, page_of(conflict))

    deciding.decide(conflict, Resolution.REFUND, dora)

    link = f'href="{page_of(first)}">Next to decide</a>'
    assert link in shown(alice, page_of(conflict))
    assert "Next to decide" not in shown(someone("victor", "viewer"), page_of(conflict))
    Conflict.objects.filter(status="OPEN").update(**taken)
    assert "Next to decide" not in shown(alice, page_of(conflict))


def test_who_matches_is_told_which_order_the_payment_named(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.parked(account)
    match = reverse("admin:payments_conflict_resolve", args=[conflict.pk, "match"])

    assert "It names order 1001." in shown(alice, match)


def test_who_has_matched_gets_to_the_order_that_was_paid(
    account: ProviderAccount, alice: Client
) -> None:
    conflict = deciding.parked(account)
    order = deciding.payable_by(account, conflict)
    link = f'href="{page_of(order)}"'
    assert link not in shown(alice, page_of(conflict))

    deciding.decide(
        conflict, Resolution.MATCH, somebody("dora", "reviewer"), order_no=order.order_no
    )

    assert link in shown(alice, page_of(conflict))


def test_what_no_api_is_asked_about_says_where_to_look(
    account: ProviderAccount, alice: Client
) -> None:
    assert "its own pages show what happened." in shown(alice, page_of(deciding.external(account)))


def test_a_list_teaches_how_its_rows_come_about(alice: Client) -> None:
    assert "is marked as paid on its own page." in shown(alice, list_of(ManualPayment))
