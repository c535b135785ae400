"""Somebody who reads Chinese finds, understands and decides a conflict, and meets no English."""

from playwright.sync_api import Page

from payments.models import ProviderAccount, Resolution
from tests.browser.console import Console
from tests.browser.people import QUEUE, confirm, row_of, user
from tests.console.conflict.filling import address
from tests.payments.conflicts import deciding

#: Four words in a row. Codes, names, numbers and what people wrote are what they are.
_ENGLISH = r"""
    () => {
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const read = [];
        while (texts.nextNode()) {
            const within = texts.currentNode.parentElement;
            if (!within.closest("script, style, template, pre, code"))
                read.push(texts.currentNode.textContent);
        }
        for (const name of ["title", "aria-label", "placeholder"])
            for (const element of document.querySelectorAll(`[${name}]`))
                read.push(element.getAttribute(name));
        return read.flatMap((text) => text.match(/[A-Za-z]+(?:,? [a-z]+){3,}/g) ?? []);
    }
"""


def test_a_reader_of_chinese_meets_no_english_sentence(
    console: Console, account: ProviderAccount
) -> None:
    conflict = deciding.late(account)
    console.log_in(user("alice", "reviewer", "approver"))
    assert english(console.open("/admin/")) != []
    console.speak("zh-hans")
    page = console.open("/admin/")
    found = {"overview": english(page)}

    page.locator(f'#nav-sidebar-inner a[href="{QUEUE}"]').click()
    page.locator(row_of(conflict)).wait_for()
    found["queue"] = english(page)
    page.locator(row_of(conflict)).click()
    page.locator(".c-question").wait_for()
    found["conflict"] = english(page)
    page.locator(f'.c-ways a[href="{address(conflict, Resolution.REFUND)}"]').click()
    page.locator("#id_why").fill("付款人已来电")
    found["decide"] = english(page)
    confirm(page)
    page.locator(".c-timeline").wait_for()
    found["decided"] = english(page)

    conflict.refresh_from_db()
    assert (conflict.decision, conflict.why) == (Resolution.REFUND, "付款人已来电")
    assert page.get_attribute("html", "lang") == "zh-hans"
    assert {name: sentences for name, sentences in found.items() if sentences} == {}


def english(page: Page) -> list[str]:
    """The English sentences on it."""
    return list(page.evaluate(_ENGLISH))
