"""How many callbacks came, and how many payments and refunds, by provider and by the hour or day.

Only the last rows of each table are looked at, by their ids, however many there are: what is older
is not counted, and the answer says from when on it is whole.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, Final

from django.db import connection

from payments.deliveries import API_KEY_ID

#: Rows of each table that are looked at; on a quiet day some weeks, on a busy one some hours.
LOOKED_AT_MAX: Final = 20_000


class Step(Enum):
    """How long each of the times is, and how many there are of them."""

    HOUR = ("hour", timedelta(hours=1), 24)
    DAY = ("day", timedelta(days=1), 30)

    def __init__(self, word: str, length: timedelta, number: int) -> None:
        self.word = word
        self.length = length
        self.number = number


@dataclass(frozen=True, slots=True)
class Moment:
    """What came in one hour or day that begins at `at`."""

    at: datetime
    callbacks: int = 0
    paid: int = 0
    refunded: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Of each provider that anything came of, all times; `whole_since` if not all of them are."""

    by_provider: Mapping[str, Sequence[Moment]]
    whole_since: datetime | None


_CUT: Final = "CUT"
# The ids are given in the order in which rows come, near enough: their ends are the latest rows.
_TRAFFIC_SQL: Final = """
    WITH delivered AS (
        SELECT account_id, received_at AS at,
               CASE WHEN replay_of_id IS NULL AND key_id <> %(api)s THEN 'CALLBACK' END AS what
          FROM payments_delivery ORDER BY id DESC LIMIT %(most)s
    ),
    moved AS (
        SELECT account_id, recorded_at AS at,
               CASE kind WHEN 'PAYMENT' THEN 'PAID' WHEN 'REFUND' THEN 'REFUNDED' END AS what
          FROM payments_providertransaction ORDER BY id DESC LIMIT %(most)s
    ),
    counted AS (
        SELECT a.provider, date_trunc(%(step)s, seen.at, 'UTC') AS at, seen.what, count(*) AS number
          FROM (SELECT * FROM delivered UNION ALL SELECT * FROM moved) AS seen
          JOIN payments_provideraccount AS a ON a.id = seen.account_id
         WHERE seen.at >= %(first)s AND seen.what IS NOT NULL
      GROUP BY 1, 2, 3
    )
    SELECT provider, at, what, number FROM counted
     UNION ALL
    SELECT NULL, min(at), 'CUT', count(*) FROM delivered HAVING count(*) = %(most)s
     UNION ALL
    SELECT NULL, min(at), 'CUT', count(*) FROM moved HAVING count(*) = %(most)s
"""


def traffic(step: Step, *, now: datetime) -> Traffic:
    """What came in the last 24 hours, or the last 30 days (UTC), with those that are not over."""
    start = now.replace(minute=0, second=0, microsecond=0)
    last = start.replace(hour=0) if step is Step.DAY else start
    times = [last - step.length * back for back in reversed(range(step.number))]
    values: dict[str, Any] = {"most": LOOKED_AT_MAX, "step": step.word, "first": times[0]}
    values["api"] = API_KEY_ID
    with connection.cursor() as cursor:
        cursor.execute(_TRAFFIC_SQL, values)
        rows = cursor.fetchall()
    found: dict[str, dict[datetime, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for provider, at, what, number in rows:
        if what != _CUT:
            found[provider][at][what] = number
    whole_since = max((at for _, at, what, _ in rows if what == _CUT), default=None)
    return Traffic(
        by_provider={
            provider: [_moment(at, of_provider[at]) for at in times]
            for provider, of_provider in sorted(found.items())
        },
        whole_since=whole_since if whole_since and whole_since > times[0] else None,
    )


def _moment(at: datetime, counted: Mapping[str, int]) -> Moment:
    names = ("CALLBACK", "PAID", "REFUNDED")
    return Moment(at, *(counted.get(name, 0) for name in names))
