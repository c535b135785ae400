"""The audit: one row for each thing that a person, a policy or a command did."""

from typing import Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

ACTOR_LENGTH_MAX: Final = 150
ORIGIN_LENGTH_MAX: Final = 200
WHY_LENGTH_MAX: Final = 500


class ActorKind(models.TextChoices):
    """What kind of actor it was."""

    PERSON = "PERSON"
    POLICY = "POLICY"
    COMMAND = "COMMAND"
    STRANGER = "STRANGER"


class AuditEntry(models.Model):
    """One deed. Append only: triggers refuse UPDATE, DELETE and TRUNCATE.

    `seq` counts without gaps; `hash` is SHA-256 over `previous` (the hash of the entry before)
    and the canonical JSON of all other columns. `at` is the database's clock. There are no
    foreign keys: what an entry names may come and go.
    """

    seq = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=10, choices=ActorKind)
    actor = models.CharField(max_length=ACTOR_LENGTH_MAX)
    actor_id = models.BigIntegerField(null=True, blank=True)
    origin = models.CharField(max_length=ORIGIN_LENGTH_MAX, blank=True)
    action = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=128)
    before = models.JSONField()
    after = models.JSONField()
    why = models.CharField(max_length=WHY_LENGTH_MAX, blank=True)
    previous = models.BinaryField(max_length=32)
    hash = models.BinaryField(max_length=32)

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [
            models.CheckConstraint(condition=Q(seq__gte=1), name="audit_seq_is_positive"),
            models.CheckConstraint(
                condition=Q(actor_kind__in=ActorKind.values), name="audit_actor_kind_is_known"
            ),
        ]
        indexes = [
            models.Index(fields=["object_type", "object_id", "seq"], name="audit_of_object"),
            models.Index(fields=["actor_kind", "actor_id", "seq"], name="audit_of_actor"),
            models.Index(fields=["at"], name="audit_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.action}"


class Verification(models.Model):
    """What a walk along the chain found: the last entry that is right, and what is wrong after it.

    For people who look at the audit, and no proof: the command and a kept anchor are.
    """

    at = models.DateTimeField(db_default=Now())
    seq = models.BigIntegerField()
    broken = models.TextField(blank=True)
