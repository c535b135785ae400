"""Messages arrive by mail, webhook and chat; what does not is tried until it does."""

import json
from collections import Counter
from datetime import datetime, timedelta

import pytest
from pytest_django import Settings

from outbox.webhooks.exchange import Post
from payments.models import (
    Level,
    Notification,
    NotificationKind,
    NotificationMessage,
    Recipient,
)
from payments.notifications import recipients
from payments.notifications.collect import NAMED_MAX
from payments.notifications.send import LEASE, send_due
from tests.concurrency.racing import race
from tests.factories import CREATED_AT, ConflictFactory, MerchantFactory
from tests.outbox.webhooks.receiver import Answer, Receiver, after, answer, hang_up
from tests.payments.notifications.mail_server import MailServer

pytestmark = pytest.mark.django_db(transaction=True)

NOW = CREATED_AT + timedelta(hours=3)
LATER = NOW + timedelta(hours=1)
PERSONAL = ("order", "1001", "12900", "USD", "pi_")


def message(kind: NotificationKind, address: str, *, conflicts: int = 1) -> NotificationMessage:
    """A message to a new recipient that is due."""
    recipient = recipients.add(kind, address, least=Level.TICKET, merchant=None, now=NOW).recipient
    made = recipients.send_test(recipient, now=NOW)
    merchant = MerchantFactory.create(code="shop")
    for _ in range(conflicts):
        Notification.objects.create(
            recipient=recipient,
            conflict=ConflictFactory.create(merchant=merchant),
            level=Level.PAGE,
            queued_at=NOW,
            message=made,
        )
    return made


def send(at: datetime = NOW) -> Counter[str]:
    return send_due(Post(private=True), clock=lambda: at)


def test_mail_says_what_waits_and_where_and_nothing_of_people_and_money(
    mail_server: MailServer,
) -> None:
    made = message(NotificationKind.EMAIL, "finance@example.org")
    told = Notification.objects.get()

    assert send() == {"sent": 1}
    assert send(LATER) == {}

    (mail,) = mail_server.mails
    text = mail.get_content()
    assert mail["To"] == "finance@example.org"
    assert mail["Message-ID"] == f"<ntf_{made.pk.hex}@paidonce>"
    assert mail["Subject"] == "Paidonce: 1 conflict waits for a decision, urgent"
    assert "AMOUNT_MISMATCH of shop, urgent, due 2026-03-01 12:00 UTC" in text
    link = f"https://pay.example.org/admin/payments/conflict/{told.conflict_id}/change/"
    assert link in text
    assert [word for word in PERSONAL if word in text.replace(link, "")] == []


def test_while_the_mail_server_is_down_nothing_is_lost(
    mail_server: MailServer, settings: Settings
) -> None:
    made = message(NotificationKind.EMAIL, "finance@example.org")
    up = settings.EMAIL_PORT

    settings.EMAIL_PORT = 9
    assert send() == {"failed": 1}
    settings.EMAIL_PORT = up
    mail_server.answer = 451
    assert send() == {}  # not before its time
    assert send(LATER) == {"failed": 1}
    made.refresh_from_db()
    assert (made.attempts, made.last_error) == (2, "the mail server answered 451")
    mail_server.answer = 250
    settings.EMAIL_HOST = ""
    assert send(LATER + LEASE) == {"failed": 1}
    settings.EMAIL_HOST = "127.0.0.1"
    assert send(LATER + timedelta(hours=1)) == {"sent": 1}

    made.refresh_from_db()
    assert (made.sent_at, made.last_error) == (LATER + timedelta(hours=1), "")
    assert len(mail_server.mails) == 1


def test_a_webhook_is_signed_and_repeated_with_the_same_id_and_the_same_bytes(
    receiver: Receiver,
) -> None:
    added = recipients.add(
        NotificationKind.WEBHOOK, receiver.url, least=Level.TICKET, merchant=None, now=NOW
    )
    receiver.secrets = [added.secret]
    receiver.answers = [answer(500)]
    made = recipients.send_test(added.recipient, now=NOW)
    Notification.objects.create(
        recipient=added.recipient,
        conflict=ConflictFactory.create(),
        level=Level.OVERDUE_PAGE,
        queued_at=NOW,
        message=made,
    )

    assert (send(), send(LATER)) == ({"failed": 1}, {"sent": 1})

    first, second = receiver.received
    assert receiver.complaints == []
    assert (first.id, first.body) == (second.id, second.body)
    assert first.document["type"] == "conflicts.waiting"
    (told,) = first.document["data"]["conflicts"]
    assert told["level"] == "OVERDUE_PAGE"
    assert told["reason"] == "AMOUNT_MISMATCH"
    assert set(told) == {"level", "reason", "merchant", "opened_at", "due_at", "url"}


def test_a_long_message_names_some_and_counts_the_rest(receiver: Receiver) -> None:
    message(NotificationKind.SLACK, receiver.url, conflicts=NAMED_MAX + 2)

    send()

    text = receiver.received[0].document["text"]
    assert text.startswith(f"Paidonce: {NAMED_MAX + 2} conflicts wait for a decision, urgent\n")
    assert text.count("AMOUNT_MISMATCH") == NAMED_MAX
    assert "- and 2 more\n" in text


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (answer(200, b'{"errcode": 0, "errmsg": "ok"}'), ""),
        (answer(200, b'{"errcode": 310000}'), "it answered errcode 310000"),
        (answer(200, b"ok"), "it did not answer as a robot does (errcode)"),
        (answer(404), "it answered 404"),
        (answer(302, location="/elsewhere"), "it answered 302"),
        (hang_up, "no answer: "),
    ],
)
def test_a_robot_that_says_no_politely_has_not_taken_it(
    receiver: Receiver, given: Answer, error: str
) -> None:
    receiver.always = given
    made = message(NotificationKind.DINGTALK, receiver.url)

    send()

    made.refresh_from_db()
    assert json.loads(receiver.received[0].body)["text"]["content"].startswith("Paidonce: ")
    assert made.last_error.startswith(error)
    assert (made.sent_at is None) == bool(error)
    assert len(receiver.received) == 1


def test_nothing_is_sent_into_private_networks_whatever_was_allowed_before(
    receiver: Receiver,
) -> None:
    made = message(NotificationKind.SLACK, receiver.url)

    send_due(Post(private=False), clock=lambda: NOW)

    made.refresh_from_db()
    assert made.last_error.startswith("not sent: ")
    assert receiver.received == []


def test_who_was_stopped_is_told_nothing_not_even_what_was_on_its_way(receiver: Receiver) -> None:
    made = message(NotificationKind.SLACK, receiver.url)

    assert recipients.stop(made.recipient)
    assert not recipients.stop(made.recipient)

    assert send() == {}


def test_two_workers_at_once_send_it_once(receiver: Receiver) -> None:
    receiver.always = after(0.3, answer())
    message(NotificationKind.SLACK, receiver.url)

    became = race(send, send)

    assert sorted(each["sent"] for each in became) == [0, 1]
    assert len(receiver.received) == 1


def test_a_message_whose_sender_died_is_sent_when_its_lease_is_over(receiver: Receiver) -> None:
    made = message(NotificationKind.SLACK, receiver.url)
    made.next_attempt_at = NOW + LEASE
    made.save()

    assert (send(), send(NOW + LEASE)) == ({}, {"sent": 1})


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (NotificationKind.EMAIL, "finance"),
        (NotificationKind.EMAIL, "a@example.org\nBcc: b@example.org"),
        (NotificationKind.SLACK, "ftp://example.org/"),
        (NotificationKind.WEBHOOK, "https://user:word@example.org/"),
        (NotificationKind.EMAIL, f"{'a' * 64}@{'b' * 60}.{'c' * 60}.{'d' * 60}.example"),
        (NotificationKind.SLACK, f"https://{'.'.join(['b' * 60] * 4)}.example:65535/hook"),
    ],
)
def test_what_is_no_address_is_refused(kind: NotificationKind, address: str) -> None:
    with pytest.raises(recipients.BadAddress):
        recipients.add(kind, address, least=Level.TICKET, merchant=None, now=NOW)


def test_what_is_kept_shows_neither_a_chats_address_nor_a_secret() -> None:
    added = recipients.add(
        NotificationKind.WEBHOOK,
        "https://hooks.example.org/services/T0/B0/token",
        least=Level.TICKET,
        merchant=None,
        now=NOW,
    )

    row = Recipient.objects.get()
    assert row.shown == "https://hooks.example.org/.."
    assert added.secret.startswith("whsec_")
    kept = bytes(row.address) + bytes(row.secret or b"")
    assert b"token" not in kept
    assert added.secret.encode() not in kept
    assert recipients.reseal_all() == 1
