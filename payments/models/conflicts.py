"""Cases that no rule may decide, and how they were decided."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from orders.models import Merchant, Order
from payments.models.deliveries import Delivery
from payments.models.ledger import ProviderTransaction
from payments.models.policies import ConflictPolicy
from payments.models.refunds import Refund

WHY_LENGTH_MAX = 500


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
    """The life of a conflict: `payments/conflicts/lifecycle.py` holds its moves."""

    OPEN = "OPEN"
    PROPOSED = "PROPOSED"
    RESOLVED = "RESOLVED"
    DISMISSED = "DISMISSED"


class Resolution(models.TextChoices):
    """What may be done about a conflict: `payments/conflicts/options.py` says when."""

    ACCEPT = "ACCEPT"
    ACCEPT_RECEIVED = "ACCEPT_RECEIVED"
    ACCEPT_OWED = "ACCEPT_OWED"
    REFUND = "REFUND"
    MATCH = "MATCH"
    NOT_OURS = "NOT_OURS"
    DISMISS = "DISMISS"
    ASK_PROVIDER = "ASK_PROVIDER"


class DecidedAs(models.TextChoices):
    """Who or what decided: a person, a policy that people switched on, or a fact that came."""

    PERSON = "PERSON"
    POLICY = "POLICY"
    FACT = "FACT"


class Severity(models.TextChoices):
    """How loudly a conflict asks."""

    PAGE = "PAGE"
    TICKET = "TICKET"


class Conflict(models.Model):
    """A case that no rule may decide, with what was expected and what came side by side.

    `subject` names what the conflict is about (a transaction, or a delivery without one), so
    that the same fact told again finds the same conflict. `amount_minor` and `currency` are what
    came, where money was stated: lists look for it. The `assignee` has taken it on, which binds
    nobody else and is no part of what a decision rests on. Of a decision that needed two people
    (`needs_two`), one proposed and the other decided. `refund` is the refund that it asked for.
    `policy_seen` is the last policy that has looked at it.
    """

    # The index of its merchant's conflicts by time begins with it.
    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, db_index=False)
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
    amount_minor = models.BigIntegerField(null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True, db_default="")
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    assigned_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=ConflictStatus, default=ConflictStatus.OPEN)
    opened_at = models.DateTimeField()
    due_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolution = models.CharField(max_length=60, blank=True)
    decision = models.CharField(max_length=20, choices=Resolution, blank=True, db_default="")
    decided_as = models.CharField(max_length=10, choices=DecidedAs, blank=True, db_default="")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )
    needs_two = models.BooleanField(db_default=False)
    why = models.CharField(max_length=WHY_LENGTH_MAX, blank=True, db_default="")
    policy = models.ForeignKey(
        ConflictPolicy, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    policy_seen = models.BigIntegerField(db_default=0)
    refund = models.ForeignKey(
        Refund, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    version = models.PositiveIntegerField(default=1)

    class Meta:
        permissions = [
            ("resolve_conflict", "Can decide conflicts, or propose what needs two people"),
            ("approve_conflict", "Can approve or reject what another has proposed"),
            ("ask_provider", "Can ask a provider about a conflict"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(assignee__isnull=True, assigned_at__isnull=True)
                | Q(assignee__isnull=False, assigned_at__isnull=False),
                name="conflict_assigned_at_iff_assigned",
            ),
            models.UniqueConstraint(fields=["reason", "subject"], name="conflict_is_unique"),
            models.CheckConstraint(
                condition=Q(decision__in=["", *Resolution.values]),
                name="conflict_decision_is_known",
            ),
            models.CheckConstraint(
                condition=Q(decided_as__in=["", *DecidedAs.values]),
                name="conflict_decided_as_is_known",
            ),
            models.CheckConstraint(
                condition=Q(needs_two=False)
                | (
                    Q(proposed_by__isnull=False, decided_by__isnull=False)
                    & ~Q(proposed_by=F("decided_by"))
                ),
                name="conflict_two_people_are_two",
            ),
            models.CheckConstraint(
                condition=(Q(decided_as=DecidedAs.POLICY) & Q(policy__isnull=False))
                | (~Q(decided_as=DecidedAs.POLICY) & Q(policy__isnull=True)),
                name="conflict_policy_iff_decided_by_it",
            ),
            models.CheckConstraint(
                condition=(Q(decided_as=DecidedAs.PERSON) & Q(decided_by__isnull=False))
                | (~Q(decided_as=DecidedAs.PERSON) & Q(decided_by__isnull=True)),
                name="conflict_person_iff_decided_by_one",
            ),
            models.CheckConstraint(
                condition=Q(decision="")
                | Q(status__in=[ConflictStatus.RESOLVED, ConflictStatus.DISMISSED]),
                name="conflict_open_is_undecided",
            ),
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
            models.Index(fields=["due_at", "id"], name="conflict_by_due"),
            models.Index(
                fields=["merchant", "opened_at"],
                name="conflict_of_merchant",
            ),
            models.Index(
                F("assignee"),
                F("due_at"),
                condition=Q(status__in=[ConflictStatus.OPEN, ConflictStatus.PROPOSED]),
                name="conflict_of_assignee",
            ),
            models.Index(
                F("reason"),
                F("due_at"),
                condition=Q(status__in=[ConflictStatus.OPEN, ConflictStatus.PROPOSED]),
                name="conflict_of_reason",
            ),
            models.Index(
                F("amount_minor"),
                condition=Q(status__in=[ConflictStatus.OPEN, ConflictStatus.PROPOSED]),
                name="conflict_of_amount",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.reason} {self.subject}"
