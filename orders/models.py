"""What is owed: merchants, their API keys, and their orders."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

ORDER_NO_LENGTH_MAX = 64


class Merchant(models.Model):
    """A tenant: one company, or one shop of it, that is paid."""

    code = models.SlugField(max_length=40, unique=True)
    name = models.CharField(max_length=120)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return self.code


class ApiKey(models.Model):
    """A merchant's key to the HTTP API. Only a digest of it is kept; several may be active."""

    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, related_name="api_keys")
    prefix = models.CharField(max_length=16, unique=True)
    secret_sha256 = models.BinaryField(max_length=32)
    label = models.CharField(max_length=60, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.prefix


class OrderStatus(models.TextChoices):
    """The life of an order: `orders/lifecycle.py` holds its moves."""

    WAIT_PAY = "WAIT_PAY"
    PAID = "PAID"
    CLOSED = "CLOSED"
    REFUNDED = "REFUNDED"


class Order(models.Model):
    """Something that a merchant is to be paid for, once.

    `version` counts its moves; it is also the `seq` of the event that tells the move.
    `payable_through` limits the order to one callback endpoint ("stripe/main"); empty means
    any account of its merchant.
    """

    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, related_name="orders")
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C")
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=10, choices=OrderStatus, default=OrderStatus.WAIT_PAY)
    payable_through = models.CharField(max_length=100, blank=True)
    paid_txn_no = models.CharField(max_length=128, blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    refunded_minor = models.BigIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["merchant", "order_no"], name="order_no_is_unique_per_merchant"
            ),
            models.CheckConstraint(
                condition=Q(status__in=OrderStatus.values), name="order_status_is_known"
            ),
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="order_amount_is_positive"),
            models.CheckConstraint(
                condition=Q(refunded_minor__gte=0, refunded_minor__lte=F("amount_minor")),
                name="order_refunded_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=[OrderStatus.PAID, OrderStatus.REFUNDED], paid_at__isnull=False
                )
                & ~Q(paid_txn_no="")
                | Q(
                    status__in=[OrderStatus.WAIT_PAY, OrderStatus.CLOSED],
                    paid_at__isnull=True,
                    paid_txn_no="",
                ),
                name="order_paid_stamps_iff_paid",
            ),
            models.CheckConstraint(
                condition=~Q(status=OrderStatus.CLOSED) | Q(closed_at__isnull=False),
                name="order_closed_has_closed_at",
            ),
        ]
        indexes = [
            models.Index(
                F("expires_at"),
                condition=Q(status=OrderStatus.WAIT_PAY, expires_at__isnull=False),
                name="order_due_to_expire",
            ),
            models.Index(fields=["merchant", "created_at", "id"], name="order_newest"),
        ]

    def __str__(self) -> str:
        return self.order_no
