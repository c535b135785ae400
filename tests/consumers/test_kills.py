"""Consumers that are killed between their effect and its acknowledgement."""

import json
import subprocess
import sys

import pytest

from outbox.consumers.rabbitmq import RabbitMQSource
from outbox.destinations.rabbitmq import RabbitMQ
from outbox.models import ConsumedEvent
from tests.consumers.kill_campaign import POINTS
from tests.consumers.telling import SUBSCRIPTION, counted, event, publish
from tests.orders.totals.telling import seeded
from tests.outbox.brokers import amqp_channel, queued
from tests.processes import ROOT, environment

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS = 40
KILLS = 16
SEED = 5


def test_each_event_has_one_effect_whoever_is_killed_and_however_often_it_comes(
    rabbitmq_url: str, name: str
) -> None:
    chance = seeded(SEED)
    declared = RabbitMQSource(
        rabbitmq_url, exchange=name, queue=name, types=SUBSCRIPTION.types, deliveries_max=1000
    )
    declared.open()
    declared.close()
    # Those that come once come first, while most are killed: nothing else makes up for their loss.
    once = [event(number) for number in range(EVENTS // 2)]
    repeated = [
        each
        for number in range(EVENTS // 2, EVENTS)
        for each in [event(number)] * chance.randrange(2, 6)
    ]
    chance.shuffle(repeated)
    deliveries = [*once, *repeated]
    destination = RabbitMQ(rabbitmq_url, exchange=name, queue="")
    publish(destination, deliveries)
    destination.close()

    campaign = [sys.executable, "-m", "tests.consumers.kill_campaign"]
    done = subprocess.run(
        [*campaign, rabbitmq_url, name, str(KILLS), str(SEED)],
        cwd=ROOT,
        env=environment(DJANGO_SETTINGS_MODULE="config.settings"),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=100,
    )

    killed = json.loads(done.stdout.splitlines()[-1])
    assert sum(killed.values()) == KILLS
    assert set(killed) == set(POINTS)
    assert (counted(), ConsumedEvent.objects.count()) == (EVENTS, EVENTS)
    assert queued(rabbitmq_url, name) == []
    assert queued(rabbitmq_url, f"{name}.dead") == []
    with amqp_channel(rabbitmq_url) as channel:
        channel.queue_delete(name)
        channel.queue_delete(f"{name}.dead")
        channel.exchange_delete(name)
