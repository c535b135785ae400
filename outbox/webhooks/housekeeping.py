"""What nobody needs any more: what waits for removed endpoints, old tests, retired secrets."""

from datetime import timedelta
from typing import Any, Final

import structlog
from django.db import connection

BATCH: Final = 1000
#: Test messages belong to no dispatch whose end they could share.
TESTS_KEPT: Final = timedelta(days=30)

WAITING_SQL: Final = """
    DELETE FROM outbox_dispatch WHERE id = ANY(ARRAY(
        SELECT dispatch.id
        FROM outbox_endpoint AS endpoint
        JOIN outbox_dispatch AS dispatch ON dispatch.destination_id = endpoint.destination_id
        WHERE endpoint.removed_at IS NOT NULL AND dispatch.published_at IS NULL
        LIMIT %(batch)s FOR NO KEY UPDATE OF dispatch SKIP LOCKED))
"""
TESTS_SQL: Final = """
    DELETE FROM outbox_attempt WHERE id = ANY(ARRAY(
        SELECT id FROM outbox_attempt
        WHERE dispatch_id IS NULL AND at < clock_timestamp() - %(kept)s
        LIMIT %(batch)s FOR NO KEY UPDATE SKIP LOCKED))
"""
SECRETS_SQL: Final = """
    DELETE FROM outbox_endpointsecret AS secret
    USING outbox_endpoint AS endpoint
    WHERE endpoint.destination_id = secret.destination_id
      AND (secret.retires_at < clock_timestamp() OR endpoint.removed_at IS NOT NULL)
"""

logger = structlog.stdlib.get_logger(__name__)


def tidy() -> int:
    """Take them away, in short statements; the answer is how many events no longer wait."""
    dropped = _delete(WAITING_SQL)
    _delete(TESTS_SQL)
    with connection.cursor() as cursor:
        cursor.execute(SECRETS_SQL)
    if dropped:
        logger.warning("webhooks_dropped_with_their_endpoint", events=dropped)
    return dropped


def _delete(sql: str) -> int:
    total: int = 0
    values: dict[str, Any] = {"batch": BATCH, "kept": TESTS_KEPT}
    while True:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            deleted = int(cursor.rowcount)
        total += deleted
        if deleted < BATCH:
            return total
