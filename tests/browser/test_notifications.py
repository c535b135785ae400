"""Somebody says who is told of conflicts, with the keyboard alone."""

from payments.models import Level, NotificationKind, NotificationMessage, Recipient
from tests.browser.console import Console

_ADD = "/admin/payments/recipient/add/"


def test_a_webhook_is_added_and_tried_without_a_mouse(console: Console) -> None:
    page = console.open(_ADD)
    page.get_by_label("By:").focus()
    page.keyboard.type("Webhook")
    page.keyboard.press("Tab")
    page.keyboard.type("https://hooks.example.org/finance?token=t0ken")
    page.keyboard.press("Tab")
    page.keyboard.type("every")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    with page.expect_navigation():
        page.keyboard.press("Enter")

    secret = page.locator(".c-secret").inner_text()
    recipient = Recipient.objects.get()
    assert secret.startswith("whsec_")
    assert (recipient.kind, recipient.least) == (NotificationKind.WEBHOOK, Level.TICKET)

    with page.expect_navigation():
        page.get_by_role("link", name="I have kept it").press("Enter")
    assert "t0ken" not in page.content()
    assert secret not in page.content()
    with page.expect_navigation():
        page.get_by_role("link", name="Send a test").press("Enter")
    with page.expect_navigation():
        page.get_by_role("button", name="Send it").press("Enter")
    assert page.get_by_text("A test is on its way.").is_visible()
    assert NotificationMessage.objects.filter(recipient=recipient).count() == 1
