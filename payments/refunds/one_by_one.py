"""Work off refunds one after the other: what goes wrong with one is that one's affair.

A refund that cannot be carried out or recorded, for whatever reason, is asked about again, further
off each time, and at last a person is asked. Those behind it go on.
"""

import traceback
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Final

import structlog

from payments.models import Refund
from payments.refunds import answers
from payments.refunds.lifecycle import Claim

log = structlog.get_logger(__name__)

BROKEN: Final = "BROKEN"
"""What is said of a refund that raised an error."""


def work_off(
    take: Callable[[], Claim | None],
    carry_out: Callable[[Claim], str],
    *,
    limit: int,
    now: datetime,
) -> Counter[str]:
    """Carry out up to `limit` refunds as `take` gives them; how many ended in which word.

    Raises only what a database raises that cannot even note that a refund is to wait.
    """
    ended: Counter[str] = Counter()
    for _ in range(limit):
        claim = take()
        if claim is None:
            break
        ended[_alone(claim, carry_out, now=now)] += 1
    return ended


def _alone(claim: Claim, carry_out: Callable[[Claim], str], *, now: datetime) -> str:
    try:
        return carry_out(claim)
    except Exception as error:  # noqa: BLE001 - whatever it is, the others must not wait for it
        broke = type(error).__name__
        refund_no = Refund.objects.values_list("refund_no", flat=True).get(pk=claim.refund_id)
        log.error(  # noqa: TRY400 - a trace would hold values
            "refund broke",
            refund_id=claim.refund_id,
            refund_no=refund_no,
            asks=claim.asks + 1,
            error=broke,
            at=_place(error),
        )
    # It may have been executed: so it is unknown, and asked about, like every lost answer.
    noted = answers.not_known(claim, why=f"it could not be settled here: {broke}", now=now)
    return BROKEN if noted else answers.LOST


def _place(error: Exception) -> str:
    """Where it was raised in our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename]
    last = ours[-1]
    return f"{last.filename.rpartition('/')[2]}:{last.lineno} {last.name}"
