"""The service's Celery for a worker of an impatient broker; it notes each start of a task.

For a process of its own: it changes the application.
"""

from typing import Any

import redis
from celery.signals import task_prerun

from config.celery import app
from tests.impatient_broker import STARTS, VISIBILITY_SECONDS

app.conf.broker_transport_options = app.conf.broker_transport_options | {
    "visibility_timeout": VISIBILITY_SECONDS
}


@task_prerun.connect
def _note(task_id: str, **_: Any) -> None:
    with redis.Redis.from_url(app.conf.broker_url) as client:
        client.rpush(STARTS, task_id)
