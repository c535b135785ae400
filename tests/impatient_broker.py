"""The service's Celery with a broker that gives a message to somebody else after 5 seconds.

It also notes each start of a task, where tests can read it.
"""

from typing import Any, Final

import redis
from celery.signals import task_prerun
from kombu import Connection

from config.celery import app

VISIBILITY_SECONDS: Final = 5
STARTS: Final = "tests.impatient-broker.starts"

app.conf.broker_transport_options = app.conf.broker_transport_options | {
    "visibility_timeout": VISIBILITY_SECONDS
}


@task_prerun.connect
def _note(task_id: str, **_: Any) -> None:
    with redis.Redis.from_url(app.conf.broker_url) as client:
        client.rpush(STARTS, task_id)


def starts(url: str, task_id: str) -> int:
    """How often a task was started."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        noted: Any = client.lrange(STARTS, 0, -1)
    return list(noted).count(task_id)


def take_back(url: str) -> None:
    """What any worker does about every 100 seconds: messages whose time is up go to others."""
    options = {"visibility_timeout": VISIBILITY_SECONDS}
    with Connection(url, transport_options=options) as connection:
        channel: Any = connection.default_channel
        channel.qos.restore_visible(interval=1)
