"""Stand between a piece of work and the database, and act at each boundary of what they say.

The work's code knows nothing of it: Django offers a wrapper around each statement, and the
driver's `commit` is an attribute of the open connection.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

#: What happens at a boundary: its number, from 1, and its name ("before UPDATE orders_order").
Act = Callable[[int, str], None]


@contextmanager
def at_each_boundary(act: Act) -> Iterator[None]:
    """Call `act` before and after each statement and each commit of this thread's connection."""
    numbers = iter(range(1, 1_000_000))

    def reach(name: str) -> None:
        act(next(numbers), name)

    def statement(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        name = _name(sql)
        reach(f"before {name}")
        answer = execute(sql, *arguments)
        reach(f"after {name}")
        return answer

    connection.ensure_connection()
    driver: Any = connection.connection
    commit = driver.commit

    def committing() -> None:
        reach("before COMMIT")
        reach("with COMMIT on its way")
        commit()
        reach("after COMMIT")

    driver.commit = committing
    try:
        with connection.execute_wrapper(statement):
            yield
    finally:
        del driver.commit


def count_boundaries(work: Callable[[], object]) -> list[str]:
    """Do the work; the names of its boundaries in their order."""
    names: list[str] = []
    with at_each_boundary(lambda _, name: names.append(name)):
        work()
    return names


def _name(sql: str) -> str:
    words = sql.replace('"', "").split()
    ours = ("orders_", "payments_", "outbox_", "idempotency_")
    tables = [word for word in words if word.startswith(ours)]
    return f"{words[0]} {tables[0].partition('.')[0] if tables else words[1]}"
