"""The record of one intent: who may carry it out, and what it was answered."""

from typing import Final

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Length, Now
from django.db.models.lookups import Exact, LessThanOrEqual

from idempotency.keys import IDEM_KEY_LENGTH_MAX, IDEM_KEY_PATTERN, SCOPE_LENGTH_MAX, SCOPE_PATTERN

#: A longer answer is not kept: the work then names a resource instead.
RESULT_BODY_BYTES_MAX: Final = 64 * 1024
RESOURCE_ID_LENGTH_MAX: Final = 128
REASON_LENGTH_MAX: Final = 200


class RecordStatus(models.TextChoices):
    """The life of a record: `idempotency/lifecycle.py` holds its moves."""

    PROCESSING = "PROCESSING"
    SUCCEEDED = "SUCCEEDED"
    FAILED_RETRYABLE = "FAILED_RETRYABLE"
    FAILED_FINAL = "FAILED_FINAL"


#: A record in one of these answers every repeat, and never changes again.
FINAL_STATUSES: Final = (RecordStatus.SUCCEEDED, RecordStatus.FAILED_FINAL)


class Record(models.Model):
    """One client's key within a scope.

    `fence` counts the owners: whoever finishes shows it together with the owner's random token.
    `lease_until` is in the time of the database. `handed_over_at` says that no rule could decide
    what became of the work, so that a person must. `retry_count` counts how often the work was
    given up as retryable; `version` counts all moves.
    """

    scope = models.CharField(max_length=SCOPE_LENGTH_MAX, db_collation="C")
    idem_key = models.CharField(max_length=IDEM_KEY_LENGTH_MAX, db_collation="C")
    request_hash = models.BinaryField(max_length=32)
    status = models.CharField(max_length=16, choices=RecordStatus, default=RecordStatus.PROCESSING)
    owner_token = models.UUIDField()
    fence = models.PositiveIntegerField(default=1)
    lease_until = models.DateTimeField(null=True, blank=True)
    result_code = models.PositiveSmallIntegerField(null=True, blank=True)
    result_body = models.BinaryField(null=True, blank=True)
    resource_id = models.CharField(max_length=RESOURCE_ID_LENGTH_MAX, blank=True)
    retry_count = models.PositiveSmallIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    handed_over_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "idem_key"], name="idem_key_is_unique"),
            models.CheckConstraint(
                condition=Q(status__in=RecordStatus.values), name="idem_status_is_known"
            ),
            models.CheckConstraint(
                condition=Q(scope__regex=f"^{SCOPE_PATTERN}$"), name="idem_scope_is_well_formed"
            ),
            models.CheckConstraint(
                condition=Q(idem_key__regex=f"^{IDEM_KEY_PATTERN}$"),
                name="idem_key_is_well_formed",
            ),
            models.CheckConstraint(
                condition=Exact(Length("request_hash"), 32), name="idem_digest_is_sha256"
            ),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("result_body"), RESULT_BODY_BYTES_MAX),
                name="idem_result_is_bounded",
            ),
            models.CheckConstraint(condition=Q(fence__gte=1), name="idem_fence_counts_owners"),
            models.CheckConstraint(
                condition=Q(status=RecordStatus.PROCESSING, lease_until__isnull=False)
                | (~Q(status=RecordStatus.PROCESSING) & Q(lease_until__isnull=True)),
                name="idem_lease_iff_processing",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=FINAL_STATUSES,
                    finished_at__isnull=False,
                    result_code__isnull=False,
                )
                | (
                    ~Q(status__in=FINAL_STATUSES)
                    & Q(
                        finished_at__isnull=True,
                        result_code__isnull=True,
                        result_body__isnull=True,
                        resource_id="",
                    )
                ),
                name="idem_result_iff_final",
            ),
            models.CheckConstraint(
                condition=Q(handed_over_at__isnull=True) | Q(status=RecordStatus.PROCESSING),
                name="idem_handed_over_is_undecided",
            ),
        ]
        indexes = [
            models.Index(
                F("lease_until"),
                condition=Q(lease_until__isnull=False, handed_over_at__isnull=True),
                name="idem_leased",
            ),
            models.Index(
                F("finished_at"), condition=Q(finished_at__isnull=False), name="idem_finished"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.idem_key}"
