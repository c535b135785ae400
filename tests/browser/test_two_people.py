"""What one person proposes another one approves, each in a browser of his own."""

from django.urls import reverse

from orders.models import Order
from outbox.models import Event
from payments.models import Conflict, ConflictPolicy, Proposal, ProviderAccount, Resolution
from tests.browser.console import Console
from tests.browser.people import QUEUE, confirm, queued, row_of, user
from tests.console.conflict.filling import address
from tests.console.rooms import list_of, page_of
from tests.invariants import assert_books_balance
from tests.payments.conflicts import deciding

INBOX = list_of(Proposal)


def to_approve(proposal: Proposal) -> str:
    """The link to the page that approves it."""
    return f'a[href="{reverse("admin:payments_proposal_approve", args=[proposal.pk])}"]'


def test_a_proposal_is_carried_out_once_another_person_approves_it(
    console: Console, another_console: Console, account: ProviderAccount
) -> None:
    ConflictPolicy.objects.all().delete()  # so that two people decide about any amount
    conflict = deciding.late(account)
    console.log_in(user("alice", "reviewer", "approver"))
    another_console.log_in(user("bob", "approver"))

    proposal = _propose(console, conflict)

    _go_to(console, proposal)
    assert console.page.locator(".c-hint").inner_text()
    assert not console.page.locator(to_approve(proposal)).count()
    assert Order.objects.get().status == "CLOSED"
    _approve(another_console, proposal)
    assert Order.objects.get().status == "PAID"
    assert Event.objects.filter(type="order.paid").count() == 1
    told = console.open(page_of(conflict)).locator(".c-timeline").inner_text()
    assert "bob" in told
    assert queued(console.open(QUEUE)) == []
    assert_books_balance()


def _propose(console: Console, conflict: Conflict) -> Proposal:
    page = console.open(QUEUE)
    page.locator(row_of(conflict)).click()
    page.locator(f'.c-ways a[href="{address(conflict, Resolution.ACCEPT)}"]').click()
    page.locator("#id_why").fill("the payer has written")
    confirm(page)
    return Proposal.objects.get()


def _go_to(console: Console, proposal: Proposal) -> None:
    page = console.page
    page.locator(f'#nav-sidebar-inner a[href="{INBOX}"]').click()
    page.locator(f'#result_list a[href^="{page_of(proposal)}"]').first.click()
    page.locator(".c-hint, .c-deeds").first.wait_for()


def _approve(console: Console, proposal: Proposal) -> None:
    """From the first page on, and with a double click where one is enough."""
    page = console.open("/admin/")
    _go_to(console, proposal)
    page.locator(to_approve(proposal)).click()
    page.locator(".c-asking button[type=submit]").dblclick()
    page.locator(".c-asking").wait_for(state="detached")
