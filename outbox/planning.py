"""Statements whose plan must fit the table as it is now, not as it was an hour ago."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def planned_anew() -> Iterator[None]:
    """Let PostgreSQL plan each statement within for the tables as they are.

    A statement that a connection has prepared may keep the plan that was right while the outbox
    was nearly empty, as it mostly is. Once a backlog has grown, that plan reads the whole log of
    events at each claim (0.2 seconds where 100,000 wait), until the statistics are next taken. A
    plan made anew goes by the tables' size on disk, which is true at any time; it costs about a
    millisecond, and a claim is for a batch.
    """
    connection.ensure_connection()
    session = connection.connection
    threshold, session.prepare_threshold = session.prepare_threshold, None
    try:
        yield
    finally:
        session.prepare_threshold = threshold
