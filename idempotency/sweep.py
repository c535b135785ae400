"""Recover the records whose owners died and whose callers never asked again.

The clock does it for the operations in PROCEDURES (`idempotency/tasks.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from django.db import connection, transaction

from idempotency import leased, lifecycle
from idempotency.keys import Intent
from idempotency.leased import Recovery, Work
from idempotency.lifecycle import Claim, StaleOwner

log = structlog.get_logger(__name__)

BATCH: Final = 100
#: A record whose recovery broke for so many owners waits for a person.
OWNERS_MAX: Final = 10

_LEFT_ALONE_SQL: Final = """
    SELECT count(*) FROM idempotency_record
     WHERE lease_until <= (SELECT clock_timestamp()) AND handed_over_at IS NULL
       AND split_part(scope, '/', 2) <> ALL(%s)
"""


@dataclass(frozen=True, slots=True)
class Procedure:
    """How the work of an operation is carried out, and how one finds out what became of it."""

    work: Work
    recover: Recovery
    lease: timedelta


#: What the clock recovers, by operation. Add to it where the operation is defined.
PROCEDURES: Final[dict[str, Procedure]] = {}


def sweep(procedures: Mapping[str, Procedure], *, limit: int = BATCH) -> int:
    """Recover up to `limit` expired records of these operations; how many were taken over.

    Two sweeps share the work: each record is taken over by one of them. A record whose recovery
    breaks keeps no other waiting: it is tried again when its new lease has ended, by OWNERS_MAX
    owners at most.
    """
    taken = 0
    for operation, procedure in procedures.items():
        while taken < limit and _recover_next(operation, procedure):
            taken += 1
    return taken


def left_alone(procedures: Mapping[str, Procedure]) -> int:
    """How many records have expired that none of these operations would recover."""
    with connection.cursor() as cursor:
        cursor.execute(_LEFT_ALONE_SQL, [list(procedures)])
        return int(cursor.fetchone()[0])


def _recover_next(operation: str, procedure: Procedure) -> bool:
    taken = lifecycle.take_over_next(operation, procedure.lease)
    if taken is None:
        return False
    intent, claim = taken
    try:
        leased.recovered(
            intent,
            claim,
            work=procedure.work,
            recover=procedure.recover,
            lease=procedure.lease,
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, the others must not wait for it
        broke = type(error).__name__
        log.error(  # noqa: TRY400 - a trace would hold values
            "idempotency_recovery_broke", record_id=claim.row_id, owners=claim.fence, error=broke
        )
        _hand_over_if_hopeless(intent, claim, broke)
    return True


def _hand_over_if_hopeless(intent: Intent, claim: Claim, broke: str) -> None:
    if claim.fence < OWNERS_MAX:
        return
    try:
        with transaction.atomic(durable=True):
            lifecycle.hand_over(claim, f"its recovery broke {claim.fence} times: {broke}")
    except StaleOwner:
        return  # Somebody has taken it over, or it is decided.
    log.error("idempotency_handed_over", record_id=claim.row_id, scope=str(intent.scope))
