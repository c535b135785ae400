"""What strangers wrote runs nowhere, and breaks no page in the eyes of who works with it."""

from urllib.parse import urlencode

import pytest
from django.urls import reverse

from orders.models import Order
from payments.models import Conflict, Delivery, Proposal
from tests.browser.console import DESK, PHONE, Console
from tests.console.hostile import HOSTILE, LONG, PRINTABLE, hostile_rows
from tests.console.rooms import Rows, list_of, page_of

#: What the texts would have put into a page that took them for markup.
_FOREIGN = "img[src=x], [onerror]"


@pytest.fixture
def rows(console: Console) -> Rows:
    return hostile_rows()


def test_nothing_that_a_stranger_wrote_runs_or_breaks_a_page(console: Console, rows: Rows) -> None:
    find = reverse("console_find")
    found = {}
    for path in (
        list_of(Conflict),
        page_of(rows[Conflict]),
        page_of(rows[Order]),
        page_of(rows[Delivery]),
        page_of(rows[Proposal]),
        *(f"{find}?{urlencode({'q': text})}" for text in (HOSTILE, PRINTABLE, LONG[:255])),
    ):
        console.open(path)
        found[path] = faults(console)
    console.open(reverse("console_evidence", args=["conflict", rows[Conflict].pk]))
    console.page.locator("#id_why").fill(HOSTILE)
    console.page.locator(".c-asking button[type=submit]").click()
    console.page.locator("footer.note").wait_for()
    found["evidence"] = faults(console)

    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def faults(console: Console) -> list[str]:
    """What ran, what became an element, and what sticks out."""
    page, wide = console.page, []
    for size in (DESK, PHONE):
        console.show(size=size)
        wide += console.too_wide()
    markup = page.locator(_FOREIGN).evaluate_all("(all) => all.map((it) => it.outerHTML)")
    computed = ["49"] if page.get_by_text("49</script>").count() else []
    return [*console.taken_complaints(), *markup, *computed, *wide]
