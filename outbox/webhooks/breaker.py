"""A breaker for each endpoint, in the database, so that all who send share it.

After several failures in a row nothing is sent there for a while (open); then one event tries
(half open), and its end decides. Events that wait meanwhile spend no attempts.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

#: Failures in a row that open it.
FAILURES_MAX: Final = 5
OPEN_SECONDS_FIRST: Final = 30
#: An endpoint that is mended is noticed within this time.
OPEN_SECONDS_MAX: Final = 900
#: How long the one that tries may take; whoever died trying keeps nobody waiting longer.
PROBE: Final = timedelta(seconds=60)

FAILED_SQL: Final = """
    UPDATE outbox_endpoint
    SET failures = failures + 1, failing_since = coalesce(failing_since, clock_timestamp()),
        open_until = CASE WHEN failures + 1 >= %(failures_max)s THEN clock_timestamp()
            + least(%(first)s * power(2, least(failures + 1 - %(failures_max)s, 20)), %(most)s)
            * interval '1 second' ELSE open_until END
    WHERE destination_id = %(destination)s
    RETURNING failures, open_until
"""
WORKED_SQL: Final = """
    UPDATE outbox_endpoint
    SET failures = 0, failing_since = NULL, open_until = NULL
    WHERE destination_id = %(destination)s AND (failures > 0 OR open_until IS NOT NULL)
    RETURNING destination_id
"""
PROBE_SQL: Final = """
    UPDATE outbox_endpoint SET open_until = clock_timestamp() + %(probe)s
    WHERE destination_id = %(destination)s AND open_until <= clock_timestamp()
    RETURNING destination_id
"""


@dataclass(frozen=True, slots=True)
class Failing:
    """How an endpoint stands after a failure; `open_until` where nothing is sent for a while."""

    failures: int
    open_until: datetime | None


def failed(destination: int) -> Failing:
    """Count a failure."""
    values = {
        "destination": destination,
        "failures_max": FAILURES_MAX,
        "first": OPEN_SECONDS_FIRST,
        "most": OPEN_SECONDS_MAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(FAILED_SQL, values)
        return Failing(*cursor.fetchone())


def worked(destination: int) -> bool:
    """Forget the failures; the answer is whether there were any."""
    with connection.cursor() as cursor:
        cursor.execute(WORKED_SQL, {"destination": destination})
        return bool(cursor.rowcount)


def take_probe(destination: int) -> bool:
    """Whether we are the one that tries, of all who see that the time has passed."""
    values: dict[str, Any] = {"destination": destination, "probe": PROBE}
    with connection.cursor() as cursor:
        cursor.execute(PROBE_SQL, values)
        return bool(cursor.rowcount)
