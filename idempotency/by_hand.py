"""What a person decides about a record that no rule could decide."""

from typing import Final

from django.db import connection, transaction

from idempotency import lifecycle
from idempotency.leased import Finished
from idempotency.lifecycle import Claim
from idempotency.models import Record

_ASK_AGAIN_SQL: Final = """
    UPDATE idempotency_record
       SET handed_over_at = NULL, reason = '', version = version + 1
     WHERE id = %s AND handed_over_at IS NOT NULL
"""


class NotHandedOver(Exception):
    """The record was not handed over, or has been decided meanwhile."""


@transaction.atomic(durable=True)
def decide(record_id: int, finished: Finished) -> None:
    """Record what the person found out as the final answer. Raises NotHandedOver."""
    record = Record.objects.filter(pk=record_id, handed_over_at__isnull=False).first()
    if record is None:
        raise NotHandedOver(record_id)
    claim = Claim(record_id=record.pk, owner=record.owner_token, fence=record.fence)
    try:
        lifecycle.finish(claim, finished.status, finished.result)
    except lifecycle.StaleOwner as error:
        raise NotHandedOver(record_id) from error
    finished.rows()


def ask_again(record_id: int) -> None:
    """Let recovery ask the source of truth once more. Raises NotHandedOver."""
    with connection.cursor() as cursor:
        cursor.execute(_ASK_AGAIN_SQL, [record_id])
        if cursor.rowcount != 1:
            raise NotHandedOver(record_id)
