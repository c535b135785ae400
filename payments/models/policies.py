"""What a merchant lets rules decide about conflicts, in versions that are never changed."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from orders.models import Merchant


class PolicyStatus(models.TextChoices):
    """The life of a version: `payments/policies/versions.py` holds its moves."""

    PROPOSED = "PROPOSED"
    ACTIVE = "ACTIVE"
    REPLACED = "REPLACED"
    REJECTED = "REJECTED"
    WITHDRAWN = "WITHDRAWN"


class ConflictPolicy(models.Model):
    """One version of a merchant's policy; only its status and stamps change.

    `rules` is a document that `payments/policies/document.py` reads. `needs_two`: it moves money by
    itself in a way that the version before did not, or asks two people less often; then a second
    person approves it.
    """

    merchant = models.ForeignKey(Merchant, on_delete=models.PROTECT, db_index=False)
    version = models.PositiveIntegerField()
    rules = models.JSONField()
    status = models.CharField(max_length=10, choices=PolicyStatus, default=PolicyStatus.PROPOSED)
    needs_two = models.BooleanField()
    why = models.CharField(max_length=500)
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
    decided_why = models.CharField(max_length=500, blank=True)

    class Meta:
        verbose_name_plural = "conflict policies"
        permissions = [
            ("propose_policy", "Can propose how rules decide conflicts"),
            ("approve_policy", "Can approve a policy that another has proposed"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["merchant", "version"], name="policy_version_is_unique"
            ),
            models.UniqueConstraint(
                fields=["merchant"],
                condition=Q(status=PolicyStatus.ACTIVE),
                name="policy_active_once",
            ),
            models.UniqueConstraint(
                fields=["merchant"],
                condition=Q(status=PolicyStatus.PROPOSED),
                name="policy_proposed_once",
            ),
            models.CheckConstraint(
                condition=Q(status__in=PolicyStatus.values), name="policy_status_is_known"
            ),
            models.CheckConstraint(
                condition=(
                    Q(status=PolicyStatus.PROPOSED, decided_by=None, decided_at=None)
                    | (
                        ~Q(status=PolicyStatus.PROPOSED)
                        & Q(decided_by__isnull=False, decided_at__isnull=False)
                    )
                ),
                name="policy_decided_iff_not_proposed",
            ),
            models.CheckConstraint(
                condition=Q(needs_two=False)
                | ~Q(status__in=[PolicyStatus.ACTIVE, PolicyStatus.REPLACED])
                | ~Q(proposed_by=F("decided_by")),
                name="policy_two_people_are_two",
            ),
        ]

    def __str__(self) -> str:
        return _("%(merchant)s version %(version)s") % {
            "merchant": self.merchant,
            "version": self.version,
        }
