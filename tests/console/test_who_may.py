"""Who may enter the console, what nobody may do there, and what a browser may run."""

import pytest
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.test import Client

from config.csp import ELSEWHERE
from orders.models import Merchant, Order
from payments.models import Conflict, Delivery
from tests.console.rooms import (
    MONEY_TABLES,
    Rows,
    addition_to,
    deletion_of,
    list_of,
    page_of,
    pages,
)
from tests.console.staff import staff


def test_a_stranger_is_asked_to_log_in(client: Client, rows: Rows) -> None:
    for page in pages(rows):
        response = client.get(page)
        assert (response.status_code, response["Location"].partition("?")[0]) == (
            302,
            "/admin/login/",
        ), page


def test_staff_without_permissions_see_nothing(rows: Rows) -> None:
    clerk = staff()

    assert {clerk.get(page).status_code for page in pages(rows)[1:]} == {403}
    first_page = clerk.get("/admin/")
    assert (first_page.context["figures"], first_page.context["sections"]) == ([], [])
    assert "/admin/payments/" not in first_page.content.decode()


def test_staff_see_what_they_may_view_and_no_more(rows: Rows) -> None:
    clerk = staff("view_conflict")

    assert clerk.get(page_of(rows[Conflict])).status_code == 200
    assert clerk.get(page_of(rows[Delivery])).status_code == 403
    assert [figure.title for figure in clerk.get("/admin/").context["figures"]] == [
        "Conflicts to decide"
    ]


@pytest.mark.parametrize("table", MONEY_TABLES)
def test_nobody_adds_changes_or_deletes_what_concerns_money(
    superuser: Client, rows: Rows, table: type[Order]
) -> None:
    before = list(QuerySet(table).values())
    row = rows[table]

    for address in (addition_to(table), page_of(row), deletion_of(row)):
        assert superuser.post(address, {"post": "yes", "status": "PAID"}).status_code == 403
    assert superuser.get(addition_to(table)).status_code == 403
    assert superuser.get(deletion_of(row)).status_code == 403
    superuser.post(
        list_of(table),
        {"action": "delete_selected", "_selected_action": str(row.pk), "post": "yes"},
    )
    superuser.post(list_of(table), {"form-TOTAL_FORMS": "1", "_save": "1"})

    assert list(QuerySet(table).values()) == before


@pytest.mark.parametrize("permission", ["add", "change", "delete"])
def test_no_permission_of_djangos_opens_what_is_closed(rows: Rows, permission: str) -> None:
    clerk = staff(f"{permission}_order", "view_order")

    assert clerk.post(page_of(rows[Order]), {"status": "PAID"}).status_code == 403
    assert clerk.post(deletion_of(rows[Order]), {"post": "yes"}).status_code == 403
    assert clerk.post(addition_to(Order), {}).status_code == 403


def test_a_superuser_renames_and_stops_a_merchant_and_nothing_else(
    superuser: Client, rows: Rows
) -> None:
    merchant = rows[Merchant]

    answer = superuser.post(page_of(merchant), {"name": "New name", "code": "other"})

    assert answer.status_code == 302
    changed = Merchant.objects.get(pk=merchant.pk)
    assert (changed.name, changed.active, changed.code) == ("New name", False, merchant.code)
    assert superuser.post(deletion_of(merchant), {"post": "yes"}).status_code == 403
    assert superuser.post(addition_to(Merchant), {"name": "x", "code": "y"}).status_code == 403


def test_staff_may_not_stop_a_merchant(rows: Rows) -> None:
    clerk = staff("change_merchant", "view_merchant")

    assert clerk.post(page_of(rows[Merchant]), {"name": "x"}).status_code == 403
    assert Merchant.objects.get().active is True


def test_the_cookies_are_for_the_server_only(db: None) -> None:
    User.objects.create_superuser("root", password="correct horse 12")
    client = Client()
    client.get("/admin/login/")

    client.post("/admin/login/", {"username": "root", "password": "correct horse 12"})

    for name in ("sessionid", "csrftoken"):
        cookie = client.cookies[name]
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax"), name
    assert client.cookies["sessionid"]["max-age"] == 12 * 60 * 60


@pytest.mark.parametrize("address", ["/admin/", "/admin/login/", "/admin/nowhere/"])
def test_a_page_of_the_console_runs_no_script_of_its_own_text(
    superuser: Client, address: str
) -> None:
    policy = _policy(superuser, address)

    assert policy == {
        "default-src": "'self'",
        "img-src": "'self' data:",
        "script-src": "'self' 'unsafe-eval'",
        "style-src": "'self'",
        "style-src-attr": "'unsafe-inline'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "object-src": "'none'",
    }


@pytest.mark.parametrize(
    "address", ["/healthz", "/readyz", "/v1/orders", "/nowhere", "/callbacks/stripe/nobody"]
)
def test_what_is_no_page_may_load_nothing(client: Client, db: None, address: str) -> None:
    assert client.get(address)["Content-Security-Policy"] == ELSEWHERE
    assert _policy(client, address) == {"default-src": "'none'", "frame-ancestors": "'none'"}


def test_the_description_of_the_api_runs_scripts_of_ours_alone(client: Client, db: None) -> None:
    assert _policy(client, "/v1/docs")["script-src"] == "'self'"


def test_no_page_names_an_address_elsewhere(superuser: Client, rows: Rows) -> None:
    for page in ["/admin/login/", *pages(rows)]:
        shown = superuser.get(page, follow=True).content.decode()
        assert 'src="http' not in shown, page
        assert 'href="http' not in shown, page


def _policy(client: Client, address: str) -> dict[str, str]:
    header = client.get(address)["Content-Security-Policy"]
    parts = (part.strip().partition(" ") for part in header.split(";"))
    return {name: value for name, _, value in parts}
