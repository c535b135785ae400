"""What consumers have heard."""

from django.db import models
from django.db.models.functions import Now

CONSUMER_GROUP_LENGTH_MAX = 60
CONSUMED_ID_LENGTH_MAX = 255


class ConsumedEvent(models.Model):
    """The mark that a group of consumers has handled an event, ours or anybody's.

    It is written by `outbox/inbox.py`, in the transaction of what was done about the event.
    """

    pk = models.CompositePrimaryKey("consumer_group", "event_id")
    consumer_group = models.CharField(max_length=CONSUMER_GROUP_LENGTH_MAX, db_collation="C")
    event_id = models.CharField(max_length=CONSUMED_ID_LENGTH_MAX, db_collation="C")
    consumed_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        indexes = [models.Index(fields=["consumed_at"], name="consumed_event_age")]
