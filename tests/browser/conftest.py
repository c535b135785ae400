"""One browser for all tests of the console, and one page of it for each."""

import os
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import BrowserContext, sync_playwright

from tests.browser import chromium
from tests.browser.console import Console, consoles


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
            yield running.new_context(reduced_motion="reduce")
            running.close()
    finally:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def console(browser: BrowserContext, live_service: str) -> Iterator[Console]:
    """The console before somebody who may everything; the browser had nothing to complain of."""
    for console in consoles(browser, live_service):
        console.log_in(User.objects.create_superuser("root"))
        yield console
        assert console.taken_complaints() == []
