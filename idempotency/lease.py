"""A lease on a row: one owner at a time, whoever died and whatever any clock says.

This is the protocol of work that outlives a transaction (mode 2), for every table that has the
columns `id`, `status`, `owner_token`, `fence` and `lease_until`. Who enters a row takes it with a
random token and counts the fence up. The lease ends by the database's clock, which each statement
reads once. A change is one UPDATE that shows token and fence, so whoever has lost the row changes
nothing. An ended lease says that the work's end is unknown: its next owner asks, and never just
repeats. What the statuses mean beside PROCESSING, and what is asked, is the table's own affair.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Model, QuerySet

_Row = TypeVar("_Row", bound=Model)

#: The moment of a statement: the same wherever the statement names it.
NOW: Final = "(SELECT now FROM moment)"
#: Whoever shows these has the row.
OURS: Final = "id = %(id)s AND owner_token = %(owner)s AND fence = %(fence)s"
EXPIRED: Final = f"status = 'PROCESSING' AND lease_until <= {NOW}"

_MOMENT: Final = "WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What an owner shows: his random token, and how many owners the row had with him."""

    row_id: int
    owner: UUID
    fence: int


def entering(table: str, *, which: str, order: str = "id", moves: str, returning: str) -> str:
    """SQL that takes the first row that `which` describes, if any is free; see `enter`.

    `moves` and `returning` begin with a comma and name the row `leased`. SKIP LOCKED: whoever is
    moving a row right now decides, and nobody waits for him.
    """
    return f"""
    {_MOMENT},
    free AS MATERIALIZED (
        SELECT id FROM {table} WHERE {which}
         ORDER BY {order} LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE {table} AS leased
       SET status = 'PROCESSING', owner_token = %(new_owner)s, fence = leased.fence + 1,
           lease_until = {NOW} + %(lease)s {moves}
      FROM free WHERE leased.id = free.id
 RETURNING leased.id, leased.fence {returning}
"""  # noqa: S608 - constants only


def owned(table: str, *, moves: str, only_if: str = "true") -> str:
    """SQL that changes a row for its owner alone; see `move`."""
    return f"""
    {_MOMENT}
    UPDATE {table} SET {moves}
     WHERE {OURS} AND status = 'PROCESSING' AND {only_if}
"""  # noqa: S608 - constants only


def enter(
    sql: str, *, owner: UUID, lease: timedelta, seen: Held | None = None, **values: Any
) -> tuple[Held, tuple[Any, ...]] | None:
    """Take a row by a statement of `entering`: what its owner shows, and what it returns besides.

    `seen` is the owner before, where the statement names OURS. None if no such row is free.
    """
    values |= {"new_owner": owner, "lease": lease} | _shown(seen)
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        row = cursor.fetchone()
    if row is None:
        return None
    row_id, fence, *others = row
    return Held(row_id=row_id, owner=owner, fence=fence), tuple(others)


def move(sql: str, held: Held, **values: Any) -> bool:
    """Change the row by a statement of `owned`; False, having done nothing, if it is not ours."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values | _shown(held))
        return bool(cursor.rowcount == 1)


def lock(rows: QuerySet[_Row], held: Held) -> _Row | None:
    """The row, ours until the transaction ends; None if the lease was taken over or is over."""
    return (
        rows.select_for_update(no_key=True)
        .filter(pk=held.row_id, owner_token=held.owner, fence=held.fence, status="PROCESSING")
        .first()
    )


def _shown(held: Held | None) -> dict[str, Any]:
    if held is None:
        return {}
    return {"id": held.row_id, "owner": held.owner, "fence": held.fence}
