"""What holds for every page of the console, whatever is on it."""

from collections.abc import Iterable
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from playwright.sync_api import Page

from orders.models import Order
from payments.models import Conflict, Delivery, Proposal, Resolution
from tests.browser.console import DESK, PHONE, Console
from tests.console.clock import now
from tests.console.conflict.filling import address
from tests.console.rooms import Rows, addition_to, furnish, list_of, page_of, pages
from tests.factories import MerchantFactory, ProviderAccountFactory
from tests.payments.conflicts import deciding


@pytest.fixture
def rows(console: Console) -> Rows:
    return furnish()


def faults(console: Console, paths: Iterable[str]) -> dict[str, str]:
    """What is wrong with the pages, each with the first that has it."""
    found: dict[str, str] = {}
    for path in paths:
        for fault in faults_of(console, path):
            found.setdefault(fault, path)
    return found


def faults_of(console: Console, path: str) -> list[str]:
    """What is wrong with one page, loaded once and looked at in every way."""
    console.open(path)
    return faults_here(console)


def faults_here(console: Console) -> list[str]:
    """What is wrong with the page that is shown."""
    console.show(size=DESK)
    found = [*console.inaccessible(), *console.too_wide(), *console.out_of_reach()]
    console.show(size=DESK, mode="dark")
    found += console.inaccessible("color-contrast")
    console.show(size=PHONE)
    return [*found, *console.too_wide(), *console.out_of_reach(), *console.taken_complaints()]


@pytest.mark.timeout(400)  # each of some hundred pages in three ways
def test_every_page_is_accessible_and_fits_and_is_worked_by_keyboard(
    console: Console, rows: Rows
) -> None:
    """Also those that ask before anything is done, wherever a page leads to one."""
    shown = [*pages(rows), *_of_no_row(rows), *_waiting(), "/admin/?by=day"]
    asking: dict[str, None] = {}
    found: dict[str, str] = {}
    for path in shown:
        found |= faults(console, [path])
        asking.update(dict.fromkeys(console.deeds()))
    found |= faults(console, asking)

    assert not found, "\n".join(f"{path}: {fault}" for fault, path in found.items())
    assert asking


def _of_no_row(rows: Rows) -> list[str]:
    """Pages about nothing in particular, about many rows, and about whoever looks at them."""
    one = {"ids": rows[Delivery].pk}
    return [
        *(f"{reverse('console_find')}?q={term}" for term in ("", "nobodys", rows[Order].order_no)),
        f"{reverse('admin:payments_delivery_replay')}?{urlencode(one)}",
        f"{reverse('admin:payments_conflict_save_view')}?decision=all",
        f"{list_of(Conflict)}?status__exact=DISMISSED",
        reverse("admin:payments_conflict_export"),
        *(page(table) for table in (User, Group) for page in (list_of, addition_to)),
        page_of(User.objects.get(username="root")),
        reverse("admin:auth_group_roles"),
        *(reverse(f"access:{name}") for name in ("preferences", "mine", "enrol")),
        reverse("admin:password_change"),
    ]


def _waiting() -> list[str]:
    """A conflict with every way to decide it, and one that waits for a second person."""
    account = ProviderAccountFactory.create()
    open_one = deciding.late(account)
    deciding.payable_by(account, open_one)
    proposed = deciding.mismatch(ProviderAccountFactory.create())
    proposal = deciding.propose(
        proposed, Resolution.ACCEPT_RECEIVED, deciding.somebody("alice", "reviewer")
    )
    Proposal.objects.filter(pk=proposal.pk).update(expires_at=now() + timedelta(days=1))
    ways = [address(open_one, how) for how in (Resolution.ACCEPT, Resolution.NOT_OURS)]
    match = address(open_one, Resolution.MATCH)
    return [
        *(page_of(row) for row in (open_one, proposed, proposal)),
        *(*ways, match, f"{match}?order_no=2002"),
        address(proposed, Resolution.ACCEPT_RECEIVED),
        reverse("admin:payments_conflict_assign", args=[open_one.pk]),
    ]


def test_what_a_form_answers_is_as_good_as_what_it_asks(console: Console) -> None:
    """A form with faults, the trial of a policy, and the codes that are shown once."""
    merchant = MerchantFactory.create()
    page = console.open(reverse("admin:payments_conflictpolicy_edit", args=[merchant.pk]))
    page.locator("#id_late_do").select_option("refund")
    page.locator("#id_why").fill("small late ones")
    _press(page)
    found = faults_here(console)
    assert page.locator("#id_late_limits").input_value() == ""
    page.locator("#id_late_limits").fill("50.00 USD")
    _press(page)
    found += faults_here(console)
    assert not page.locator("#id_late_do").count()

    assert found == []


def _press(page: Page) -> None:
    with page.expect_navigation():
        page.locator(".c-asking button[type=submit]").click()


def test_who_is_not_logged_in_finds_a_door_that_he_can_use(console: Console) -> None:
    console.log_out()

    assert faults_of(console, "/admin/login/") == []
