"""What waits for destinations and what is dead, for people who look: at a bounded cost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection

#: How far anything is counted: `figures` has the whole numbers, for who asks less often.
COUNTED_MAX: Final = 10_000
#: How many of the oldest that wait are looked at for an error: they are who is tried first.
_LOOKED_AT: Final = 100

_WAITING: Final = "dispatch.published_at IS NULL AND dispatch.dead_at IS NULL"
_DEAD: Final = "dispatch.dead_at IS NOT NULL"
_BACKLOGS_SQL: Final = f"""
    SELECT wanted.id,
           (SELECT count(*) FROM (
                SELECT FROM outbox_dispatch AS dispatch
                 WHERE dispatch.destination_id = wanted.id AND {_WAITING}
                 LIMIT %(most)s) AS counted),
           (SELECT dispatch.created_at FROM outbox_dispatch AS dispatch
             WHERE dispatch.destination_id = wanted.id AND {_WAITING}
             ORDER BY dispatch.created_at LIMIT 1),
           (SELECT count(*) FROM (
                SELECT FROM outbox_dispatch AS dispatch
                 WHERE dispatch.destination_id = wanted.id AND {_DEAD}
                 LIMIT %(most)s) AS counted),
           coalesce(
               (SELECT oldest.last_error FROM (
                    SELECT dispatch.last_error, dispatch.created_at
                      FROM outbox_dispatch AS dispatch
                     WHERE dispatch.destination_id = wanted.id AND {_WAITING}
                     ORDER BY dispatch.created_at LIMIT %(looked_at)s) AS oldest
                 WHERE oldest.last_error <> '' ORDER BY oldest.created_at LIMIT 1),
               (SELECT dispatch.last_error FROM outbox_dispatch AS dispatch
                 WHERE dispatch.destination_id = wanted.id AND {_DEAD}
                 ORDER BY dispatch.dead_at DESC LIMIT 1),
               '')
      FROM unnest(%(ids)s::bigint[]) AS wanted (id)
"""  # noqa: S608 - made of our own constants


def _each_once(name: str, condition: str) -> str:
    """The destinations of an index that begins with them, one look at the index for each."""
    return f"""
    {name} (id) AS (
        (SELECT dispatch.destination_id FROM outbox_dispatch AS dispatch WHERE {condition}
          ORDER BY dispatch.destination_id LIMIT 1)
        UNION ALL
        SELECT (SELECT dispatch.destination_id FROM outbox_dispatch AS dispatch
                 WHERE {condition} AND dispatch.destination_id > {name}.id
                 ORDER BY dispatch.destination_id LIMIT 1)
          FROM {name} WHERE {name}.id IS NOT NULL)"""  # noqa: S608 - made of our own constants


_BEHIND_SQL: Final = f"""
    WITH RECURSIVE {_each_once("waiting", _WAITING)}, {_each_once("dead", _DEAD)}
    (SELECT id FROM dead WHERE id IS NOT NULL LIMIT %(most)s)
    UNION
    (SELECT id FROM waiting WHERE id IS NOT NULL LIMIT %(most)s)
"""  # noqa: S608 - made of our own constants


@dataclass(frozen=True, slots=True)
class Backlog:
    """One destination's; the numbers go no further than COUNTED_MAX.

    `last_error` is that of the oldest event that waits and has one, else of the last that died.
    """

    waiting: int = 0
    oldest: datetime | None = None
    dead: int = 0
    last_error: str = ""


def backlogs(destinations: Iterable[int]) -> Mapping[int, Backlog]:
    """Those of these destinations, by their ids."""
    values: dict[str, Any] = {
        "ids": list(destinations),
        "most": COUNTED_MAX,
        "looked_at": _LOOKED_AT,
    }
    with connection.cursor() as cursor:
        cursor.execute(_BACKLOGS_SQL, values)
        return {row[0]: Backlog(*row[1:]) for row in cursor.fetchall()}


def behind(*, most: int) -> list[int]:
    """The ids of destinations that have something dead, and of those for which something waits.

    As many of each as `most`.
    """
    with connection.cursor() as cursor:
        cursor.execute(_BEHIND_SQL, {"most": most})
        return sorted(row[0] for row in cursor.fetchall())
