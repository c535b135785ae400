"""Events on their way: what the relay knows of one event and one destination."""

from typing import Final

from django.db import models
from django.db.models import Q

from outbox.models.destination import Destination
from outbox.models.event import AGGREGATE_ID_LENGTH_MAX, AGGREGATE_TYPE_LENGTH_MAX, Event

ERROR_LENGTH_MAX: Final = 500


class DispatchState(models.TextChoices):
    """The life of a dispatch: see `outbox/claims.py`, which alone moves it."""

    PENDING = "PENDING"
    CLAIMED = "CLAIMED"
    PUBLISHED = "PUBLISHED"
    DEAD = "DEAD"


class Dispatch(models.Model):
    """One event on its way to one destination, written together with the event.

    What claims look at is copied from the event, so that they read one table. `attempts` counts
    how often the destination refused it; waiting for a destination that is down costs none.
    `redrive_id` names the last time that a person sent it on its way again.
    """

    event = models.ForeignKey(
        Event, on_delete=models.PROTECT, related_name="dispatches", db_index=False
    )
    # Without a constraint in the database: it would lock the destination's row in every payment's
    # transaction. A trigger keeps destinations from being deleted instead.
    destination = models.ForeignKey(
        Destination,
        on_delete=models.PROTECT,
        related_name="dispatches",
        db_index=False,
        db_constraint=False,
    )
    aggregate_type = models.CharField(max_length=AGGREGATE_TYPE_LENGTH_MAX, db_collation="C")
    aggregate_id = models.CharField(max_length=AGGREGATE_ID_LENGTH_MAX, db_collation="C")
    seq = models.PositiveIntegerField()
    created_at = models.DateTimeField()

    state = models.CharField(max_length=10, choices=DispatchState, default=DispatchState.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    owner_token = models.UUIDField(null=True, blank=True)
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    dead_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=ERROR_LENGTH_MAX, blank=True)
    redrive_id = models.UUIDField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "dispatches"
        constraints = [
            models.UniqueConstraint(
                fields=["event", "destination"], name="dispatch_is_one_per_destination"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DispatchState.values), name="dispatch_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state=DispatchState.PUBLISHED, published_at__isnull=False)
                | (~Q(state=DispatchState.PUBLISHED) & Q(published_at__isnull=True)),
                name="dispatch_published_at_iff_published",
            ),
            models.CheckConstraint(
                condition=Q(state=DispatchState.DEAD, dead_at__isnull=False)
                | (~Q(state=DispatchState.DEAD) & Q(dead_at__isnull=True)),
                name="dispatch_dead_at_iff_dead",
            ),
            models.CheckConstraint(
                condition=Q(
                    state=DispatchState.CLAIMED,
                    owner_token__isnull=False,
                    lease_until__isnull=False,
                )
                | ~Q(state=DispatchState.CLAIMED),
                name="dispatch_claimed_has_owner_and_lease",
            ),
        ]
        # Their conditions name stamps, not `state`: PostgreSQL can then claim and release a
        # dispatch without touching any index (a heap-only update). The dead are in none that
        # claims walk, however many there are.
        indexes = [
            models.Index(
                fields=["destination", "aggregate_type", "aggregate_id", "seq"],
                name="dispatch_line",
            ),
            models.Index(
                fields=["destination", "created_at"],
                condition=Q(published_at__isnull=True, dead_at__isnull=True),
                name="dispatch_waiting",
            ),
            models.Index(
                fields=["published_at"],
                condition=Q(published_at__isnull=False),
                name="dispatch_published",
            ),
            models.Index(
                fields=["destination", "dead_at"],
                condition=Q(dead_at__isnull=False),
                name="dispatch_dead_of_destination",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.aggregate_id}#{self.seq}"
