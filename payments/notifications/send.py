"""Send the messages that are due, each until it was taken; the same bytes under the same id.

A worker that dies while it sends leaves a message that is sent again when its lease is over:
receivers know it by its id, people by its being the same.
"""

import json
import smtplib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import F

from outbox.retries import backoff
from outbox.webhooks import target
from outbox.webhooks.exchange import NoReply, Post
from outbox.webhooks.signature import sign
from payments import vault
from payments.models import ERROR_LENGTH_MAX, NotificationKind, NotificationMessage
from payments.notifications import words
from payments.notifications.words import Words

#: Longer than any attempt takes: mail and hooks each give up after less.
LEASE: Final = timedelta(seconds=90)
#: One run takes no longer than its lease: of what hangs, it tries a few.
SENT_MAX: Final = 20
_SECONDS_MAX: Final = 30.0


class NotTaken(Exception):
    """The message did not arrive, or nobody knows; the text says why, and repeats nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """A message with all that sending it needs; the address and the secret are in the clear."""

    message_id: str
    address: str
    secret: bytes | None
    words: Words
    made_at: datetime

    def __repr__(self) -> str:
        """Without what is secret, for tracebacks."""
        return f"Letter({self.message_id})"


def send_due(post: Post, *, clock: Callable[[], datetime]) -> Counter[str]:
    """Try what is due, the oldest first; how many were "sent" and how many "failed"."""
    became: Counter[str] = Counter()
    until = time.monotonic() + _SECONDS_MAX
    while sum(became.values()) < SENT_MAX and time.monotonic() < until:
        message = _claim(now=clock())
        if message is None:
            break
        failure = _try(message, post)
        _record(message, failure, now=clock())
        became["failed" if failure else "sent"] += 1
    return became


@transaction.atomic(durable=True)
def _claim(*, now: datetime) -> NotificationMessage | None:
    due = NotificationMessage.objects.select_for_update(
        no_key=True, skip_locked=True, of=("self",)
    ).filter(sent_at=None, next_attempt_at__lte=now, recipient__active=True)
    message = due.select_related("recipient").order_by("next_attempt_at").first()
    if message is not None:
        message.next_attempt_at = now + LEASE
        message.save(update_fields=["next_attempt_at"])
    return message


def _try(message: NotificationMessage, post: Post) -> str:
    """Send it; why not, or nothing."""
    recipient = message.recipient
    try:
        letter = Letter(
            message_id=f"ntf_{message.pk.hex}",
            address=vault.unseal(bytes(recipient.address)).decode(),
            secret=vault.unseal(bytes(recipient.secret)) if recipient.secret else None,
            words=words.of(message),
            made_at=message.made_at,
        )
        _SENDERS[NotificationKind(recipient.kind)](letter, post)
    except (NotTaken, vault.Undecryptable) as error:
        return str(error)
    return ""


def _record(message: NotificationMessage, failure: str, *, now: datetime) -> None:
    attempts = message.attempts + 1
    changed: dict[str, Any] = {"attempts": F("attempts") + 1, "last_error": ""}
    if failure:
        changed |= {
            "last_error": failure[:ERROR_LENGTH_MAX],
            "next_attempt_at": now + backoff(attempts),
        }
    else:
        changed["sent_at"] = now
    NotificationMessage.objects.filter(pk=message.pk, sent_at=None).update(**changed)


def _mail(letter: Letter, _post: Post) -> None:
    if not settings.EMAIL_HOST:
        raise NotTaken("no mail server is configured (EMAIL_HOST)")
    mail = EmailMessage(
        subject=letter.words.subject,
        body=words.as_text(letter.words),
        to=[letter.address],
        headers={
            "Message-ID": f"<{letter.message_id}@paidonce>",
            "Auto-Submitted": "auto-generated",
        },
    )
    try:
        mail.send()
    except smtplib.SMTPResponseException as error:
        raise NotTaken(f"the mail server answered {error.smtp_code}") from error
    except (OSError, ValueError) as error:  # smtplib's own errors are OSErrors
        raise NotTaken(f"the mail server did not take it: {type(error).__name__}") from error


def _webhook(letter: Letter, post: Post) -> None:
    body = words.as_event(letter.words, at=letter.made_at)
    second = int(time.time())
    keys = [letter.secret] if letter.secret else []
    signature = sign(keys, message_id=letter.message_id, timestamp=second, body=body)
    signed = {
        "webhook-id": letter.message_id,
        "webhook-timestamp": str(second),
        "webhook-signature": signature,
    }
    _post_json(letter, post, body, signed)


def _slack(letter: Letter, post: Post) -> None:
    _post_json(letter, post, json.dumps({"text": words.as_text(letter.words)}).encode())


def _dingtalk(letter: Letter, post: Post) -> None:
    content = {"msgtype": "text", "text": {"content": words.as_text(letter.words)}}
    answer = _post_json(letter, post, json.dumps(content).encode())
    # It refuses with a status of 200 and a number in the body.
    try:
        code = json.loads(answer)["errcode"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise NotTaken("it did not answer as a robot does (errcode)") from error
    if code != 0:
        raise NotTaken(f"it answered errcode {code!r}")


def _post_json(
    letter: Letter, post: Post, body: bytes, headers: Mapping[str, str] | None = None
) -> str:
    try:
        # Read again at each attempt: what was allowed when it was saved may not be any more.
        where = target.read(letter.address, private=post.private)
    except target.BadTarget as error:
        raise NotTaken(f"not sent: {error}") from error
    plain = {
        "content-type": "application/json",
        "user-agent": "paidonce",
        "accept-encoding": "identity",
        "connection": "close",
    }
    answer = post.send(where, plain | dict(headers or {}), body).outcome
    if isinstance(answer, NoReply):
        raise NotTaken(answer.reason)
    if not HTTPStatus(200) <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        raise NotTaken(f"it answered {answer.status}")
    return answer.text


_SENDERS: Final[Mapping[NotificationKind, Callable[[Letter, Post], None]]] = {
    NotificationKind.EMAIL: _mail,
    NotificationKind.WEBHOOK: _webhook,
    NotificationKind.SLACK: _slack,
    NotificationKind.DINGTALK: _dingtalk,
}
