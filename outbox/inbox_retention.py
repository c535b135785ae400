"""Forget marks of events that nobody will deliver again.

An event whose mark is gone is handled once more if it comes again, so marks outlive every replay:
what waits in a queue or a dead-letter queue, what a stream or a topic keeps, what is redriven.
"""

from datetime import timedelta
from typing import Any, Final

from django.db import connection

#: No shorter horizon is accepted: Kafka keeps a topic for seven days unless told otherwise, and
#: somebody has to notice a dead-letter queue after a weekend and empty it.
HORIZON_MIN: Final = timedelta(days=14)
BATCH: Final = 5000

_FORGET_SQL: Final = """
      WITH old AS MATERIALIZED (
               SELECT consumer_group, event_id FROM outbox_consumedevent
                WHERE consumed_at < clock_timestamp() - %(horizon)s
                ORDER BY consumed_at
                LIMIT %(batch)s
                  FOR NO KEY UPDATE SKIP LOCKED)
    DELETE FROM outbox_consumedevent
     WHERE (consumer_group, event_id) IN (SELECT consumer_group, event_id FROM old)
"""


class HorizonTooShort(ValueError):
    """Marks would be forgotten while their events may still be delivered again."""


def forget(*, horizon: timedelta, batch: int = BATCH, batches_max: int = 50) -> int:
    """Delete marks that are older than the horizon; how many. Raises HorizonTooShort.

    Each batch is a transaction of its own.
    """
    if horizon < HORIZON_MIN:
        raise HorizonTooShort(f"{horizon} is shorter than {HORIZON_MIN}")
    values: dict[str, Any] = {"horizon": horizon, "batch": batch}
    forgotten = 0
    for _ in range(batches_max):
        with connection.cursor() as cursor:
            cursor.execute(_FORGET_SQL, values)
            forgotten += cursor.rowcount
            if cursor.rowcount < batch:
                break
    return forgotten
