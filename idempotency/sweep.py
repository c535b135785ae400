"""Recover the records whose owners died and whose callers never asked again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import uuid4

from django.db import connection

from idempotency import leased
from idempotency.keys import Intent, Scope
from idempotency.leased import Recovery, Work
from idempotency.lifecycle import Claim

BATCH: Final = 100

_EXPIRED_SQL: Final = """
    SELECT id, scope, idem_key, request_hash, owner_token, fence, retry_count
      FROM idempotency_record
     WHERE lease_until <= clock_timestamp() AND handed_over_at IS NULL
       AND split_part(scope, '/', 2) = ANY(%s)
     ORDER BY lease_until
     LIMIT %s
"""


@dataclass(frozen=True, slots=True)
class Procedure:
    """How the work of an operation is carried out, and how one finds out what became of it."""

    work: Work
    recover: Recovery
    lease: timedelta


def sweep(procedures: Mapping[str, Procedure], *, limit: int = BATCH) -> int:
    """Recover up to `limit` expired records of these operations; how many were looked at.

    Two sweeps share the work: each record is taken over by one of them.
    """
    with connection.cursor() as cursor:
        cursor.execute(_EXPIRED_SQL, [list(procedures), limit])
        rows = cursor.fetchall()
    for record_id, scope_text, key, digest, owner, fence, retry_count in rows:
        scope = Scope.parse(scope_text)
        procedure = procedures[scope.operation]
        leased.resume(
            Intent(scope, key, bytes(digest), uuid4()),
            Claim(record_id=record_id, owner=owner, fence=fence, retry_count=retry_count),
            work=procedure.work,
            recover=procedure.recover,
            lease=procedure.lease,
        )
    return len(rows)
