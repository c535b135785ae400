"""How the outbox is doing, in figures for whoever watches the service."""

from dataclasses import dataclass
from typing import Final

from django.db import connection

# Each part walks an index that has only what it counts: what waits, what is dead, what went out
# within the minute. The published as a whole are not counted: there are too many of them, and
# retention takes them away.
_FIGURES_SQL: Final = """
    WITH waiting AS (
        SELECT destination_id, count(*) AS number, min(created_at) AS oldest
          FROM outbox_dispatch WHERE published_at IS NULL AND dead_at IS NULL GROUP BY 1
    ),
    dead AS (
        SELECT destination_id, count(*) AS number
          FROM outbox_dispatch WHERE dead_at IS NOT NULL GROUP BY 1
    ),
    published AS (
        SELECT destination_id, count(*) AS number
          FROM outbox_dispatch
         WHERE published_at > statement_timestamp() - interval '1 minute' GROUP BY 1
    )
    SELECT destination.code, destination.state = 'ACTIVE',
           coalesce(waiting.number, 0), coalesce(dead.number, 0), coalesce(published.number, 0),
           coalesce(extract(epoch FROM statement_timestamp() - waiting.oldest), 0)::float8
      FROM outbox_destination AS destination
      LEFT JOIN waiting ON waiting.destination_id = destination.id
      LEFT JOIN dead ON dead.destination_id = destination.id
      LEFT JOIN published ON published.destination_id = destination.id
  ORDER BY destination.code
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """One destination's; `oldest_seconds` is the age of the oldest event that waits for it."""

    destination: str
    active: bool
    waiting: int
    dead: int
    published_last_minute: int
    oldest_seconds: float


def figures() -> list[Figures]:
    """Every destination's figures, of one moment."""
    with connection.cursor() as cursor:
        cursor.execute(_FIGURES_SQL)
        return [Figures(*row) for row in cursor.fetchall()]
