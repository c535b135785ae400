"""Who is told of conflicts, what they were told, and the messages that it went out in."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from orders.models import Merchant
from payments.models.conflicts import Conflict

ERROR_LENGTH_MAX = 200
#: An address of mail is no longer (RFC 5321, 4.5.3.1.3).
SHOWN_LENGTH_MAX = 254


class NotificationKind(models.TextChoices):
    """The way to a recipient."""

    EMAIL = "EMAIL"
    WEBHOOK = "WEBHOOK"
    SLACK = "SLACK"
    DINGTALK = "DINGTALK"


class Level(models.IntegerChoices):
    """How loudly a conflict asks by now: its severity, and one more when it is overdue."""

    TICKET = 1
    PAGE = 2
    OVERDUE_PAGE = 3


class Recipient(models.Model):
    """Somebody who is told of the conflicts of a merchant, or of all, from a level on.

    The address is sealed by `payments/vault.py`, as is what webhooks are signed with: an address
    of a chat is itself a secret. `shown` is what of it may be seen. Nobody who was stopped
    (`active`) is told anything; he is kept for what he was told.
    """

    merchant = models.ForeignKey(Merchant, null=True, blank=True, on_delete=models.PROTECT)
    kind = models.CharField(max_length=10, choices=NotificationKind)
    shown = models.CharField(max_length=SHOWN_LENGTH_MAX)
    address = models.BinaryField()
    secret = models.BinaryField(null=True)
    least = models.SmallIntegerField(choices=Level)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        permissions = [("manage_recipient", "Can say who is told of conflicts")]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=NotificationKind.values), name="recipient_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(least__in=Level.values), name="recipient_least_is_known"
            ),
            models.CheckConstraint(
                condition=Q(kind=NotificationKind.WEBHOOK, secret__isnull=False)
                | (~Q(kind=NotificationKind.WEBHOOK) & Q(secret__isnull=True)),
                name="recipient_secret_iff_webhook",
            ),
        ]

    def __str__(self) -> str:
        return self.shown


class NotificationMessage(models.Model):
    """One message to one recipient; it is tried until it was taken. Without conflicts, a test.

    `next_attempt_at` is also the lease of whoever sends it now.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    recipient = models.ForeignKey(Recipient, on_delete=models.PROTECT, related_name="messages")
    made_at = models.DateTimeField()
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=ERROR_LENGTH_MAX, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(sent_at__isnull=True),
                name="notification_message_due",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["recipient"],
                condition=Q(sent_at__isnull=True),
                name="notification_message_one_unsent",
            ),
        ]


class Notification(models.Model):
    """That a recipient shall be told, or was, of a conflict at a level: once."""

    recipient = models.ForeignKey(
        Recipient, on_delete=models.PROTECT, related_name="notifications", db_index=False
    )
    conflict = models.ForeignKey(Conflict, on_delete=models.PROTECT, related_name="+")
    level = models.SmallIntegerField(choices=Level)
    queued_at = models.DateTimeField()
    message = models.ForeignKey(
        NotificationMessage,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="notifications",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["recipient", "conflict", "level"], name="notification_once_per_level"
            ),
            models.CheckConstraint(
                condition=Q(level__in=Level.values), name="notification_level_is_known"
            ),
        ]
        indexes = [
            models.Index(
                fields=["recipient", "level"],
                condition=Q(message__isnull=True),
                name="notification_waiting",
            ),
        ]
