"""Relays that are killed or fall asleep at each point, on a real broker, many at once."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from uuid import uuid4

import amqp
import pytest

from outbox.models import Dispatch, DispatchState, Event
from tests.outbox.brokers import amqp_channel, queued
from tests.outbox.fault_points import FAULTS
from tests.processes import ROOT, environment

#: In each, three relays are struck; `make campaign ROUNDS=1000` has more of them.
ROUNDS = int(os.environ.get("ROUNDS") or 50)
STRIKES = 3 * ROUNDS
EVENTS = 480
AGGREGATES = 40
SEED = 20260301


@pytest.fixture
def queue(rabbitmq_url: str) -> Iterator[str]:
    name = f"test-{uuid4().hex[:12]}"
    yield name
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_delete(name)
        channel.exchange_delete(name)


@pytest.mark.timeout(300 + 2 * ROUNDS)  # half a minute, and more where others work too
@pytest.mark.django_db(transaction=True)
def test_no_event_is_lost_invented_or_out_of_order_whatever_kills_its_relay(
    rabbitmq_url: str, queue: str
) -> None:
    command = [sys.executable, "-m", "tests.outbox.relay_campaign"]
    run = subprocess.run(
        [*command, rabbitmq_url, queue, str(STRIKES), str(EVENTS), str(SEED)],
        cwd=ROOT,
        env=environment(DJANGO_SETTINGS_MODULE="config.settings", LOG_LEVEL="ERROR"),
        capture_output=True,
        check=False,
        timeout=280 + 2 * ROUNDS,
    )
    assert run.returncode == 0, run.stderr.decode()
    counts = json.loads(run.stdout.splitlines()[-1])
    assert "crashed" not in counts, run.stderr.decode()
    struck = sum(counts.get(point, 0) for point in FAULTS)

    events = list(Event.objects.all())
    assert len(events) == counts["written"] == EVENTS
    assert len({event.aggregate_id for event in events}) == AGGREGATES
    assert set(Dispatch.objects.values_list("state", flat=True)) == {DispatchState.PUBLISHED}
    arrived = [_identity(one) for one in queued(rabbitmq_url, queue)]
    # Nothing is lost, and nothing that was rolled back is told.
    assert {event_id for event_id, _, _ in arrived} == {str(event.pk) for event in events}
    first_sights: dict[str, list[int]] = defaultdict(list)
    for _, aggregate, seq in dict.fromkeys(arrived):
        first_sights[aggregate].append(seq)
    for seqs in first_sights.values():
        assert seqs == list(range(1, len(seqs) + 1))
    # The campaign was one: every point was struck, claims were lost, events were told twice.
    assert min(counts.get(point, 0) for point in FAULTS) >= STRIKES // len(FAULTS) // 2, counts
    assert struck >= STRIKES * 3 // 4, counts
    assert counts["rolled back"] > 0
    assert counts["stale"] > 0
    assert len(arrived) > len(events)


def _identity(message: amqp.Message) -> tuple[str, str, int]:
    headers = message.properties["application_headers"]
    subject, sequence = headers["cloudEvents_subject"], headers["cloudEvents_sequence"]
    return message.properties["message_id"], subject, int(sequence)
