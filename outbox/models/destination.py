"""Places that events go to, and which events each of them wants."""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from outbox.models.event import TENANT_LENGTH_MAX, TYPE_LENGTH_MAX

CODE_LENGTH_MAX: Final = 40
REASON_LENGTH_MAX: Final = 200

#: The one destination that is always there and gets every event; the settings say what it is.
BUS: Final = "bus"


class DestinationKind(models.TextChoices):
    """What answers at a destination."""

    BUS = "bus"
    RABBITMQ = "rabbitmq"
    REDIS_STREAM = "redis_stream"
    KAFKA = "kafka"
    WEBHOOK = "webhook"


class DestinationState(models.TextChoices):
    """Whether events leave for it now. They are kept for it in every state."""

    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"
    DISABLED = "DISABLED"


class Party(models.TextChoices):
    """Who has let a destination rest; what an operator has, only an operator undoes.

    ENDPOINT: it answered 410 itself.
    """

    OPERATOR = "OPERATOR"
    MERCHANT = "MERCHANT"
    ENDPOINT = "ENDPOINT"


class Destination(models.Model):
    """One place, with what it wants. It gets the events that are emitted from its making on.

    `event_types` are exact names (`order.paid`) or all that begins so (`order.*`); none at all
    means every type, and no `tenant` means every tenant's. `config` holds no secret: it names a
    variable of the environment where one is needed. The database refuses to delete a
    destination, because its dispatches say what became of events.
    """

    code = models.CharField(max_length=CODE_LENGTH_MAX, unique=True, db_collation="C")
    kind = models.CharField(max_length=20, choices=DestinationKind)
    tenant = models.CharField(
        max_length=TENANT_LENGTH_MAX, blank=True, db_collation="C", db_index=True
    )
    event_types = ArrayField(models.CharField(max_length=TYPE_LENGTH_MAX), default=list, blank=True)
    config = models.JSONField(default=dict, blank=True)
    state = models.CharField(
        max_length=10, choices=DestinationState, default=DestinationState.ACTIVE
    )
    reason = models.CharField(max_length=REASON_LENGTH_MAX, blank=True)
    rested_by = models.CharField(max_length=8, choices=Party, blank=True, default="", db_default="")
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        permissions = [
            ("operate_destination", "Can pause and resume destinations, and send events again")
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(code__regex=r"^[a-z0-9][a-z0-9_-]*$"), name="destination_code_is_plain"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=DestinationKind.values), name="destination_kind_is_known"
            ),
            models.CheckConstraint(
                condition=Q(state=DestinationState.ACTIVE, reason="")
                | (
                    Q(state__in=[DestinationState.PAUSED, DestinationState.DISABLED])
                    & ~Q(reason="")
                ),
                name="destination_says_why_it_rests",
            ),
            models.CheckConstraint(
                condition=Q(state=DestinationState.ACTIVE, rested_by="")
                | (~Q(state=DestinationState.ACTIVE) & Q(rested_by__in=Party.values)),
                name="destination_says_who_let_it_rest",
            ),
            models.CheckConstraint(
                condition=Q(code=BUS, kind=DestinationKind.BUS, tenant="", event_types=[])
                & ~Q(state=DestinationState.DISABLED)
                | (~Q(code=BUS) & ~Q(kind=DestinationKind.BUS)),
                name="destination_bus_takes_everything",
            ),
        ]

    def __str__(self) -> str:
        return self.code
