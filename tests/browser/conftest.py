"""One browser for all tests of the console, and one page of it for each."""

import os
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.db import connections
from playwright.sync_api import BrowserContext, sync_playwright

from payments.models import ProviderAccount
from tests.browser import chromium
from tests.browser.console import Console, consoles, new_context
from tests.payments.conflicts import deciding


@pytest.fixture(scope="package")
def browser() -> Iterator[BrowserContext]:
    """A browser without a window; what one test has loaded, the next need not."""
    program = chromium.program()
    # Playwright keeps an event loop in this thread, in which Django would refuse to ask the
    # database; nothing here is asynchronous.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    try:
        with sync_playwright() as playwright:
            running = playwright.chromium.launch(
                executable_path=program, args=["--no-sandbox", "--disable-gpu"]
            )
            yield new_context(running)
            running.close()
            # Under that loop Django keeps connections apart, which nobody else would close.
            connections.close_all()
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def console(browser: BrowserContext, live_service: str) -> Iterator[Console]:
    """The console before somebody who may everything; the browser had nothing to complain of."""
    for console in consoles(browser, live_service):
        console.log_in(User.objects.create_superuser("root"))
        yield console
        assert console.taken_complaints() == []


@pytest.fixture
def another_console(browser: BrowserContext, live_service: str) -> Iterator[Console]:
    """The console in the browser of somebody else, who is not logged in yet."""
    assert browser.browser is not None
    context = new_context(browser.browser)
    for console in consoles(context, live_service):
        yield console
        assert console.taken_complaints() == []
    context.close()


@pytest.fixture
def account(live_service: str) -> ProviderAccount:
    """An account that can send refunds, of a merchant for whom one person decides."""
    return deciding.sending_account()
