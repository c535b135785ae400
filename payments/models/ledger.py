"""The ledger: money facts as providers stated them."""

from django.db import models
from django.db.models import F, Q

from orders.models import ORDER_NO_LENGTH_MAX, Merchant, Order
from payments.models.accounts import ProviderAccount


class TransactionKind(models.TextChoices):
    """What kind of money fact a ledger row is."""

    PAYMENT = "PAYMENT"
    REFUND = "REFUND"
    CHARGEBACK = "CHARGEBACK"
    CHARGEBACK_REVERSAL = "CHARGEBACK_REVERSAL"


class Disposition(models.TextChoices):
    """Where the money of a ledger row stands."""

    APPLIED = "APPLIED"
    HELD = "HELD"
    PARKED = "PARKED"
    RETURNED = "RETURNED"


class ProviderTransaction(models.Model):
    """The ledger: one money fact as the provider stated it.

    Append only, apart from the disposition, the order it is applied to, an order number that
    was not stated at first, a payment's own room for refunds and chargebacks, and how much of a
    refund or chargeback counts in the payment that it `reverses` (`reverses_no` is that one's
    number as stated). A row that `is_total` states all that was refunded so far; what counts of
    it is the part that no other row tells. `version` counts a payment's events.

    A refund's `occurred_at` is the latest time at which its provider said that it stands, and
    `failed_at` the latest at which it failed, if each failure that was told stated its time;
    `failure_told_at` is when we were told first.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, db_index=False)
    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, db_index=False)
    kind = models.CharField(max_length=20, choices=TransactionKind)
    txn_no = models.CharField(max_length=128, db_collation="C")
    reverses = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT)
    reverses_no = models.CharField(max_length=128, db_collation="C", blank=True, db_default="")
    is_total = models.BooleanField(db_default=False)
    counted_minor = models.BigIntegerField(db_default=0)
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C", blank=True)
    order = models.ForeignKey(Order, null=True, blank=True, on_delete=models.PROTECT)
    stated_account_no = models.CharField(max_length=128, db_collation="C", blank=True)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    occurred_at = models.DateTimeField()
    occurred_at_is_stated = models.BooleanField()
    failed_at = models.DateTimeField(null=True, blank=True)
    failure_told_at = models.DateTimeField(null=True, blank=True)
    disposition = models.CharField(max_length=10, choices=Disposition)
    refund_reserved_minor = models.BigIntegerField(default=0)
    refunded_minor = models.BigIntegerField(default=0)
    charged_back_minor = models.BigIntegerField(default=0)
    version = models.PositiveIntegerField(db_default=0)
    recorded_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "kind", "txn_no"], name="transaction_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=TransactionKind.values), name="transaction_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(disposition__in=Disposition.values),
                name="transaction_disposition_is_known",
            ),
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0), name="transaction_amount_is_positive"
            ),
            models.CheckConstraint(
                condition=Q(
                    refunded_minor__gte=0,
                    charged_back_minor__gte=0,
                    refund_reserved_minor__gte=F("refunded_minor"),
                    amount_minor__gte=F("refund_reserved_minor") + F("charged_back_minor"),
                ),
                name="transaction_room_within_amount",
            ),
            models.CheckConstraint(
                condition=~Q(disposition=Disposition.APPLIED)
                | Q(kind=TransactionKind.PAYMENT, order__isnull=False)
                | Q(reverses__isnull=False),
                name="transaction_applied_has_order",
            ),
            models.CheckConstraint(
                condition=~Q(kind=TransactionKind.PAYMENT)
                | Q(reverses__isnull=True, reverses_no="", is_total=False, counted_minor=0),
                name="transaction_payment_reverses_nothing",
            ),
            models.CheckConstraint(
                condition=Q(counted_minor=0)
                | Q(
                    disposition=Disposition.APPLIED,
                    counted_minor__gt=0,
                    counted_minor__lte=F("amount_minor"),
                ),
                name="transaction_counted_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(failure_told_at__isnull=True, failed_at__isnull=True)
                | Q(failure_told_at__isnull=False, kind=TransactionKind.REFUND, is_total=False),
                name="transaction_failure_is_a_refunds",
            ),
        ]
        indexes = [
            models.Index(
                fields=["merchant", "order_no"],
                condition=Q(disposition=Disposition.PARKED),
                name="transaction_parked",
            ),
            models.Index(
                fields=["account", "reverses_no"],
                condition=Q(disposition=Disposition.PARKED) & ~Q(kind=TransactionKind.PAYMENT),
                name="transaction_awaits_payment",
            ),
        ]

    def __str__(self) -> str:
        return self.txn_no
