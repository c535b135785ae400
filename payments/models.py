"""What providers said: accounts and their keys, deliveries, the ledger, and conflicts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from orders.models import ORDER_NO_LENGTH_MAX, Merchant, Order
from payments.callback import Kind, Outcome
from payments.providers.port import Assurance


class ProviderAccount(models.Model):
    """A merchant's account at a payment provider, and the endpoint its callbacks come to.

    `name` is the last part of the callback's address; `settings` is what the provider's
    adapter needs to know and is not secret. `confirm` says whether a payment moves anything
    before the provider's API has confirmed it; null is the provider's default.
    """

    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, related_name="accounts")
    provider = models.SlugField(max_length=40)
    name = models.SlugField(max_length=60)
    account_no = models.CharField(max_length=128, db_collation="C")
    live = models.BooleanField()
    settings = models.JSONField(default=dict, blank=True)
    confirm = models.BooleanField(null=True, blank=True)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "account_no", "live"], name="account_is_unique_per_mode"
            ),
            models.UniqueConstraint(fields=["provider", "name"], name="account_endpoint_is_unique"),
        ]

    def __str__(self) -> str:
        return self.endpoint

    @property
    def endpoint(self) -> str:
        """How people and orders name the account: ``stripe/main``."""
        return f"{self.provider}/{self.name}"


class AccountKey(models.Model):
    """One key of an account, its material encrypted at rest by `payments/vault.py`."""

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, related_name="keys")
    purpose = models.SlugField(max_length=40, default="signature")
    key_id = models.CharField(max_length=128)
    material = models.BinaryField()
    not_before = models.DateTimeField(null=True, blank=True)
    not_after = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "purpose", "key_id"], name="key_id_is_unique_per_purpose"
            )
        ]

    def __str__(self) -> str:
        return f"{self.account_id}:{self.purpose}:{self.key_id}"


class UnknownKeySighting(models.Model):
    """A key id that requests named and that is not configured: perhaps the provider rotated.

    Requests under it are not authentic, so they leave only this; bounded per account.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.CASCADE, related_name="sightings")
    key_id = models.CharField(max_length=128)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    count = models.PositiveBigIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "key_id"], name="sighting_is_unique")
        ]

    def __str__(self) -> str:
        return self.key_id


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
    was not stated at first, and a payment's own room for refunds and chargebacks.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, db_index=False)
    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, db_index=False)
    kind = models.CharField(max_length=20, choices=TransactionKind)
    txn_no = models.CharField(max_length=128, db_collation="C")
    reverses = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT)
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C", blank=True)
    order = models.ForeignKey(Order, null=True, blank=True, on_delete=models.PROTECT)
    stated_account_no = models.CharField(max_length=128, db_collation="C", blank=True)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    occurred_at = models.DateTimeField()
    occurred_at_is_stated = models.BooleanField()
    disposition = models.CharField(max_length=10, choices=Disposition)
    refund_reserved_minor = models.BigIntegerField(default=0)
    refunded_minor = models.BigIntegerField(default=0)
    charged_back_minor = models.BigIntegerField(default=0)
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
                condition=~Q(disposition=Disposition.APPLIED) | Q(order__isnull=False),
                name="transaction_applied_has_order",
            ),
        ]
        indexes = [
            models.Index(
                fields=["merchant", "order_no"],
                condition=Q(disposition=Disposition.PARKED),
                name="transaction_parked",
            ),
        ]

    def __str__(self) -> str:
        return self.txn_no


class Delivery(models.Model):
    """One authentic callback as delivered, repeats too. Append only.

    A batch makes one row per callback, with a common `batch_id`; its bytes are kept once, in
    the row with `item_no` 0.
    """

    account = models.ForeignKey(ProviderAccount, on_delete=models.PROTECT, db_index=False)
    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, db_index=False)
    batch_id = models.UUIDField()
    item_no = models.PositiveSmallIntegerField(default=0)
    body = models.BinaryField(null=True)
    body_sha256 = models.BinaryField(max_length=32)
    headers = models.JSONField()
    key_id = models.CharField(max_length=128)
    assurance = models.CharField(
        max_length=10, choices=[(item, item) for item in Assurance], default=Assurance.WHOLE
    )
    event_id = models.CharField(max_length=128, blank=True)
    event_type = models.CharField(max_length=100, blank=True)
    kind = models.CharField(max_length=20, choices=[(kind, kind) for kind in Kind], blank=True)
    txn_no = models.CharField(max_length=128, db_collation="C", blank=True)
    order_no = models.CharField(max_length=ORDER_NO_LENGTH_MAX, db_collation="C", blank=True)
    linked_nos = ArrayField(models.CharField(max_length=128), default=list, blank=True)
    transaction = models.ForeignKey(
        ProviderTransaction, null=True, blank=True, on_delete=models.PROTECT
    )
    outcome = models.CharField(max_length=12, choices=[(outcome, outcome) for outcome in Outcome])
    reason = models.CharField(max_length=40, blank=True)
    detail = models.CharField(max_length=300, blank=True)
    received_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["batch_id", "item_no"], name="delivery_item_is_unique"),
            models.CheckConstraint(
                condition=Q(outcome__in=[str(outcome) for outcome in Outcome]),
                name="delivery_outcome_is_known",
            ),
            models.CheckConstraint(
                condition=Q(item_no__gt=0) | Q(body__isnull=False), name="delivery_bytes_are_kept"
            ),
        ]
        indexes = [
            models.Index(fields=["account", "received_at"], name="delivery_by_account"),
            models.Index(fields=["account", "txn_no"], name="delivery_by_transaction"),
            models.Index(fields=["merchant", "order_no"], name="delivery_by_order"),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} {self.outcome}"


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


class ConflictReason(models.TextChoices):
    """Why a person must decide."""

    AMOUNT_MISMATCH = "AMOUNT_MISMATCH"
    CURRENCY_MISMATCH = "CURRENCY_MISMATCH"
    MERCHANT_MISMATCH = "MERCHANT_MISMATCH"
    TRANSACTION_ALTERED = "TRANSACTION_ALTERED"
    LATE_PAYMENT = "LATE_PAYMENT"
    DUPLICATE_PAYMENT = "DUPLICATE_PAYMENT"
    ORDER_NOT_FOUND = "ORDER_NOT_FOUND"


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
