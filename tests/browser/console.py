"""The console as a person has it before him, and what no page of it may do."""

import importlib.resources
from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    Response,
)

_AXE: Final = importlib.resources.files("axe_playwright_python").joinpath("axe.min.js").read_text()
#: WCAG 2.2 at level AA, as axe names its parts.
_WCAG: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")
_RUN_AXE: Final = """
    ([only, without]) => axe.run(
        {include: document, exclude: without},
        {runOnly: only, resultTypes: ["violations"]},
    ).then((found) =>
        found.violations.flatMap((rule) => rule.nodes.map((node) =>
            `${rule.id}: ${node.target.join(" ")}: ${node.html.slice(0, 160)}`)))
"""
#: What sticks out on the right, if the page as a whole can be pushed sideways.
_TOO_WIDE: Final = """
    () => {
        const room = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= room) return [];
        return [...document.querySelectorAll("body *")]
            .filter((it) => it.getBoundingClientRect().right > room + 1 && it.checkVisibility())
            .map((it) => `${it.tagName.toLowerCase()}.${it.className}`).slice(0, 8);
    }
"""
#: What a mouse could work and the Tab key does not come to.
_OUT_OF_REACH: Final = """
    () => [...document.querySelectorAll(
            "a[href], button, input, select, textarea, summary, [role=button], [x-on\\\\:click]"
        )]
        .filter((it) => it.checkVisibility({visibilityProperty: true}) && !it.disabled
            && it.type !== "hidden" && it.getClientRects().length)
        .filter((it) => {
            if (it.querySelector("a[href], button, input, select, textarea")) return false;
            it.focus();
            return document.activeElement !== it || it.tabIndex < 0;
        })
        .map((it) => it.outerHTML.slice(0, 160))
"""
_LOOK: Final = "(dark) => document.documentElement.classList.toggle('dark', dark)"
#: The looks that the console has.
MODES: Final = ("light", "dark")


class Size(NamedTuple):
    """The window, in CSS pixels."""

    width: int
    height: int


DESK: Final = Size(1280, 800)
PHONE: Final = Size(390, 844)


class Console:
    """One page of one browser at the console of a service that runs at `url`."""

    def __init__(self, context: BrowserContext, page: Page, url: str) -> None:
        self._context = context
        self.page = page
        self.url = url
        #: What the browser complained of since it was last asked.
        self.complaints: list[str] = []
        page.on("console", self._said)
        page.on("pageerror", self._failed)
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.on("dialog", self._interrupted)

    def log_in(self, user: User) -> None:
        """From now on this user looks at the pages; costs no page and no password."""
        client = Client()
        client.force_login(user)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        self._context.clear_cookies()
        self._context.add_cookies(
            [{"name": cookie.key, "value": cookie.value, "url": self.url, "httpOnly": True}]
        )

    def speak(self, language: str) -> None:
        """The language in which pages are shown from now on: a code of `settings.LANGUAGES`."""
        self._context.add_cookies(
            [{"name": settings.LANGUAGE_COOKIE_NAME, "value": language, "url": self.url}]
        )

    def log_out(self) -> None:
        """From now on nobody in particular looks at the pages."""
        self._context.clear_cookies()

    def show(self, *, size: Size = DESK, mode: str = "light") -> None:
        """The window and the look in which pages are shown from now on, and this one too."""
        self.page.set_viewport_size({"width": size.width, "height": size.height})
        self.page.emulate_media(color_scheme="dark" if mode == "dark" else "light")
        # A page that is open has chosen its look when it was loaded.
        self.page.evaluate(_LOOK, mode == "dark")

    def open(self, path: str) -> Page:
        """The page at this path, when its scripts, its fonts and its pictures are there."""
        self.page.goto(f"{self.url}{path}", wait_until="load")
        self.settle()
        return self.page

    def settle(self) -> None:
        """Wait for fonts, which change the room that texts take."""
        self.page.evaluate("() => document.fonts.ready.then(() => null)")

    def deeds(self) -> list[str]:
        """The pages to which this one leads by what can be done on it."""
        script = "(links) => links.map((link) => link.getAttribute('href'))"
        return list(self.page.eval_on_selector_all(".c-deeds a[href]", script))

    def taken_complaints(self) -> list[str]:
        """What the browser complained of; forgotten afterwards."""
        taken, self.complaints = self.complaints, []
        return taken

    def inaccessible(self, *rules: str) -> list[str]:
        """What axe finds on this page against WCAG 2.2 AA, or against these of its rules.

        The sidebar, which is the same on all pages, is looked at on the first one only.
        """
        if not self.page.evaluate("() => 'axe' in window"):
            self.page.evaluate(_AXE)
        only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": _WCAG}
        is_first = urlsplit(self.page.url).path == "/admin/"
        without = [] if is_first else ["#nav-sidebar-inner"]
        return list(self.page.evaluate(_RUN_AXE, [only, without]))

    def too_wide(self) -> list[str]:
        """What makes this page scroll sideways."""
        return list(self.page.evaluate(_TOO_WIDE))

    def out_of_reach(self) -> list[str]:
        """What can be clicked on this page and not be come to by keyboard."""
        return list(self.page.evaluate(_OUT_OF_REACH))

    def _said(self, message: ConsoleMessage) -> None:
        # A policy that is broken is said here, too.
        if message.type in ("error", "warning"):
            self.complaints.append(f"{self.page.url}: {message.text}")

    def _failed(self, error: Any) -> None:
        self.complaints.append(f"{self.page.url}: {error}")

    def _interrupted(self, dialog: Dialog) -> None:
        # No page of ours opens one: that is what foreign script would do.
        self.complaints.append(f"{self.page.url}: dialog {dialog.message}")
        dialog.dismiss()

    def _asked(self, request: Request) -> None:
        host = urlsplit(request.url)
        if host.scheme not in ("data", "blob") and not request.url.startswith(self.url):
            self.complaints.append(f"{self.page.url}: asked {host.netloc}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.complaints.append(f"{response.url}: {response.status}")


def new_context(browser: Browser) -> BrowserContext:
    """What one person's browser is: cookies and loaded files of its own."""
    return browser.new_context(reduced_motion="reduce")


def consoles(context: BrowserContext, url: str) -> Iterator[Console]:
    """A console in a page of its own, which keeps what the context has loaded before."""
    page = context.new_page()
    page.set_default_timeout(10_000)
    yield Console(context, page, url)
    page.close()
    context.clear_cookies()
