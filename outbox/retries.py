"""How long an event waits after it was not published, and how often that may happen."""

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from outbox.claims import Claim, Setback

#: Twelve attempts take about half an hour: long enough to mend a queue, short enough that
#: somebody is told the same day. A dead event waits for a person and is never removed.
ATTEMPTS_MAX: Final = 12
BACKOFF_SECONDS_FIRST: Final = 1
BACKOFF_SECONDS_MAX: Final = 600

#: How long events wait when the destination fails in the middle. The one in flight waits longer:
#: if it is what broke the connection, the others get past it.
PAUSE: Final = timedelta(seconds=1)
PAUSE_IN_FLIGHT: Final = timedelta(seconds=5)

_random = random.SystemRandom()


def after_refusal(claim: Claim, reason: str) -> Setback:
    """The destination would not take it: an attempt is spent, and the next one is further off."""
    return Setback(claim=claim, reason=reason, wait=backoff(claim.attempts + 1))


def after_failure(claims: Sequence[Claim], failure: str) -> list[Setback]:
    """These were not told of when publishing ended, the first of them perhaps in flight.

    Without a failure it ended because time was up, and they may go on at once.
    """
    pauses = [PAUSE_IN_FLIGHT, *[PAUSE] * len(claims)] if failure else [timedelta()] * len(claims)
    return [
        Setback(claim=claim, reason=failure, wait=pause)
        for claim, pause in zip(claims, pauses, strict=False)
    ]


def backoff(attempts: int) -> timedelta:
    """How long to wait after this many refusals: doubling to a ceiling, less up to a half."""
    # Bounding the exponent keeps the power small however often something was refused.
    seconds = min(BACKOFF_SECONDS_MAX, BACKOFF_SECONDS_FIRST * 2 ** min(attempts - 1, 30))
    return timedelta(seconds=seconds * _random.uniform(0.5, 1.0))
