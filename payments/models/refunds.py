"""Refunds that merchants ask for."""

from typing import Final

from django.db import models
from django.db.models import Q

from orders.models import ORDER_NO_LENGTH_MAX, ORDER_NO_PATTERN, Merchant, Order
from orders.money import Money
from payments.models.accounts import ProviderAccount
from payments.models.ledger import ProviderTransaction

REASON_LENGTH_MAX: Final = 120


class RefundStatus(models.TextChoices):
    """The life of a refund: `payments/refunds/lifecycle.py` holds its moves."""

    REQUESTED = "REQUESTED"
    PROCESSING = "PROCESSING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


class Refund(models.Model):
    """A refund that a merchant asked for.

    `refund_no` is the merchant's number and the provider's idempotency key. `asked_minor` is null
    if all that was left was asked for. A REQUESTED refund is due at `due_at`. A PROCESSING one
    belongs to the owner of its token until `lease_until`, by the database's clock; after that its
    answer is unknown and the provider is asked. `asks` counts the answers that said nothing.
    """

    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, db_index=False)
    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, db_index=False)
    payment = models.ForeignKey(ProviderTransaction, on_delete=models.PROTECT, related_name="+")
    order = models.ForeignKey(Order, null=True, blank=True, on_delete=models.PROTECT)
    refund_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C")
    amount_minor = models.BigIntegerField()
    asked_minor = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3)
    reason = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)
    status = models.CharField(max_length=10, choices=RefundStatus, default=RefundStatus.REQUESTED)
    provider_refund_no = models.CharField(max_length=128, db_collation="C", blank=True)
    transaction = models.OneToOneField(
        ProviderTransaction, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    owner_token = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)
    first_sent_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    asks = models.PositiveIntegerField(default=0)
    why = models.CharField(max_length=300, blank=True)
    requested_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["merchant", "refund_no"], name="refund_no_is_unique_per_merchant"
            ),
            models.UniqueConstraint(
                fields=["account", "provider_refund_no"],
                condition=~Q(provider_refund_no=""),
                name="provider_refund_no_is_unique",
            ),
            models.CheckConstraint(
                condition=Q(refund_no__regex=f"^{ORDER_NO_PATTERN}$"),
                name="refund_no_is_well_formed",
            ),
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0), name="refund_amount_is_positive"
            ),
            models.CheckConstraint(
                condition=Q(status__in=RefundStatus.values), name="refund_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(
                    status=RefundStatus.PROCESSING,
                    owner_token__isnull=False,
                    lease_until__isnull=False,
                    sent_at__isnull=False,
                )
                | (
                    ~Q(status=RefundStatus.PROCESSING)
                    & Q(owner_token__isnull=True, lease_until__isnull=True)
                ),
                name="refund_lease_iff_processing",
            ),
            models.CheckConstraint(
                condition=Q(status=RefundStatus.REQUESTED, due_at__isnull=False)
                | (~Q(status=RefundStatus.REQUESTED) & Q(due_at__isnull=True)),
                name="refund_due_iff_requested",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=[RefundStatus.SUCCEEDED, RefundStatus.FAILED],
                    finished_at__isnull=False,
                )
                | Q(
                    status__in=[RefundStatus.REQUESTED, RefundStatus.PROCESSING],
                    finished_at__isnull=True,
                ),
                name="refund_finished_at_iff_ended",
            ),
            models.CheckConstraint(
                condition=Q(status=RefundStatus.SUCCEEDED, transaction__isnull=False)
                | Q(status=RefundStatus.FAILED)
                | Q(
                    status__in=[RefundStatus.REQUESTED, RefundStatus.PROCESSING],
                    transaction__isnull=True,
                ),
                name="refund_in_ledger_iff_succeeded",
            ),
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=Q(status=RefundStatus.REQUESTED),
                name="refund_to_carry_out",
            ),
            models.Index(
                fields=["lease_until"],
                condition=Q(status=RefundStatus.PROCESSING),
                name="refund_to_ask_about",
            ),
        ]

    def __str__(self) -> str:
        return self.refund_no

    @property
    def order_no(self) -> str:
        """The order that its payment has paid; else the one that the payment named."""
        return self.order.order_no if self.order is not None else self.payment.order_no

    @property
    def money(self) -> Money:
        """What goes back."""
        return Money(self.amount_minor, self.currency)
