"""The migration to destinations carries every event's state over, forth and back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE = ("outbox", "0001_initial")
AFTER = ("outbox", "0002_destinations")

_INSERT_SQL = """
    INSERT INTO outbox_event (id, aggregate_type, aggregate_id, seq, type, payload, headers,
                              created_at, state, attempts, fence, last_error, next_attempt_at,
                              owner_token, lease_until, published_at)
    SELECT gen_random_uuid(), 'order', 'acme/' || state, 1, 'order.paid', payload::jsonb, '{}',
           '2026-03-01T11:00Z', state, attempts, fence, error,
           CASE state WHEN 'PENDING' THEN timestamptz '2026-03-01T12:00Z' END,
           CASE state WHEN 'CLAIMED' THEN gen_random_uuid() END,
           CASE state WHEN 'CLAIMED' THEN timestamptz '2026-03-01T13:00Z' END,
           CASE state WHEN 'PUBLISHED' THEN timestamptz '2026-03-01T14:00Z' END
      FROM (VALUES ('PENDING', 2, 3, 'no queue', '{"merchant": "acme"}'),
                   ('CLAIMED', 0, 1, '', '{"merchant": "acme"}'),
                   ('PUBLISHED', 0, 1, '', '{"merchant": ""}'),
                   ('DEAD', 12, 12, 'too large', '{}'))
           AS row (state, attempts, fence, error, payload)
"""
_RELAY = "state, attempts, fence, next_attempt_at, owner_token, lease_until, published_at"


def _asked(sql: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def _before() -> Iterator[None]:
    MigrationExecutor(connection).migrate([BEFORE])
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_every_event_keeps_its_state(_before: None) -> None:  # noqa: PT019 - it has no value
    _asked(_INSERT_SQL)
    relay = f"SELECT aggregate_id, last_error, {_RELAY} FROM {{}} ORDER BY aggregate_id"  # noqa: S608
    was = _asked(relay.format("outbox_event"))

    MigrationExecutor(connection).migrate([AFTER])

    assert _asked(relay.format("outbox_dispatch")) == was
    moved = _asked("""
        SELECT d.state, e.tenant, b.code, d.dead_at IS NOT NULL,
               (d.aggregate_type, d.aggregate_id, d.seq, d.created_at)
             = (e.aggregate_type, e.aggregate_id, e.seq, e.created_at)
          FROM outbox_dispatch d JOIN outbox_event e ON e.id = d.event_id
          JOIN outbox_destination b ON b.id = d.destination_id ORDER BY 1""")
    assert moved == [
        ("CLAIMED", "acme", "bus", False, True),
        ("DEAD", "", "bus", True, True),
        ("PENDING", "acme", "bus", False, True),
        ("PUBLISHED", "", "bus", False, True),
    ]

    MigrationExecutor(connection).migrate([BEFORE])

    assert _asked(relay.format("outbox_event")) == was


@pytest.fixture
def _unknown_who_let_them_rest() -> Iterator[None]:
    MigrationExecutor(connection).migrate([("outbox", "0007_operating")])
    yield
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_who_let_a_destination_rest_is_told_from_its_reason(
    _unknown_who_let_them_rest: None,  # noqa: PT019 - it has no value
) -> None:
    _asked("""
        INSERT INTO outbox_destination (code, kind, tenant, event_types, config, state, reason)
        VALUES ('a', 'webhook', '', '{}', '{}', 'ACTIVE', ''),
               ('b', 'webhook', '', '{}', '{}', 'PAUSED', 'its merchant paused it'),
               ('c', 'webhook', '', '{}', '{}', 'DISABLED',
                'it answered 410 Gone: resume it when it is back'),
               ('d', 'webhook', '', '{}', '{}', 'PAUSED', 'abuse'),
               ('e', 'kafka', '', '{}', '{}', 'PAUSED', 'its merchant paused it')
    """)

    MigrationExecutor(connection).migrate([("outbox", "0008_who_let_it_rest")])

    named = _asked("SELECT code, rested_by FROM outbox_destination WHERE code <> 'bus' ORDER BY 1")
    assert [by for _, by in named] == ["", "MERCHANT", "ENDPOINT", "OPERATOR", "OPERATOR"]
