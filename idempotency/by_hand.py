"""What a person decides about a record that no rule could decide."""

from typing import Final

import structlog
from django.db import connection, transaction

from idempotency import lifecycle
from idempotency.leased import Finished
from idempotency.lifecycle import Claim
from idempotency.models import REASON_LENGTH_MAX, Record

log = structlog.get_logger(__name__)

_ASK_AGAIN_SQL: Final = """
    UPDATE idempotency_record
       SET handed_over_at = NULL, reason = '', version = version + 1
     WHERE id = %s AND handed_over_at IS NOT NULL
"""


class NotHandedOver(Exception):
    """The record was not handed over, or has been decided meanwhile."""


class ReasonTooLong(ValueError):
    """Who and why do not fit into the record, which keeps both."""


def decide(record_id: int, finished: Finished, *, who: str, why: str) -> None:
    """Record what the person found out as the final answer, with who says so and why.

    Raises NotHandedOver and ReasonTooLong.
    """
    reason = f"decided by {who}: {why}"
    if len(reason) > REASON_LENGTH_MAX:
        raise ReasonTooLong(f"{len(reason)} characters, at most {REASON_LENGTH_MAX} are kept")
    record = Record.objects.filter(pk=record_id, handed_over_at__isnull=False).first()
    if record is None:
        raise NotHandedOver(record_id)
    claim = Claim(row_id=record.pk, owner=record.owner_token, fence=record.fence)
    try:
        with transaction.atomic(durable=True):
            lifecycle.finish(claim, finished.status, finished.result, reason=reason)
            finished.rows()
    except lifecycle.StaleOwner as error:
        raise NotHandedOver(record_id) from error
    log.info("idempotency_key_decided", record_id=record_id, status=finished.status, who=who)


def ask_again(record_id: int) -> None:
    """Let recovery ask the source of truth once more. Raises NotHandedOver."""
    with connection.cursor() as cursor:
        cursor.execute(_ASK_AGAIN_SQL, [record_id])
        if cursor.rowcount != 1:
            raise NotHandedOver(record_id)
