"""The outbox table: what is true and must be told, in the shape of Debezium's outbox router."""

import uuid

from django.db import models
from django.db.models import F, Q

AGGREGATE_TYPE_LENGTH_MAX = 40
AGGREGATE_ID_LENGTH_MAX = 140
TYPE_LENGTH_MAX = 60
ERROR_LENGTH_MAX = 500


class EventState(models.TextChoices):
    """The life of an event: see `outbox/claims.py`, which alone moves it."""

    PENDING = "PENDING"
    CLAIMED = "CLAIMED"
    PUBLISHED = "PUBLISHED"
    DEAD = "DEAD"


class Event(models.Model):
    """One fact to publish, written in the transaction that makes it true.

    `seq` is the version of its aggregate taken under the aggregate's row lock, so it has no
    gaps and events of one aggregate are published in its order. `attempts` counts how often the
    destination refused it; waiting for a destination that is down costs none.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    aggregate_type = models.CharField(max_length=AGGREGATE_TYPE_LENGTH_MAX, db_collation="C")
    aggregate_id = models.CharField(max_length=AGGREGATE_ID_LENGTH_MAX, db_collation="C")
    seq = models.PositiveIntegerField()
    type = models.CharField(max_length=TYPE_LENGTH_MAX)
    payload = models.JSONField()
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    state = models.CharField(max_length=10, choices=EventState, default=EventState.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    owner_token = models.UUIDField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=ERROR_LENGTH_MAX, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["aggregate_type", "aggregate_id", "seq"], name="event_seq_is_unique"
            ),
            models.CheckConstraint(
                condition=Q(state__in=EventState.values), name="event_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state=EventState.PUBLISHED, published_at__isnull=False)
                | (~Q(state=EventState.PUBLISHED) & Q(published_at__isnull=True)),
                name="event_published_at_iff_published",
            ),
            models.CheckConstraint(
                condition=Q(
                    state=EventState.CLAIMED,
                    owner_token__isnull=False,
                    lease_until__isnull=False,
                )
                | ~Q(state=EventState.CLAIMED),
                name="event_claimed_has_owner_and_lease",
            ),
        ]
        # Their conditions name `published_at`, not `state`: PostgreSQL can then claim and release
        # an event without touching any index (a heap-only update).
        indexes = [
            models.Index(
                F("created_at"), condition=Q(published_at__isnull=True), name="event_unpublished"
            ),
            models.Index(
                F("published_at"), condition=Q(published_at__isnull=False), name="event_published"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.aggregate_id}#{self.seq}"
