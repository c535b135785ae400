"""What providers said: accounts and their keys, deliveries, the ledger, and conflicts."""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from orders.models import ORDER_NO_LENGTH_MAX, ORDER_NO_PATTERN, Merchant, Order
from orders.money import Money
from payments.callback import Kind, Outcome
from payments.providers.port import Assurance

REASON_LENGTH_MAX: Final = 120


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
    was not stated at first, a payment's own room for refunds and chargebacks, and how much of a
    refund or chargeback counts in the payment that it `reverses` (`reverses_no` is that one's
    number as stated). A row that `is_total` states all that was refunded so far; what counts of
    it is the part that no other row tells. `version` counts a payment's events.
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
    def money(self) -> Money:
        """What goes back."""
        return Money(self.amount_minor, self.currency)


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
