"""When each account was called last, against how often it usually is, and who signs wrongly."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from payments.deliveries import API_KEY_ID

#: How many callbacks of an account its rhythm is taken from.
LOOKED_AT_MAX: Final = 100
#: Of how many deliveries: what we asked for, or took once more, is no callback.
_READ_MAX: Final = 1000
ACCOUNTS_MAX: Final = 50
#: An account with fewer callbacks has no rhythm yet.
_RHYTHM_MIN: Final = 10
#: Silent: for this many times the longest pause that it made lately, and no less than an hour.
_PAUSES: Final = 2
_SILENT_MIN: Final = timedelta(hours=1)
#: Keys that requests named and nobody knows count for so long.
_UNKNOWN_KEYS_SINCE: Final = timedelta(days=1)

_RHYTHMS_SQL: Final = """
    SELECT a.id, a.provider || '/' || a.name, lately.last, lately.number, lately.usual,
           lately.longest,
           (SELECT count(*) FROM payments_unknownkeysighting AS s
             WHERE s.account_id = a.id AND s.last_seen_at > %(since)s)
      FROM (SELECT id, provider, name FROM payments_provideraccount
             WHERE active ORDER BY id LIMIT %(accounts)s) AS a
 LEFT JOIN LATERAL (
           SELECT max(at) AS last, count(*) AS number,
                  percentile_cont(0.5) WITHIN GROUP (ORDER BY pause) AS usual,
                  max(pause) AS longest
             FROM (SELECT at, at - lag(at) OVER (ORDER BY at) AS pause
                     FROM (SELECT at FROM (SELECT received_at AS at, replay_of_id, key_id
                                             FROM payments_delivery AS d
                                            WHERE d.account_id = a.id
                                         ORDER BY received_at DESC LIMIT %(read)s) AS kept
                            WHERE replay_of_id IS NULL AND key_id <> %(api)s
                         ORDER BY at DESC LIMIT %(most)s) AS latest) AS pauses
           ) AS lately ON true
  ORDER BY a.provider, a.name
"""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """One account's: the median and the longest pause between its last callbacks."""

    account_id: int
    endpoint: str
    last: datetime | None
    number: int
    usual: timedelta | None
    longest: timedelta | None
    unknown_keys: int

    def is_silent(self, now: datetime) -> bool:
        """Whether it is silent for much longer than it was in between lately."""
        if self.last is None or self.longest is None or self.number < _RHYTHM_MIN:
            return False
        return now - self.last > max(_SILENT_MIN, self.longest * _PAUSES)


def rhythms(*, now: datetime) -> list[Rhythm]:
    """Those of the active accounts, of the first ACCOUNTS_MAX."""
    values: dict[str, Any] = {
        "most": LOOKED_AT_MAX,
        "read": _READ_MAX,
        "accounts": ACCOUNTS_MAX,
        "since": now - _UNKNOWN_KEYS_SINCE,
        "api": API_KEY_ID,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RHYTHMS_SQL, values)
        return [Rhythm(*row) for row in cursor.fetchall()]
