"""Proposals, policies and manual payments are read and never edited, at the same cost for many."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Model, QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext

from payments.models import ConflictPolicy, ManualPayment, Proposal, Resolution
from tests.console.rooms import addition_to, deletion_of, list_of, page_of
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.payments.conflicts import deciding
from tests.payments.conflicts.deciding import LATER, somebody
from tests.payments.telling import NOW

pytestmark = pytest.mark.django_db

SCREENS: tuple[type[Model], ...] = (Proposal, ConflictPolicy, ManualPayment)


def another(table: type[Model]) -> None:
    """One more row, of a merchant and an order of its own."""
    account = ProviderAccountFactory.create()
    alice = somebody("alice", "reviewer")
    if table is Proposal:
        conflict = deciding.late(account, txn_no=f"txn_{account.pk}")
        deciding.propose(conflict, Resolution.ACCEPT, alice)
    elif table is ConflictPolicy:
        deciding.alone_up_to(account.merchant)
    else:
        ManualPayment.objects.create(
            order=OrderFactory.create(merchant=account.merchant),
            order_version=0,
            amount_minor=1099,
            currency="USD",
            note="cash",
            needs_two=True,
            proposed_by_id=alice.user_id,
            proposed_at=NOW,
            status="REJECTED",
            decided_by_id=User.objects.get(username="root").pk,
            decided_at=LATER,
        )


@pytest.mark.parametrize("table", SCREENS)
def test_nobody_adds_changes_or_deletes_them_by_a_form(
    superuser: Client, table: type[Model]
) -> None:
    another(table)
    row: Any = QuerySet(table).get()
    before = list(QuerySet(table).values())

    assert superuser.get(page_of(row)).status_code == 200
    for address in (addition_to(table), page_of(row), deletion_of(row)):
        assert superuser.post(address, {"post": "yes", "status": "BOOKED"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": str(row.pk), "post": "yes"}
    superuser.post(list_of(table), chosen)

    assert list(QuerySet(table).values()) == before


@pytest.mark.parametrize("table", SCREENS)
def test_a_list_asks_the_database_the_same_for_one_row_and_for_many(
    superuser: Client, table: type[Model]
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert superuser.get(list_of(table)).status_code == 200
        return len(asked)

    another(table)
    queries()  # A session's first page asks more.
    one = queries()
    for _ in range(4):
        another(table)

    assert queries() == one
    assert one <= 14
