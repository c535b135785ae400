"""A broker that gives a message to somebody else after 5 seconds, and what its workers noted.

The worker is `tests.impatient_worker`.
"""

from typing import Any, Final

import redis
from kombu import Connection

VISIBILITY_SECONDS: Final = 5
STARTS: Final = "tests.impatient-broker.starts"


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
