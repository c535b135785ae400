"""What a backlog costs: a claim looks at what it takes, however much waits or was kept."""

from collections.abc import Iterator, Mapping
from datetime import timedelta

import pytest
from django.db import connection

from outbox import claims, due
from outbox.relay import Figures
from tests.outbox.doubles import Recorder
from tests.outbox.relaying import bus_id, claim_heads, drain

pytestmark = pytest.mark.django_db(transaction=True)

LEASE = timedelta(seconds=30)
FEW, MANY = 300, 20_000
# Executions until psycopg prepares a statement, and until PostgreSQL keeps one plan for it.
UNTIL_PLANNED = 5 + 5

SEED_SQL = """
    WITH event AS (
        INSERT INTO outbox_event (id, aggregate_type, aggregate_id, seq, type, tenant, payload,
                                  headers, created_at)
        SELECT gen_random_uuid(), 'order', %(line)s || number %% %(lines)s, number / %(lines)s,
               'order.paid', '', '{}', '{}', clock_timestamp() + number * interval '1 ms'
          FROM generate_series(0, %(events)s - 1) AS number
        RETURNING id, aggregate_type, aggregate_id, seq, created_at)
    INSERT INTO outbox_dispatch (event_id, destination_id, aggregate_type, aggregate_id, seq,
                                 created_at, state, attempts, fence, last_error)
    SELECT id, %(destination)s, aggregate_type, aggregate_id, seq, created_at, 'PENDING', 0, 0, ''
      FROM event
"""
READ_SQL = """
    SELECT sum(seq_tup_read), sum(idx_tup_fetch) FROM pg_stat_user_tables
     WHERE relname IN ('outbox_event', 'outbox_dispatch')
"""


@pytest.fixture
def _statistics_stay_behind() -> Iterator[None]:
    def enable(value: str) -> None:
        with connection.cursor() as cursor:
            for table in ("outbox_event", "outbox_dispatch"):
                cursor.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = {value})")

    enable("false")
    yield
    enable("true")


def seed(events: int, *, lines: int, line: str = "B") -> None:
    values: Mapping[str, int | str] = {
        "events": events,
        "lines": lines,
        "line": line,
        "destination": bus_id(),
    }
    with connection.cursor() as cursor:
        cursor.execute(SEED_SQL, values)


def rows_read() -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(READ_SQL)
        scanned, fetched = cursor.fetchone()
    return scanned, fetched


@pytest.mark.usefixtures("_statistics_stay_behind")
def test_what_was_learned_from_a_small_outbox_is_not_held_on_to() -> None:
    """The relay's connection lives long, and the outbox is nearly empty most of the time."""
    seed(FEW, lines=FEW, line="A-")
    while held := claim_heads(batch=100, lease=LEASE):
        claims.published(held)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE outbox_event, outbox_dispatch")
    for number in range(UNTIL_PLANNED + 1):
        seed(1, lines=1, line=f"C-{number}-")
        assert claims.published(claim_heads(batch=100, lease=LEASE))
        claim_heads(batch=100, lease=LEASE, newest_first=True)
        due.destinations()
    seed(MANY, lines=MANY)

    before = rows_read()
    assert len(due.destinations()) == 1
    held = claim_heads(batch=100, lease=LEASE)
    assert len(claims.published(held)) == 100
    held = claim_heads(batch=100, lease=LEASE, newest_first=True)
    assert len(claims.published(held)) == 100
    after = rows_read()

    assert after[0] - before[0] == 0
    assert after[1] - before[1] < MANY / 4


def test_the_newest_are_not_looked_for_through_the_whole_backlog() -> None:
    seed(4000, lines=5)

    before = rows_read()
    assert claim_heads(batch=5, lease=LEASE, newest_first=True) == []
    after = rows_read()

    assert after[1] - before[1] < 500


def test_a_drain_goes_on_where_all_of_the_newest_wait_for_older_ones() -> None:
    seed(30, lines=1)
    destination = Recorder()

    assert drain(destination, seconds_max=30, batch=1) == Figures(claimed=30, published=30)
    assert [message.seq for message in destination.taken] == list(range(30))
