"""A reviewer who has no mouse works the queue and decides."""

from playwright.sync_api import Page

from payments.models import ProviderAccount, Resolution
from tests.browser.console import Console
from tests.browser.people import QUEUE, user
from tests.console.conflict.filling import address
from tests.console.rooms import page_of
from tests.factories import ConflictFactory
from tests.payments.conflicts import deciding

#: So many presses reach everything that stands behind the sidebar.
_TABS_MAX = 40


def test_the_queue_is_worked_by_its_keys(console: Console, account: ProviderAccount) -> None:
    second = deciding.late(account)
    first = ConflictFactory.create()  # of severity PAGE, so that it stands above
    alice = user("alice", "reviewer")
    console.log_in(alice)
    page = console.open(QUEUE)

    page.keyboard.press("?")
    page.locator("#queue-keys[open]").wait_for()
    page.keyboard.press("Escape")
    page.locator("#queue-keys[open]").wait_for(state="detached")
    page.keyboard.press("/")
    assert page.evaluate("() => document.activeElement.id") == "searchbar"
    page.keyboard.type("jk?")
    assert page.locator("#searchbar").input_value() == "jk?"
    page.keyboard.press("Tab")
    moves = [_current(page, key) for key in ("j", "j", "k", "j")]
    assert moves == [page_of(one) for one in (first, second, first, second)]
    with page.expect_navigation():
        page.keyboard.press("a")
    second.refresh_from_db()
    assert second.assignee == alice
    with page.expect_navigation():
        page.keyboard.press("j")
        page.keyboard.press("Enter")
    assert page.url.startswith(f"{console.url}{page_of(first)}")


def test_a_conflict_is_decided_with_tab_and_enter(
    console: Console, account: ProviderAccount
) -> None:
    conflict = deciding.mismatch(account)
    console.log_in(user("alice", "reviewer"))
    page = console.open(page_of(conflict))

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the content
    _tab_to(page, f'.c-ways a[href="{address(conflict, Resolution.ACCEPT_RECEIVED)}"]')
    page.keyboard.press("Enter")
    page.locator("#id_amount").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    _tab_to(page, "#id_amount")
    page.keyboard.type("10.00")
    _tab_to(page, "#id_why")
    page.keyboard.type("agreed on the telephone")
    _tab_to(page, ".c-asking button[type=submit]")
    page.keyboard.press("Enter")

    page.locator(".c-timeline").wait_for()
    conflict.refresh_from_db()
    assert (conflict.decision, conflict.why) == ("ACCEPT_RECEIVED", "agreed on the telephone")


def _current(page: Page, key: str) -> str:
    """Where the row leads that this key has come to."""
    page.keyboard.press(key)
    link = page.evaluate("() => document.activeElement.getAttribute('href')")
    return str(link).partition("?")[0]


def _tab_to(page: Page, selector: str) -> None:
    for _ in range(_TABS_MAX):
        page.keyboard.press("Tab")
        if page.evaluate("(it) => document.activeElement.matches(it)", selector):
            return
    raise AssertionError(selector)
