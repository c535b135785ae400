"""What becomes of a callback, as those who decide it say it to the one who records it."""

from dataclasses import dataclass

from payments.callback import Outcome
from payments.conflicts import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of a callback, before its delivery is recorded; `case` asks a person."""

    outcome: Outcome
    reason: str = ""
    transaction_id: int | None = None
    case: Case | None = None
