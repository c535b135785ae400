"""Decisions that wait for a second person."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from payments.models.conflicts import WHY_LENGTH_MAX, Conflict, Resolution


class ProposalStatus(models.TextChoices):
    """The life of a proposal: `payments/conflicts/proposals.py` holds its moves."""

    PENDING = "PENDING"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    WITHDRAWN = "WITHDRAWN"
    EXPIRED = "EXPIRED"


class Proposal(models.Model):
    """What one person proposes to do about a conflict, exactly.

    `digest` is over the action, its parameters, the amount and the state that was `seen`; an
    approval names it, and is void if anything of that has moved.
    """

    conflict = models.ForeignKey(Conflict, on_delete=models.PROTECT, related_name="proposals")
    resolution = models.CharField(max_length=20, choices=Resolution)
    order_no = models.CharField(max_length=64, blank=True)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    consequence = models.CharField(max_length=500)
    seen = models.JSONField()
    digest = models.CharField(max_length=64)
    why = models.CharField(max_length=WHY_LENGTH_MAX)
    status = models.CharField(max_length=10, choices=ProposalStatus, default=ProposalStatus.PENDING)
    proposed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    proposed_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_why = models.CharField(max_length=WHY_LENGTH_MAX, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conflict"],
                condition=Q(status=ProposalStatus.PENDING),
                name="proposal_pending_once",
            ),
            models.CheckConstraint(
                condition=Q(status__in=ProposalStatus.values), name="proposal_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(status=ProposalStatus.PENDING, decided_at=None)
                | (~Q(status=ProposalStatus.PENDING) & Q(decided_at__isnull=False)),
                name="proposal_decided_iff_not_pending",
            ),
            models.CheckConstraint(
                condition=~Q(status=ProposalStatus.APPROVED)
                | (Q(decided_by__isnull=False) & ~Q(proposed_by=F("decided_by"))),
                name="proposal_two_people_are_two",
            ),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"],
                condition=Q(status=ProposalStatus.PENDING),
                name="proposal_pending",
            ),
        ]

    def __str__(self) -> str:
        return _("%(how)s of conflict %(conflict)s") % {
            "how": self.resolution,
            "conflict": self.conflict_id,
        }
