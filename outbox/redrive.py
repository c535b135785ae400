"""Give dead events another life, once what killed them is mended."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

import structlog
from django.db import connection

REDRIVE_SQL: Final = """
    UPDATE outbox_event
    SET state = 'PENDING', attempts = 0, next_attempt_at = NULL
    WHERE state = 'DEAD' AND published_at IS NULL AND (%(all)s OR id = ANY(%(ids)s))
    RETURNING id
"""

logger = structlog.stdlib.get_logger(__name__)


def redrive(event_ids: Collection[UUID]) -> set[UUID]:
    """Put these events back in line with all their attempts; the answer is those that were dead."""
    return _redrive(list(event_ids), everything=False)


def redrive_all() -> set[UUID]:
    """Put every dead event back in line; the answer is which."""
    return _redrive([], everything=True)


def _redrive(event_ids: list[UUID], *, everything: bool) -> set[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(REDRIVE_SQL, {"all": everything, "ids": event_ids})
        redriven = {row[0] for row in cursor.fetchall()}
    for event_id in redriven:
        logger.info("event_redriven", event_id=str(event_id))
    return redriven
