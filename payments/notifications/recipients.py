"""Add who is told of conflicts, stop telling somebody, and send a test."""

from datetime import datetime
from typing import Final, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.db import transaction
from django.utils.translation import gettext as _

from orders.models import Merchant
from outbox.webhooks import target
from outbox.webhooks.signature import new_secret
from payments import vault
from payments.models import (
    SHOWN_LENGTH_MAX,
    Level,
    NotificationKind,
    NotificationMessage,
    Recipient,
)

RECIPIENTS_MAX: Final = 100


class BadAddress(ValueError):
    """Nothing can be sent there; the text says why."""


class TooMany(ValueError):
    """There are as many recipients as one run can serve: stop one first."""


class StillOnItsWay(ValueError):
    """A message to this recipient is not through yet: it is as good as a test."""


class Added(NamedTuple):
    """A new recipient, and the secret that signs his messages: nothing shows it again."""

    recipient: Recipient
    secret: str


def add(
    kind: NotificationKind, address: str, *, least: Level, merchant: Merchant | None, now: datetime
) -> Added:
    """Tell them from now on, in the caller's transaction. Raises BadAddress, TooMany."""
    if Recipient.objects.filter(active=True).count() >= RECIPIENTS_MAX:
        raise TooMany(_("there are %(most)s already") % {"most": RECIPIENTS_MAX})
    shown, checked = _checked(kind, address.strip())
    if len(shown) > SHOWN_LENGTH_MAX:
        raise BadAddress(f"it is longer than {SHOWN_LENGTH_MAX} characters")
    secret = new_secret() if kind is NotificationKind.WEBHOOK else ""
    recipient = Recipient.objects.create(
        kind=kind,
        shown=shown,
        address=vault.seal(checked.encode()),
        secret=vault.seal(secret.encode()) if secret else None,
        least=least,
        merchant=merchant,
        created_at=now,
    )
    return Added(recipient, secret)


def stop(recipient: Recipient) -> bool:
    """Tell them nothing any more, and say whether that was news."""
    return Recipient.objects.filter(pk=recipient.pk, active=True).update(active=False) == 1


@transaction.atomic
def send_test(recipient: Recipient, *, now: datetime) -> NotificationMessage:
    """Put a message on its way that names no conflict. Raises StillOnItsWay."""
    Recipient.objects.select_for_update(no_key=True).get(pk=recipient.pk)
    if recipient.messages.filter(sent_at=None).exists():
        raise StillOnItsWay(
            _("a message to %(address)s is not through yet") % {"address": recipient}
        )
    return NotificationMessage.objects.create(recipient=recipient, made_at=now, next_attempt_at=now)


@transaction.atomic
def reseal_all() -> int:
    """Encrypt all addresses and secrets with the vault's newest key; how many recipients."""
    rows = Recipient.objects.select_for_update(no_key=True).order_by("pk")
    for row in rows:
        row.address = vault.reseal(bytes(row.address))
        row.secret = vault.reseal(bytes(row.secret)) if row.secret else None
        row.save(update_fields=["address", "secret"])
    return len(rows)


def _checked(kind: NotificationKind, address: str) -> tuple[str, str]:
    """What may be seen of the address, and the address in its one form."""
    if kind is NotificationKind.EMAIL:
        try:
            EmailValidator()(address)
        except ValidationError as error:
            raise BadAddress(_("this is no e-mail address")) from error
        return address, address
    try:
        where = target.read(address, private=settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE)
    except target.BadTarget as error:
        raise BadAddress(str(error)) from error
    # The path of a chat's address is what lets its owner write there.
    return f"{where.scheme}://{where.authority}/..", where.url
