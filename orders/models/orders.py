"""What is owed: merchants, their API keys, and their orders."""

from typing import Final

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from orders.money import Money

MERCHANT_CODE_LENGTH_MAX: Final = 40
LABEL_LENGTH_MAX: Final = 60
ORDER_NO_LENGTH_MAX: Final = 64
ORDER_NO_PATTERN: Final = rf"[A-Za-z0-9_.:-]{{1,{ORDER_NO_LENGTH_MAX}}}"

#: A callback endpoint as an order may name it, "stripe/main": the slugs of a provider (40) and
#: of an account (60).
ENDPOINT_PATTERN: Final = r"[A-Za-z0-9_-]{1,40}/[A-Za-z0-9_-]{1,60}"
ENDPOINT_LENGTH_MAX: Final = 101


class Merchant(models.Model):
    """A tenant: one company, or one shop of it, that is paid."""

    code = models.SlugField(max_length=MERCHANT_CODE_LENGTH_MAX, unique=True)
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
    label = models.CharField(max_length=LABEL_LENGTH_MAX, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API key"

    def __str__(self) -> str:
        return self.prefix


class Usage(models.Model):
    """How often a merchant has done something in one window of time: `orders/api/limits.py`.

    The number of the window counts minutes, or days, since 1970. The table is UNLOGGED: nothing
    but limits depends on it.
    """

    class What(models.TextChoices):
        """What is limited."""

        CALLS = "CALLS"
        KEYS = "KEYS"

    merchant = models.ForeignKey(Merchant, on_delete=models.CASCADE, db_index=False)
    what = models.CharField(max_length=5, choices=What)
    window_no = models.BigIntegerField()
    used = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["merchant", "what"], name="usage_is_one_row_each"),
        ]

    def __str__(self) -> str:
        return f"{self.used} {self.what}"


class OrderStatus(models.TextChoices):
    """The life of an order: `orders/lifecycle.py` holds its moves."""

    WAIT_PAY = "WAIT_PAY"
    PAID = "PAID"
    CLOSED = "CLOSED"
    REFUNDED = "REFUNDED"


#: An order in one of these was paid, and says by what and when.
PAID_STATUSES: Final = (OrderStatus.PAID, OrderStatus.REFUNDED)
_UNPAID_STATUSES: Final = tuple(status for status in OrderStatus if status not in PAID_STATUSES)


class Order(models.Model):
    """Something that a merchant is to be paid for, once.

    `version` counts its moves; it is also the `seq` of the event that tells the move.
    `payable_through` limits the order to one callback endpoint ("stripe/main"); empty means
    any account of its merchant. `placed_minor` is what it was placed with, where a person has
    accepted another amount since.
    """

    # The two indexes below begin with the merchant: one of its own would only cost writes.
    merchant = models.ForeignKey(
        Merchant, on_delete=models.PROTECT, related_name="orders", db_index=False
    )
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C")
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=10, choices=OrderStatus, default=OrderStatus.WAIT_PAY)
    payable_through = models.CharField(max_length=ENDPOINT_LENGTH_MAX, blank=True)
    paid_txn_no = models.CharField(max_length=128, blank=True)
    paid_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    placed_minor = models.BigIntegerField(null=True, blank=True, editable=False)
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
            models.CheckConstraint(
                condition=Q(order_no__regex=f"^{ORDER_NO_PATTERN}$"), name="order_no_is_well_formed"
            ),
            models.CheckConstraint(
                condition=Q(amount_minor__gt=0), name="order_amount_is_positive"
            ),
            models.CheckConstraint(
                condition=Q(currency__regex="^[A-Z]{3}$"), name="order_currency_is_well_formed"
            ),
            models.CheckConstraint(
                condition=Q(refunded_minor__gte=0, refunded_minor__lte=F("amount_minor")),
                name="order_refunded_within_amount",
            ),
            models.CheckConstraint(
                condition=Q(status=OrderStatus.REFUNDED, refunded_minor=F("amount_minor"))
                | Q(status=OrderStatus.PAID, refunded_minor__lt=F("amount_minor"))
                | Q(status__in=_UNPAID_STATUSES, refunded_minor=0),
                name="order_refunded_fits_status",
            ),
            models.CheckConstraint(
                condition=(Q(status__in=PAID_STATUSES, paid_at__isnull=False) & ~Q(paid_txn_no=""))
                | Q(status__in=_UNPAID_STATUSES, paid_at__isnull=True, paid_txn_no=""),
                name="order_paid_stamps_iff_paid",
            ),
            models.CheckConstraint(
                condition=Q(placed_minor__isnull=True)
                | Q(status__in=PAID_STATUSES, placed_minor__gt=0),
                name="order_other_amount_was_accepted",
            ),
            models.CheckConstraint(
                condition=~Q(status=OrderStatus.CLOSED) | Q(closed_at__isnull=False),
                name="order_closed_has_closed_at",
            ),
            # A paid order may have been closed before: the stamp then stays as its history.
            models.CheckConstraint(
                condition=~Q(status=OrderStatus.WAIT_PAY) | Q(closed_at__isnull=True),
                name="order_waiting_was_not_closed",
            ),
        ]
        indexes = [
            models.Index(
                F("expires_at"),
                condition=Q(status=OrderStatus.WAIT_PAY, expires_at__isnull=False),
                name="order_due_to_expire",
            ),
            models.Index(
                fields=["created_at"],
                condition=Q(status=OrderStatus.WAIT_PAY),
                name="order_waiting",
            ),
            models.Index(fields=["merchant", "created_at", "id"], name="order_newest"),
        ]

    def __str__(self) -> str:
        return self.order_no

    @property
    def money(self) -> Money:
        """What is owed."""
        return Money(self.amount_minor, self.currency)

    @property
    def placed_money(self) -> Money:
        """What was owed when the order was placed."""
        return Money(self.placed_minor or self.amount_minor, self.currency)
