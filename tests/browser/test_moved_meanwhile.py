"""A form that was overtaken, and a button pressed twice: nothing happens that nobody meant."""

from audit.models import AuditEntry
from outbox.models import Event
from payments.models import ProviderAccount, Resolution
from tests.books import books
from tests.browser.console import Console
from tests.browser.people import user
from tests.console.conflict.filling import address
from tests.payments.conflicts import deciding
from tests.payments.telling import callback, tell_one


def test_a_form_that_was_overtaken_shows_what_changed_and_has_done_nothing(
    console: Console, account: ProviderAccount
) -> None:
    conflict = deciding.mismatch(account)
    console.log_in(user("alice", "reviewer"))
    page = console.open(address(conflict, Resolution.REFUND))
    page.locator("#id_why").fill("it is too little")
    tell_one(account, callback(txn_no="txn_right"))
    before = books()

    page.locator(".c-asking button[type=submit]").click()

    changed = page.locator(".c-asking table").inner_text()
    for part in ("WAIT_PAY", "PAID", "txn_right"):
        assert part in changed
    assert books() == before
    assert all("409" in one for one in console.taken_complaints())
    conflict.refresh_from_db()
    assert conflict.status == "OPEN"
    # Who has read what moved may decide anew.
    page.locator("#id_why").fill("paid twice")
    page.locator(".c-asking button[type=submit]").click()
    page.locator(".c-timeline").wait_for()
    conflict.refresh_from_db()
    assert (conflict.decision, conflict.why) == (Resolution.REFUND, "paid twice")


def test_a_button_that_is_clicked_twice_does_it_once(
    console: Console, account: ProviderAccount
) -> None:
    conflict = deciding.late(account)
    console.log_in(user("alice", "reviewer"))
    page = console.open(address(conflict, Resolution.ACCEPT))
    asked = []
    page.on("request", lambda request: asked.append(request) if request.method == "POST" else None)

    page.locator(".c-asking button[type=submit]").dblclick()
    page.locator(".c-timeline").wait_for()

    assert len(asked) == 1
    assert Event.objects.filter(type="order.paid").count() == 1
    assert AuditEntry.objects.filter(object_type="conflict").count() == 1
