"""The theme says what is true here: rows are made by what happens, and pages have one name."""

import re

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client

from config.console.navigation import NAVIGATION
from orders.models import Order
from tests.console.rooms import TABLES, Rows, list_of, page_of


@pytest.mark.parametrize("table", TABLES)
def test_a_list_and_its_rows_have_the_name_of_the_menu(
    superuser: Client, rows: Rows, table: type[Model]
) -> None:
    items = [item for group in NAVIGATION for item in group["items"]]
    (name,) = [item["title"] for item in items if item["link"] == list_of(table)]

    shown = superuser.get(list_of(table)).content.decode()
    row = superuser.get(page_of(rows[table])).content.decode()

    assert f"<title>{name} | Paidonce" in re.sub(r"\s+", " ", shown).replace("<title> ", "<title>")
    assert re.search(rf'class="c-crumb[^"]*">{name}</a>', shown)
    assert re.search(rf'class="c-crumb[^"]*">{name}</a>', row)


def test_an_empty_list_speaks_of_no_creating(superuser: Client) -> None:
    empty = superuser.get(list_of(Order)).content.decode()
    nothing_found = superuser.get(f"{list_of(Order)}?q=none").content.decode()

    assert "Nothing here yet" in empty
    assert "Nothing matches" in nothing_found
    for page in (empty, nothing_found):
        assert "Create a new item" not in page


def test_what_leads_back_does_not_offer_to_close_an_order(superuser: Client, rows: Rows) -> None:
    page = superuser.get(page_of(rows[Order])).content.decode()

    assert "Back to the list" in page
    assert re.search(r">\s*Close\s*<", page) is None
    assert 'name="_save"' not in page


def test_people_are_still_added_and_changed(superuser: Client) -> None:
    added = superuser.post(
        "/admin/auth/user/add/",
        {
            "username": "anna",
            "password1": "correct horse 12",
            "password2": "correct horse 12",
            "usable_password": "true",
            "_continue": "1",
        },
    )
    anna = User.objects.get(username="anna")
    page = superuser.get(f"/admin/auth/user/{anna.pk}/change/").content.decode()

    assert added.status_code == 302
    for name in ("_save", "_continue"):
        assert f'name="{name}"' in page
    assert f"/admin/auth/user/{anna.pk}/delete/" in page
