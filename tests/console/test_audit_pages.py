"""The audit in the console: on each object's page, as a list with filters, with its chain."""

from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, models
from django.test import Client

from audit.models import AuditEntry, Verification
from config.console import audit_trail
from idempotency.models import Record
from orders.models import ApiKey, Merchant, Order
from outbox.models import Destination, Dispatch, Endpoint, Event
from payments.models import (
    AccountKey,
    Confirmation,
    Conflict,
    ConflictPolicy,
    Delivery,
    ManualPayment,
    Proposal,
    ProviderAccount,
    ProviderTransaction,
    Recipient,
    Refund,
)
from tests.console.rooms import TABLES, Rows, entered, list_of, page_of
from tests.console.staff import staff

pytestmark = pytest.mark.django_db

#: How the code that enters it names each object.
NAMED: Mapping[type[models.Model], Callable[[Any], tuple[str, object]]] = {
    Order: lambda row: ("order", row.pk),
    ProviderTransaction: lambda row: ("transaction", row.pk),
    Delivery: lambda row: ("delivery", row.pk),
    Refund: lambda row: ("refund", row.pk),
    Conflict: lambda row: ("conflict", row.pk),
    ProviderAccount: lambda row: ("account", row.endpoint),
    Destination: lambda row: ("destination", row.code),
    Endpoint: lambda row: ("webhook", row.destination.code),
    Event: lambda row: ("event", row.pk),
    Dispatch: lambda row: ("event", row.event_id),
    Merchant: lambda row: ("merchant", row.pk),
    ApiKey: lambda row: ("api_key", row.prefix),
    AccountKey: lambda row: ("account", row.account.endpoint),
    Record: lambda row: ("record", row.pk),
    Proposal: lambda row: ("conflict", row.conflict_id),
    ConflictPolicy: lambda row: ("policy", f"{row.merchant.code}/{row.version}"),
    ManualPayment: lambda row: ("order", row.order_id),
    Recipient: lambda row: ("recipient", row.pk),
}
#: What nobody does anything to, and the audit itself.
UNNAMED = {Confirmation, AuditEntry}


def test_every_screen_shows_what_was_done_to_its_rows() -> None:
    assert set(NAMED) | UNNAMED == set(TABLES)


@pytest.mark.parametrize("table", NAMED)
def test_what_was_done_to_a_row_is_on_its_page(
    superuser: Client, rows: Rows, table: type[models.Model]
) -> None:
    kind, name = NAMED[table](rows[table])
    about = {"object_type": kind, "object_id": str(name)}
    changed = {"before": {"state": "OLD"}, "after": {"state": "NEW"}}
    entered(action="thing.done", why="because <b>", **about, **changed)
    entered(action="other.done", object_type=kind, object_id="another")

    page = superuser.get(page_of(rows[table])).content.decode()

    for shown in ("anna", "PERSON", "thing.done", "because &lt;b&gt;", "203.0.113.9"):
        assert shown in page, shown
    assert "<b>state</b> OLD &rarr; NEW" in page
    assert "other.done" not in page
    assert f"?about={kind}+" in page


@pytest.mark.parametrize("table", [Order, ProviderTransaction, Delivery])
def test_what_was_decided_of_a_conflict_is_on_the_pages_of_its_money(
    superuser: Client, rows: Rows, table: type[models.Model]
) -> None:
    entered(action="conflict.resolved", object_type="conflict", object_id=rows[Conflict].pk)

    assert "conflict.resolved" in superuser.get(page_of(rows[table])).content.decode()


def test_a_person_has_his_own(superuser: Client) -> None:
    clerk = staff("view_order", name="clerk").session["_auth_user_id"]
    entered(action="user.changed", object_type="user", object_id=clerk)

    page = superuser.get(f"/admin/auth/user/{clerk}/change/").content.decode()
    assert "user.changed" in page


def test_who_may_not_look_into_the_audit_sees_none_of_it(rows: Rows) -> None:
    entered(action="order.touched", object_type="order", object_id=rows[Order].pk)
    may = staff("view_order", "view_auditentry", name="a")
    may_not = staff("view_order", name="b")

    assert "order.touched" in may.get(page_of(rows[Order])).content.decode()
    assert "order.touched" not in may_not.get(page_of(rows[Order])).content.decode()
    assert may_not.get(list_of(AuditEntry)).status_code == 403


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["key.made", "user.left", "user.came"]),
        ("?action=user.", ["user.left", "user.came"]),
        ("?who=berta", ["user.left"]),
        ("?about=user", ["user.left", "user.came"]),
        ("?about=user+7", ["user.came"]),
        ("?about=user+700", []),
        ("?actor_kind=PERSON", ["key.made", "user.left", "user.came"]),
        ("?actor_kind=COMMAND", []),
        ("?q=key.made", ["key.made"]),
        ("?at_from_0=2000-01-01&at_to_0=2000-01-02", []),
        ("?at_from_0=2000-01-01", ["key.made", "user.left", "user.came"]),
    ],
)
def test_the_list_is_filtered(superuser: Client, asked: str, found: list[str]) -> None:
    entered(action="user.came", object_type="user", object_id=7)
    entered(action="user.left", object_type="user", object_id=8, actor="berta")
    entered(action="key.made", object_type="key", object_id=7)

    answer = superuser.get(f"{list_of(AuditEntry)}{asked}")

    shown = [entry.action for entry in answer.context["cl"].result_list]
    assert [action for action in shown if action != "login"] == found


def test_the_list_says_how_far_the_chain_was_walked(superuser: Client) -> None:
    address = list_of(AuditEntry)
    assert "was never verified" in superuser.get(address).content.decode()

    verified = entered().seq
    call_command("verify_audit", stdout=StringIO())
    end = entered().seq
    page = superuser.get(address).content.decode()
    assert f"verified up to entry {verified} at" in page
    assert f"it has {end} entries now" in page


def test_a_broken_chain_is_said_aloud(superuser: Client) -> None:
    entered(why="true")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_auditentry DISABLE TRIGGER ALL")
        cursor.execute("UPDATE audit_auditentry SET why = 'false'")
    with pytest.raises(CommandError, match="broken at entry 1"):
        call_command("verify_audit", stdout=StringIO())

    assert "The chain is BROKEN" in superuser.get(list_of(AuditEntry)).content.decode()
    assert Verification.objects.get().seq == 0


def test_a_long_change_is_short_on_a_page_and_whole_on_its_own(superuser: Client) -> None:
    entry = entered(after={f"field {number}": number for number in range(9)})

    assert "and 5 more" in audit_trail.changes(entry, most=4)
    page = superuser.get(page_of(entry)).content.decode()
    assert "field 8" in page
