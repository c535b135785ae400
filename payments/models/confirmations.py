"""What is asked of a provider: claims to confirm, and orders that nobody told of."""

from django.db import models
from django.db.models import Q

from orders.models import ORDER_NO_LENGTH_MAX, Merchant, Order
from payments.models.accounts import ProviderAccount


class ConfirmationStatus(models.TextChoices):
    """Whether the provider's API has spoken about a payment that a weak signature told."""

    WAITING = "WAITING"
    CONFIRMED = "CONFIRMED"


class Confirmation(models.Model):
    """A payment that was told by something weaker than a signature over all of it.

    It is not in the ledger: nothing that could be forged may bind a transaction number. Once
    the provider's API confirms it, it is received like any other callback.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT)
    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT)
    txn_no = models.CharField(max_length=128, db_collation="C")
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C", blank=True)
    status = models.CharField(
        max_length=10, choices=ConfirmationStatus, default=ConfirmationStatus.WAITING
    )
    told_count = models.PositiveIntegerField(default=1)
    first_told_at = models.DateTimeField()
    last_told_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    asks = models.PositiveIntegerField(db_default=0)
    ask_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "txn_no"], name="confirmation_is_unique"),
            models.CheckConstraint(
                condition=Q(status__in=ConfirmationStatus.values),
                name="confirmation_status_is_known",
            ),
            models.CheckConstraint(
                condition=Q(status=ConfirmationStatus.CONFIRMED, confirmed_at__isnull=False)
                | Q(status=ConfirmationStatus.WAITING, confirmed_at__isnull=True),
                name="confirmation_stamp_iff_confirmed",
            ),
        ]
        indexes = [
            models.Index(
                fields=["first_told_at"],
                condition=Q(status=ConfirmationStatus.WAITING),
                name="confirmation_waiting",
            )
        ]

    def __str__(self) -> str:
        return self.txn_no


class Inquiry(models.Model):
    """When a provider is asked next for the payment of an order that nobody has told us of."""

    order = models.ForeignKey(Order, on_delete=models.CASCADE, db_index=False)
    account = models.ForeignKey(ProviderAccount, on_delete=models.CASCADE)
    asks = models.PositiveIntegerField(default=1)
    asked_at = models.DateTimeField()
    ask_at = models.DateTimeField()
    answer = models.CharField(max_length=10, blank=True)

    class Meta:
        verbose_name_plural = "inquiries"
        constraints = [
            models.UniqueConstraint(fields=["order", "account"], name="inquiry_is_unique")
        ]

    def __str__(self) -> str:
        return f"{self.order_id} {self.answer}"
