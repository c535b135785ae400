"""Providers' times. A time that cannot be read is None, never an error: the payment is still paid.

Whoever stores the fact then uses the time of receipt, and says so.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# The years 2000 to 2099 in seconds; in milliseconds they are a thousand times larger and
# overlap with nothing, so the unit need not be configured.
_SECONDS: Final = range(946_684_800, 4_102_444_800)
_MILLISECONDS: Final = range(_SECONDS.start * 1000, _SECONDS.stop * 1000)

_DIGITS: Final = re.compile(r"[0-9]{9,13}", re.ASCII)
# RFC 3339 with its obligatory offset. fromisoformat() alone would also read week dates,
# times without a zone, and more.
_RFC_3339: Final = re.compile(
    r"20[0-9]{2}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?"
    r"(?:[Zz]|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)


def instant(stated: object) -> datetime | None:
    """The time as UTC, from Unix seconds or milliseconds (number or text) or RFC 3339.

    Digits finer than a microsecond are cut off. Anything else, a time without an offset
    included, is None.
    """
    if isinstance(stated, int):
        return _from_unix(stated)
    if not isinstance(stated, str):
        return None
    if _DIGITS.fullmatch(stated):
        return _from_unix(int(stated))
    if not _RFC_3339.fullmatch(stated):
        return None
    try:
        return datetime.fromisoformat(stated.upper()).astimezone(UTC)
    except ValueError:
        return None


def _from_unix(number: int) -> datetime | None:
    if number in _SECONDS:
        return _EPOCH + timedelta(seconds=number)
    if number in _MILLISECONDS:
        return _EPOCH + timedelta(milliseconds=number)
    return None
