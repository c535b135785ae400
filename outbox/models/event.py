"""What is true and must be told, in the shape of Debezium's outbox router."""

import uuid
from typing import Final

from django.db import models

AGGREGATE_TYPE_LENGTH_MAX: Final = 40
AGGREGATE_ID_LENGTH_MAX: Final = 140
TYPE_LENGTH_MAX: Final = 60
TENANT_LENGTH_MAX: Final = 40


class Event(models.Model):
    """One fact to publish, written in the transaction that makes it true and never changed.

    `seq` is the version of its aggregate taken under the aggregate's row lock, so it has no
    gaps and events of one aggregate are published in its order. `tenant` says whose fact it is,
    empty if nobody's in particular: destinations may want those of one tenant only.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    aggregate_type = models.CharField(max_length=AGGREGATE_TYPE_LENGTH_MAX, db_collation="C")
    aggregate_id = models.CharField(max_length=AGGREGATE_ID_LENGTH_MAX, db_collation="C")
    seq = models.PositiveIntegerField()
    type = models.CharField(max_length=TYPE_LENGTH_MAX)
    tenant = models.CharField(max_length=TENANT_LENGTH_MAX, blank=True, db_collation="C")
    payload = models.JSONField()
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["aggregate_type", "aggregate_id", "seq"], name="event_seq_is_unique"
            ),
        ]
        indexes = [models.Index(fields=["created_at"], name="event_created")]

    def __str__(self) -> str:
        return f"{self.type} {self.aggregate_id}#{self.seq}"
