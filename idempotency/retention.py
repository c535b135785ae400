"""Forget keys that nobody will send again.

A record may go when its request cannot come back any more: a client that repeats a request
after that would be served as a new one. Only final records go; what is undecided stays.
"""

from datetime import timedelta
from typing import Any, Final

from django.db import connection

#: No shorter horizon is accepted. Clients give up after minutes; a queue of theirs that was
#: stopped on a Friday runs again on Tuesday.
HORIZON_MIN: Final = timedelta(days=4)
BATCH: Final = 1000

_FORGET_SQL: Final = """
    DELETE FROM idempotency_record
     WHERE id = ANY(ARRAY(SELECT id FROM idempotency_record
                           WHERE finished_at < clock_timestamp() - %(horizon)s
                           ORDER BY finished_at
                           LIMIT %(batch)s
                             FOR NO KEY UPDATE SKIP LOCKED))
       AND status IN ('SUCCEEDED', 'FAILED_FINAL')
"""


class HorizonTooShort(ValueError):
    """Records would be forgotten while their requests may still be repeated."""


def forget(*, horizon: timedelta, batch: int = BATCH, batches_max: int = 50) -> int:
    """Delete final records that are older than the horizon; how many. Raises HorizonTooShort.

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
