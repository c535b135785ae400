"""When an event is sent to its endpoint again, and when it is given up."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

#: The pauses after the first attempt, the second .., as the standard advises: ten attempts in
#: 75 hours and a bit. A weekend without anybody at the receiver's is survived.
PAUSES: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
ATTEMPTS_MAX: Final = len(PAUSES) + 1
#: Up to so much is added to each pause, so that what failed together does not come back together.
JITTER: Final = 0.1
#: An endpoint may ask for more patience than that, up to so much.
RETRY_AFTER_MAX: Final = timedelta(hours=24)

_random = random.SystemRandom()


def pause_after(attempts: int, *, retry_after: str = "", now: datetime) -> timedelta:
    """How long an event waits after this many attempts have failed.

    `retry_after` is the endpoint's header where its status makes it count; what cannot be read
    says nothing.
    """
    pause = PAUSES[min(attempts, len(PAUSES)) - 1] * (1 + _random.uniform(0, JITTER))
    return max(pause, min(_asked(retry_after, now), RETRY_AFTER_MAX))


def _asked(retry_after: str, now: datetime) -> timedelta:
    """RFC 9110, 10.2.3: seconds or a date."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        # Bounding the digits keeps it a number that timedelta can hold.
        return timedelta(seconds=int(text)) if len(text) < 10 else RETRY_AFTER_MAX  # noqa: PLR2004
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return timedelta()
    return (at if at.tzinfo else at.replace(tzinfo=UTC)) - now
