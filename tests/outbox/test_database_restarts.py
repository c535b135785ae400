"""A relay whose database goes away in the middle of its work."""

import signal
import subprocess
import sys
from collections import defaultdict
from uuid import uuid4

import psycopg
import pytest

from outbox.events import INSERT_SQL
from tests.factories import CREATED_AT
from tests.outbox.brokers import streamed, until
from tests.private_service import PrivateService
from tests.processes import ROOT, environment

AGGREGATES = 40
RESTARTS = 3
PER_RESTART = 200


@pytest.mark.django_db
def test_a_database_that_restarts_in_mid_claim_costs_no_event_and_no_order(
    private_service: PrivateService, valkey_url: str, name: str
) -> None:
    told = [f"{name}/{number}" for number in range(AGGREGATES)]
    seqs: dict[str, int] = defaultdict(int)

    def tell() -> None:
        with psycopg.connect(private_service.direct_url) as session:
            for number in range(PER_RESTART):
                one = told[number % AGGREGATES]
                seqs[one] += 1
                event = [uuid4(), "order", one, seqs[one], "order.paid", "", "{}", "{}"]
                session.execute(INSERT_SQL, [*event, CREATED_AT, True, ["order.paid"]])

    def waiting() -> int:
        sql = (
            "SELECT count(*) FROM outbox_dispatch"
            " WHERE published_at IS NULL AND aggregate_id LIKE %s || '/%%'"
        )
        return int(private_service.administer(sql, name)[0][0])

    relay = subprocess.Popen(
        [sys.executable, "manage.py", "relay"],
        cwd=ROOT,
        env=environment(
            DATABASE_URL=private_service.direct_url,
            EVENT_STREAM_URL=valkey_url,
            EVENT_STREAM=name,
            LOG_LEVEL="ERROR",
        ),
    )
    try:
        for _ in range(RESTARTS):
            tell()
            until(lambda: waiting() < PER_RESTART)
            private_service.database.stop()
            private_service.database.start()
        # As if the leases of what was claimed when the database went were over.
        private_service.administer(
            "UPDATE outbox_dispatch SET lease_until = now() WHERE state = 'CLAIMED'"
        )
        until(lambda: waiting() == 0)
        relay.send_signal(signal.SIGTERM)
        assert relay.wait(30) == 0
    finally:
        relay.kill()
        relay.wait()

    first_sights: dict[str, list[int]] = defaultdict(list)
    for subject, sequence in dict.fromkeys(
        (entry["subject"], int(entry["sequence"])) for entry in streamed(valkey_url, name)
    ):
        if name in subject:
            first_sights[subject].append(sequence)
    assert len(first_sights) == AGGREGATES
    for sequences in first_sights.values():
        assert sequences == list(range(1, RESTARTS * PER_RESTART // AGGREGATES + 1))
