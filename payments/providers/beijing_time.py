"""Times as the Chinese providers write them: Beijing's clock, without saying so."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

# China has had one zone and no summer time since 1991, before any of these providers.
_BEIJING: Final = timezone(timedelta(hours=8))
_SPACED: Final = re.compile(
    r"20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?", re.ASCII
)
_COMPACT: Final = re.compile(r"20[0-9]{12}", re.ASCII)


def beijing_instant(stated: str | None) -> datetime | None:
    """The time as UTC, from ``2026-01-01 08:00:00`` or ``20260101080000``; else None."""
    if stated is None:
        return None
    if _COMPACT.fullmatch(stated):
        stated = f"{stated[:8]}T{stated[8:]}"
    elif not _SPACED.fullmatch(stated):
        return None
    try:
        return datetime.fromisoformat(stated).replace(tzinfo=_BEIJING).astimezone(UTC)
    except ValueError:
        return None
