"""The migrations since the release before take its rows over, whatever is in them."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = pytest.mark.django_db(transaction=True)

#: What the release before ended with.
BEFORE = [
    *(("payments", "0007_roles"), ("orders", "0005_accepted_amounts")),
    *(("outbox", "0007_operating"), ("audit", "0001_initial")),
]
#: What conflicts kept of the money that came, and what the queue finds of it.
CAME: dict[str, tuple[str, tuple[int | None, str]]] = {
    "an amount": ('{"amount_minor": 1000, "currency": "USD"}', (1000, "USD")),
    "all that fits": (
        '{"amount_minor": 999999999999999999, "currency": "JPY"}',
        (10**18 - 1, "JPY"),
    ),
    "more than fits": ('{"amount_minor": 99999999999999999999, "currency": "USD"}', (None, "")),
    "a fraction": ('{"amount_minor": 10.5, "currency": "USD"}', (None, "")),
    "a text": ('{"amount_minor": "1000", "currency": "USD"}', (None, "")),
    "no currency": ('{"amount_minor": 1000}', (None, "")),
    "no code": ('{"amount_minor": 1000, "currency": "USDT"}', (None, "")),
    "no money": ('{"endpoint": "stripe/main"}', (None, "")),
}
_CONFLICT_SQL = """
    INSERT INTO payments_conflict
           (merchant_id, reason, subject, severity, expected, received, status, opened_at, due_at,
            resolution, version)
    VALUES (%s, 'LATE_PAYMENT', %s, 'TICKET', '{}', %s, 'OPEN', now(), now(), '', 1)
"""
#: Destinations that rested, and who let them.
RESTED: dict[str, tuple[str, str, str, str]] = {
    "works": ("webhook", "ACTIVE", "", ""),
    "merchant": ("webhook", "PAUSED", "its merchant paused it", "MERCHANT"),
    "gone": ("webhook", "DISABLED", "it answered 410 Gone", "ENDPOINT"),
    "operator": ("webhook", "DISABLED", "abuse", "OPERATOR"),
    "other": ("kafka", "PAUSED", "its merchant paused it", "OPERATOR"),
}
_DESTINATION_SQL = """
    INSERT INTO outbox_destination (code, kind, tenant, event_types, config, state, reason)
    VALUES (%s, %s, '', '{}', '{}', %s, %s)
"""
_DELIVERY_SQL = """
    WITH account AS (
        INSERT INTO payments_provideraccount
               (merchant_id, provider, name, account_no, live, active, settings)
        VALUES (%s, 'stripe', 'main', 'acct_1', true, true, '{}') RETURNING id, merchant_id
    )
    INSERT INTO payments_delivery
           (account_id, merchant_id, batch_id, item_no, body, body_sha256, headers, key_id,
            assurance, event_id, event_type, kind, txn_no, order_no, linked_nos, outcome, reason,
            detail, received_at)
    SELECT id, merchant_id, gen_random_uuid(), 0, '{}', sha256('{}'), '[]', 'first', 'WHOLE',
           repeat('e', 128), '', '', '', '', '{}', 'IGNORED', '', '', now()
      FROM account
"""


def _asked(sql: str, values: Any = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture
def merchant() -> Iterator[int]:
    MigrationExecutor(connection).migrate(BEFORE)
    ((known,),) = _asked(
        "INSERT INTO orders_merchant (code, name, active) VALUES ('acme', '', true) RETURNING id"
    )
    yield known
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_rows_of_the_release_before_are_taken_over(merchant: int) -> None:
    for subject, (received, _) in CAME.items():
        _asked(_CONFLICT_SQL, [merchant, subject, received])
    for code, (kind, state, reason, _) in RESTED.items():
        _asked(_DESTINATION_SQL, [code, kind, state, reason])
    _asked(_DELIVERY_SQL, [merchant])
    written = _asked("SELECT pg_relation_filenode('payments_delivery')")

    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())

    found = _asked("SELECT subject, amount_minor, currency FROM payments_conflict")
    assert {subject: (amount, code) for subject, amount, code in found} == {
        subject: came for subject, (_, came) in CAME.items()
    }
    rested = dict(_asked("SELECT code, rested_by FROM outbox_destination WHERE code <> 'bus'"))
    assert rested == {code: by for code, (*_, by) in RESTED.items()}
    # The largest table is not written anew while callbacks wait for it.
    assert _asked("SELECT pg_relation_filenode('payments_delivery')") == written
    assert _asked("SELECT replay_of_id FROM payments_delivery") == [(None,)]
