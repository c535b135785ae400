"""Who may say who is told of conflicts, what the pages show of it, and what the audit keeps."""

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import AuditEntry
from payments.models import Level, NotificationMessage, Recipient
from tests.console.rooms import list_of, page_of
from tests.console.staff import staff
from tests.factories import CREATED_AT, RecipientFactory

pytestmark = pytest.mark.django_db

ADD = "/admin/payments/recipient/add/"
HOOK = "https://hooks.example.org/services/T0/B0/token"


def asked(kind: str, address: str) -> dict[str, str]:
    return {"kind": kind, "address": address, "least": str(Level.PAGE), "merchant": ""}


def deed(row: Recipient, verb: str) -> str:
    return reverse(f"admin:payments_recipient_{verb}", args=[row.pk])


def entries() -> list[str]:
    return list(
        AuditEntry.objects.exclude(action="login").order_by("pk").values_list("action", flat=True)
    )


def test_a_webhooks_secret_is_shown_once_and_kept_from_every_other_page() -> None:
    manager = staff("manage_recipient", "view_recipient")

    shown = manager.post(ADD, asked("WEBHOOK", HOOK))

    secret = shown.context["secret"]
    recipient = Recipient.objects.get()
    assert secret.startswith("whsec_")
    assert secret in shown.content.decode()
    for address in (page_of(recipient), list_of(Recipient)):
        page = manager.get(address).content.decode()
        assert secret not in page
        assert "B0/token" not in page
        assert "https://hooks.example.org/.." in page
    assert entries() == ["recipient.added"]
    kept = str(
        AuditEntry.objects.filter(action="recipient.added").values_list("after", flat=True).get()
    )
    assert "hooks.example.org" not in kept


def test_a_bad_address_is_said_beside_it_and_adds_nothing() -> None:
    page = staff("manage_recipient").post(ADD, asked("EMAIL", "finance")).content.decode()

    assert "this is no e-mail address" in page
    assert 'value="finance"' in page
    assert not Recipient.objects.exists()
    assert entries() == []


def test_a_test_goes_out_once_however_often_it_is_asked_for() -> None:
    manager = staff("manage_recipient", "view_recipient")
    recipient = RecipientFactory.create()

    for _ in range(2):
        assert manager.get(deed(recipient, "test")).status_code == 200
        assert manager.post(deed(recipient, "test")).status_code == 302

    assert NotificationMessage.objects.filter(recipient=recipient).count() == 1
    assert entries() == ["recipient.tested"]


def test_who_was_stopped_stays_to_be_looked_at() -> None:
    manager = staff("manage_recipient", "view_recipient")
    recipient = RecipientFactory.create()

    manager.post(deed(recipient, "stop"))

    recipient.refresh_from_db()
    assert not recipient.active
    page = manager.get(page_of(recipient)).content.decode()
    assert "STOPPED" in page
    assert deed(recipient, "stop") not in page
    assert manager.post(deed(recipient, "stop")).status_code == 404
    assert entries() == ["recipient.stopped"]


def test_one_who_does_not_take_it_is_seen_in_the_list() -> None:
    recipient = RecipientFactory.create()
    NotificationMessage.objects.create(
        recipient=recipient,
        made_at=CREATED_AT,
        next_attempt_at=CREATED_AT,
        attempts=3,
        last_error="<b>it answered 404</b>",
    )

    page = staff("view_recipient").get(list_of(Recipient)).content.decode()

    assert "FAILS" in page
    assert "&lt;b&gt;it answered 404&lt;/b&gt;" in page


@pytest.mark.parametrize("address", [ADD, "test", "stop"])
def test_who_may_only_look_changes_nothing(address: str) -> None:
    recipient = RecipientFactory.create()
    where = address if address == ADD else deed(recipient, address)
    viewer: Client = staff("view_recipient")

    assert viewer.get(where).status_code == 403
    assert viewer.post(where, asked("EMAIL", "a@example.org")).status_code == 403

    assert Recipient.objects.count() == 1
    assert not NotificationMessage.objects.exists()
    assert ADD not in viewer.get(list_of(Recipient)).content.decode()
