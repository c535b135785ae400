"""Payments that no provider tells of: cash, a transfer that somebody found on a statement."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from orders.models import Order
from payments.models.conflicts import WHY_LENGTH_MAX
from payments.models.ledger import ProviderTransaction


class ManualStatus(models.TextChoices):
    """The life of such a payment: `payments/manual/lifecycle.py` holds its moves."""

    PROPOSED = "PROPOSED"
    BOOKED = "BOOKED"
    REJECTED = "REJECTED"
    WITHDRAWN = "WITHDRAWN"


class ManualPayment(models.Model):
    """Somebody's word that an order was paid in full outside of any provider.

    Above the merchant's amount another person must approve it (`needs_two`); it is bound to the
    amount and to the order's version that was seen. Booked, it is a row of the ledger.
    """

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="+")
    order_version = models.PositiveIntegerField()
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    note = models.CharField(max_length=WHY_LENGTH_MAX)
    needs_two = models.BooleanField()
    status = models.CharField(max_length=10, choices=ManualStatus, default=ManualStatus.PROPOSED)
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    proposed_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_why = models.CharField(max_length=WHY_LENGTH_MAX, blank=True)
    transaction = models.OneToOneField(
        ProviderTransaction, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        permissions = [
            ("record_payment", "Can mark an order as paid outside of any provider"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["order"],
                condition=Q(status__in=[ManualStatus.PROPOSED, ManualStatus.BOOKED]),
                name="manual_payment_once",
            ),
            models.CheckConstraint(
                condition=Q(status__in=ManualStatus.values), name="manual_payment_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(status=ManualStatus.PROPOSED, decided_by=None, decided_at=None)
                | (
                    ~Q(status=ManualStatus.PROPOSED)
                    & Q(decided_by__isnull=False, decided_at__isnull=False)
                ),
                name="manual_payment_decided_iff_not_proposed",
            ),
            models.CheckConstraint(
                condition=Q(status=ManualStatus.BOOKED, transaction__isnull=False)
                | (~Q(status=ManualStatus.BOOKED) & Q(transaction=None)),
                name="manual_payment_booked_iff_in_ledger",
            ),
            models.CheckConstraint(
                condition=Q(needs_two=False)
                | ~Q(status=ManualStatus.BOOKED)
                | ~Q(proposed_by=F("decided_by")),
                name="manual_payment_two_people_are_two",
            ),
        ]
        indexes = [
            models.Index(
                fields=["proposed_at"],
                condition=Q(status=ManualStatus.PROPOSED),
                name="manual_payment_waits",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.order} {self.status}"
