"""Cases that no rule may decide."""

from django.db import models
from django.db.models import F, Q

from orders.models import Merchant, Order
from payments.models.deliveries import Delivery
from payments.models.ledger import ProviderTransaction


class ConflictReason(models.TextChoices):
    """Why a person must decide."""

    AMOUNT_MISMATCH = "AMOUNT_MISMATCH"
    CURRENCY_MISMATCH = "CURRENCY_MISMATCH"
    MERCHANT_MISMATCH = "MERCHANT_MISMATCH"
    TRANSACTION_ALTERED = "TRANSACTION_ALTERED"
    LATE_PAYMENT = "LATE_PAYMENT"
    DUPLICATE_PAYMENT = "DUPLICATE_PAYMENT"
    ORDER_NOT_FOUND = "ORDER_NOT_FOUND"
    PAYMENT_NOT_FOUND = "PAYMENT_NOT_FOUND"
    EXTERNAL_REFUND = "EXTERNAL_REFUND"
    REFUND_REVERSED = "REFUND_REVERSED"
    REFUND_IN_DOUBT = "REFUND_IN_DOUBT"
    REVERSAL_EXCEEDS_PAYMENT = "REVERSAL_EXCEEDS_PAYMENT"
    PERHAPS_TOLD_TWICE = "PERHAPS_TOLD_TWICE"
    UNCONFIRMED_PAYMENTS = "UNCONFIRMED_PAYMENTS"
    UNKNOWN_KEY = "UNKNOWN_KEY"


class ConflictStatus(models.TextChoices):
    """The life of a conflict: `payments/conflicts.py` holds its moves."""

    OPEN = "OPEN"
    PROPOSED = "PROPOSED"
    RESOLVED = "RESOLVED"
    DISMISSED = "DISMISSED"


class Severity(models.TextChoices):
    """How loudly a conflict asks."""

    PAGE = "PAGE"
    TICKET = "TICKET"


class Conflict(models.Model):
    """A case that no rule may decide, with what was expected and what came side by side.

    `subject` names what the conflict is about (a transaction, or a delivery without one), so
    that the same fact told again finds the same conflict.
    """

    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT)
    reason = models.CharField(max_length=30, choices=ConflictReason)
    subject = models.CharField(max_length=200)
    severity = models.CharField(max_length=10, choices=Severity)
    order = models.ForeignKey(Order, null=True, blank=True, on_delete=models.PROTECT)
    transaction = models.ForeignKey(
        ProviderTransaction, null=True, blank=True, on_delete=models.PROTECT
    )
    delivery = models.ForeignKey(Delivery, null=True, blank=True, on_delete=models.PROTECT)
    expected = models.JSONField()
    received = models.JSONField()
    status = models.CharField(max_length=10, choices=ConflictStatus, default=ConflictStatus.OPEN)
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.CharField(max_length=60, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["reason", "subject"], name="conflict_is_unique"),
            models.CheckConstraint(
                condition=Q(reason__in=ConflictReason.values), name="conflict_reason_is_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=ConflictStatus.values), name="conflict_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(severity__in=Severity.values), name="conflict_severity_is_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=[ConflictStatus.RESOLVED, ConflictStatus.DISMISSED],
                    resolved_at__isnull=False,
                )
                | Q(
                    status__in=[ConflictStatus.OPEN, ConflictStatus.PROPOSED],
                    resolved_at__isnull=True,
                ),
                name="conflict_resolved_at_iff_ended",
            ),
        ]
        indexes = [
            models.Index(
                F("due_at"),
                condition=Q(status__in=[ConflictStatus.OPEN, ConflictStatus.PROPOSED]),
                name="conflict_to_decide",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reason} {self.subject}"
