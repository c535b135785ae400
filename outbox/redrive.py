"""Give dead dispatches another life, once what killed them is mended."""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

import structlog
from django.db import connection

REDRIVE_SQL: Final = """
    UPDATE outbox_dispatch AS dispatch
    SET state = 'PENDING', attempts = 0, next_attempt_at = NULL, dead_at = NULL,
        redrive_id = gen_random_uuid()
    FROM outbox_destination AS destination
    WHERE dispatch.state = 'DEAD' AND dispatch.dead_at IS NOT NULL
      AND destination.id = dispatch.destination_id
      AND (%(event_ids)s::uuid[] IS NULL OR dispatch.event_id = ANY(%(event_ids)s::uuid[]))
      AND (%(destination)s::varchar = '' OR destination.code = %(destination)s::varchar)
    RETURNING dispatch.event_id, destination.code, dispatch.redrive_id
"""

logger = structlog.stdlib.get_logger(__name__)

#: Which event was put back in line for which destination, and the id of this manual attempt.
Redriven = Mapping[tuple[UUID, str], UUID]


def redrive(event_ids: Collection[UUID], *, destination: str = "", by: str = "") -> Redriven:
    """Put these events back in line with all their attempts, where they are dead.

    Everywhere, or for one destination only; `by` says who did it, for the log.
    """
    return _redrive(list(event_ids), destination, by)


def redrive_all(*, destination: str = "", by: str = "") -> Redriven:
    """Put every dead event back in line, everywhere or for one destination only."""
    return _redrive(None, destination, by)


def _redrive(event_ids: list[UUID] | None, destination: str, by: str) -> Redriven:
    with connection.cursor() as cursor:
        cursor.execute(REDRIVE_SQL, {"event_ids": event_ids, "destination": destination})
        redriven = {(event_id, code): attempt for event_id, code, attempt in cursor.fetchall()}
    for (event_id, code), attempt in redriven.items():
        logger.info(
            "event_redriven",
            event_id=str(event_id),
            destination=code,
            redrive_id=str(attempt),
            by=by,
        )
    return redriven
