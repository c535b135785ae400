"""What is asked of a provider: claims to confirm, and orders that nobody told of."""

from typing import Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now

from orders.models import ORDER_NO_LENGTH_MAX, Merchant, Order
from payments.models.accounts import ProviderAccount


class ConfirmationStatus(models.TextChoices):
    """Whether the provider's API has spoken about a payment that a weak signature told.

    `payments/confirmations.py` holds the moves.
    """

    WAITING = "WAITING"
    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    UNANSWERED = "UNANSWERED"


#: Those that are asked about.
UNDECIDED: Final = (ConfirmationStatus.WAITING, ConfirmationStatus.UNANSWERED)
WHY_LENGTH_MAX: Final = 300


class Confirmation(models.Model):
    """A payment that was told by something weaker than a signature over all of it.

    It is not in the ledger: nothing that could be forged may bind a transaction number. Once
    the provider's API confirms it, it is received like any other callback. `why` and `evidence`
    are the API's answer by which it was refuted. WAITING since `waiting_since`; an UNANSWERED one
    was handed to a person, and is still asked about where somebody can be asked.
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
    waiting_since = models.DateTimeField(db_default=Now())
    confirmed_at = models.DateTimeField(null=True, blank=True)
    refuted_at = models.DateTimeField(null=True, blank=True)
    why = models.CharField(max_length=WHY_LENGTH_MAX, blank=True, db_default="")
    evidence = models.BinaryField(null=True, blank=True)
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
                | (~Q(status=ConfirmationStatus.CONFIRMED) & Q(confirmed_at__isnull=True)),
                name="confirmation_stamp_iff_confirmed",
            ),
            models.CheckConstraint(
                condition=Q(status=ConfirmationStatus.REFUTED, refuted_at__isnull=False)
                | (~Q(status=ConfirmationStatus.REFUTED) & Q(refuted_at__isnull=True)),
                name="confirmation_stamp_iff_refuted",
            ),
        ]
        indexes = [
            models.Index(
                "account",
                Coalesce("ask_at", "waiting_since"),
                condition=Q(status__in=UNDECIDED),
                name="confirmation_to_ask_about",
            ),
            models.Index(
                fields=["account", "waiting_since"],
                condition=Q(status=ConfirmationStatus.WAITING),
                name="confirmation_waiting",
            ),
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
