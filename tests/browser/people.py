"""Who sits before the console, and what he does on more than one of its pages."""

from django.contrib.auth.models import User
from playwright.sync_api import Page

from payments.models import Conflict
from tests.console.rooms import list_of, page_of
from tests.payments.conflicts.deciding import somebody

QUEUE = list_of(Conflict)


def user(name: str, *roles: str) -> User:
    """Somebody with these roles."""
    return User.objects.get(pk=somebody(name, *roles).user_id)


def queued(page: Page) -> list[str]:
    """The addresses that the rows of the queue lead to."""
    page.locator("#changelist").wait_for()
    links = page.locator("#result_list tr.data-row th a")
    return [str(link.get_attribute("href")).partition("?")[0] for link in links.all()]


def row_of(conflict: Conflict) -> str:
    """The link of its row."""
    return f'#result_list a[href^="{page_of(conflict)}"]'


def confirm(page: Page) -> None:
    """Press the button of a page that asks, and see the page that follows."""
    page.locator(".c-asking button[type=submit]").click()
    page.locator(".c-asking").wait_for(state="detached")
