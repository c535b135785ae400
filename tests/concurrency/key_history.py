"""Whether a history of calls with one key could have come from one that runs one at a time.

Calls overlap; each has a beginning and an end by one clock. The rules are those that a client
relies on, so a history that keeps them may be told in some order in which the first call did the
work and each later one repeated its answer or was refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """One call with the key: what it meant, and what it was told."""

    begun: float
    ended: float
    meaning: str
    told: str  # "executed", "replayed", "mismatch", "running", or "failed"
    answer: str = ""


def broken_rules(history: Sequence[Call]) -> list[str]:
    """The rules that the history of one key breaks."""
    done = [call for call in history if call.told in ("executed", "replayed")]
    executed = [call for call in history if call.told == "executed"]
    refused = [call for call in history if call.told == "mismatch"]
    rules = {
        "it was carried out more than once": len(executed) > 1,
        "two answers were given": len({call.answer for call in done}) > 1,
        "two meanings were carried out": len({call.meaning for call in done}) > 1,
        "an answer was given before anybody could have carried it out": any(
            call.ended < first.begun for call in done for first in executed
        ),
        "the answer was not given to one who came after it": any(
            later.begun > earlier.ended and later.told in ("executed", "running")
            for earlier in done
            for later in history
        ),
        "a call was refused though no other meaning had come": any(
            all(
                other.meaning == call.meaning or other.begun > call.ended or other is call
                for other in history
            )
            for call in refused
        ),
        "a call was refused though its own meaning was carried out before": any(
            call.meaning == earlier.meaning and call.begun > earlier.ended
            for call in refused
            for earlier in done
        ),
    }
    return [rule for rule, is_broken in rules.items() if is_broken]
