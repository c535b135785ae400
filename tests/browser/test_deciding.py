"""A reviewer finds each kind of conflict, reads what it asks, answers, and sees what came of it."""

from typing import NamedTuple

import pytest
from playwright.sync_api import Page

from payments.models import Conflict, ConflictReason, ProviderAccount, Resolution
from tests.browser.console import Console
from tests.browser.people import QUEUE, confirm, queued, row_of, user
from tests.console.conflict.filling import address
from tests.console.rooms import page_of
from tests.factories import ProviderAccountFactory
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding
from tests.payments.conflicts.causes import CAUSES


class Journey(NamedTuple):
    """By which number it is searched, or "" to filter; what is read; how it is decided."""

    number: str
    reads: tuple[str, ...]
    how: Resolution


DISMISS, REFUND = Resolution.DISMISS, Resolution.REFUND
JOURNEYS = {
    ConflictReason.AMOUNT_MISMATCH: Journey(
        "1001", ("10.99 USD", "10.00 USD", "txn_A"), Resolution.ACCEPT_RECEIVED
    ),
    ConflictReason.CURRENCY_MISMATCH: Journey("", ("10.99 USD", "10.99 EUR", "1001"), REFUND),
    ConflictReason.MERCHANT_MISMATCH: Journey(
        "1001", ("stripe/main", "10.99 USD", "txn_A"), Resolution.ACCEPT
    ),
    ConflictReason.TRANSACTION_ALTERED: Journey("txn_A", ("10.99 USD", "99.00 USD"), DISMISS),
    ConflictReason.LATE_PAYMENT: Journey("txn_A", ("1001", "10.99 USD"), Resolution.ACCEPT),
    ConflictReason.DUPLICATE_PAYMENT: Journey("1001", ("txn_A", "txn_first"), REFUND),
    ConflictReason.ORDER_NOT_FOUND: Journey("txn_A", ("1001", "10.99 USD"), Resolution.MATCH),
    ConflictReason.PAYMENT_NOT_FOUND: Journey("", ("5.00 USD", "re_1"), DISMISS),
    ConflictReason.EXTERNAL_REFUND: Journey("1001", ("1.00 USD", "txn_A"), DISMISS),
    ConflictReason.REFUND_REVERSED: Journey("", ("100.00 USD", "pi_1001"), DISMISS),
    ConflictReason.REFUND_IN_DOUBT: Journey("", ("5.00 USD", "txn_A"), DISMISS),
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT: Journey("", ("150.00 USD", "pi_1001"), DISMISS),
    ConflictReason.PERHAPS_TOLD_TWICE: Journey("1001", ("cs_A", "pi_A"), Resolution.NOT_OURS),
    ConflictReason.UNCONFIRMED_PAYMENTS: Journey("", ("stripe/main",), DISMISS),
    ConflictReason.UNKNOWN_KEY: Journey("", ("stripe/main", "PUB_KEY_ID_9"), DISMISS),
}


@pytest.mark.parametrize("reason", ConflictReason)
def test_each_kind_is_found_understood_and_decided(
    console: Console, account: ProviderAccount, reason: ConflictReason
) -> None:
    conflict, journey = CAUSES[reason](account), JOURNEYS[reason]
    deciding.payable_by(account, conflict)
    # Another question waits beside it: it is in nobody's way, and stays.
    other = _another(reason)
    console.log_in(user("alice", "reviewer"))
    page = console.open(QUEUE)
    assert sorted(queued(page)) == sorted([page_of(conflict), page_of(other)])

    _find(page, reason, journey.number)
    assert queued(page) == [page_of(conflict)]
    page.locator(row_of(conflict)).click()
    question = page.locator(".c-question").inner_text()
    assert [read for read in journey.reads if read not in question] == []
    _decide(page, conflict, journey.how)

    conflict.refresh_from_db()
    assert (conflict.reason, conflict.decision) == (reason, journey.how)
    assert conflict.why == "as I was told"
    told = page.locator(".c-timeline tr", has_text="as I was told").inner_text()
    assert "alice" in told
    page.locator(f'#nav-sidebar-inner a[href="{QUEUE}"]').click()
    page.locator(row_of(other)).wait_for()
    assert queued(page) == [page_of(other)]
    assert_books_balance()


def _another(reason: ConflictReason) -> Conflict:
    is_same = reason is ConflictReason.UNKNOWN_KEY
    other = ConflictReason.UNCONFIRMED_PAYMENTS if is_same else ConflictReason.UNKNOWN_KEY
    return CAUSES[other](ProviderAccountFactory.create())


def _find(page: Page, reason: str, number: str) -> None:
    with page.expect_navigation():
        if number:
            page.locator("#searchbar").fill(number)
            page.keyboard.press("Enter")
            return
        page.locator("[x-on\\:click='filterOpen = true']").click()
        page.locator(f"#filter-form input[value={reason}]").check()
        page.locator("#filter-form button[type=submit]").click()


def _decide(page: Page, conflict: Conflict, how: Resolution) -> None:
    page.locator(f'.c-ways a[href="{address(conflict, how)}"]').click()
    if how is Resolution.MATCH:
        page.locator('a[href$="?order_no=2002"]').click()
    if how is Resolution.ACCEPT_RECEIVED:
        page.locator("#id_amount").fill("10.00")
    page.locator("#id_why").fill("as I was told")
    confirm(page)
