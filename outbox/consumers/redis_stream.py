"""Events from a stream on Valkey or Redis, through a consumer group of the consumer's own."""

import os
import secrets
import socket
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import structlog
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from outbox.consumers.port import Delivery, Unavailable, Unreadable, read

CONNECT_SECONDS_MAX: Final = 3
REPLY_SECONDS_MAX: Final = 5
BATCH: Final = 20
#: An entry that somebody took and did not acknowledge for so long is taken over from him. He may
#: live and only wait for his database: then one of us finds the other's mark.
IDLE_SECONDS_MAX: Final = 60.0
LOOK_EVERY_SECONDS: Final = 10.0
#: An entry that was delivered so often without an answer kills whoever handles it.
DELIVERIES_MAX: Final = 20
REASON_LENGTH_MAX: Final = 500
#: Names of consumers that are gone and hold nothing are forgotten after a day.
_GONE_MILLISECONDS: Final = 24 * 3600 * 1000

log = structlog.get_logger(__name__)


class RedisStreamSource:
    """A consumer group that begins with the oldest entry that there is.

    What is buried goes to the stream `<stream>.<group>.dead`, with its fields and `x-reason`; it
    has no length limit. Entries that the stream dropped before we had read them are told in the
    log as `events_missed`, with how many.
    """

    def __init__(
        self,
        url: str,
        *,
        stream: str,
        group: str,
        idle_seconds_max: float = IDLE_SECONDS_MAX,
        deliveries_max: int = DELIVERIES_MAX,
    ) -> None:
        self._stream = stream
        self._group = group
        self._dead = f"{stream}.{group}.dead"
        self._name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._idle_milliseconds_max = int(idle_seconds_max * 1000)
        self._look_every_seconds = min(LOOK_EVERY_SECONDS, idle_seconds_max)
        self._deliveries_max = deliveries_max
        self._look_at = 0.0
        self._taking = True
        self._missed = 0
        self._taken: deque[Delivery] = deque()
        self._client: Redis = Redis.from_url(
            url,
            decode_responses=True,
            encoding_errors="replace",  # an event that is no UTF-8 is buried as what it looks like
            socket_connect_timeout=CONNECT_SECONDS_MAX,
            socket_timeout=REPLY_SECONDS_MAX,
            retry=Retry(NoBackoff(), 0),
        )

    def open(self) -> None:
        """Make the group if there is none; forget names in it that nobody bears any more."""
        self._taken.clear()
        self._taking, self._look_at = True, 0.0
        try:
            try:
                self._client.xgroup_create(self._stream, self._group, id="0", mkstream=True)
            except ResponseError as error:
                if not str(error).startswith("BUSYGROUP"):
                    raise
            consumers: Any = self._client.xinfo_consumers(self._stream, self._group)
            for consumer in consumers:
                if consumer["pending"] == 0 and consumer["idle"] > _GONE_MILLISECONDS:
                    self._client.xgroup_delconsumer(self._stream, self._group, consumer["name"])
        except RedisError as error:
            raise self._lost(error) from error

    def next(self, seconds_max: float) -> Delivery | None:
        """The next entry: what others left behind first, then what is new."""
        try:
            if not self._taken and self._taking:
                self._take(seconds_max)
        except RedisError as error:
            raise self._lost(error) from error
        return self._taken.popleft() if self._taken else None

    def still_here(self, delivery: Delivery) -> None:
        """Hold on to what we have; unlike another delivery this is not counted."""
        held = [each.receipt[0] for each in (delivery, *self._taken)]
        try:
            self._client.xclaim(self._stream, self._group, self._name, 0, held, justid=True)
        except RedisError as error:
            raise self._lost(error) from error

    def done(self, delivery: Delivery) -> None:
        """Acknowledge the entry."""
        entry_id, _ = delivery.receipt
        try:
            self._client.xack(self._stream, self._group, entry_id)
        except RedisError as error:
            raise self._lost(error) from error

    def bury(self, delivery: Delivery, reason: str) -> None:
        """Append the entry to the stream of dead ones and acknowledge it, both or neither."""
        entry_id, fields = delivery.receipt
        buried: Any = {**fields, "x-reason": reason[:REASON_LENGTH_MAX], "x-entry": entry_id}
        try:
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.xadd(self._dead, buried)
                pipeline.xack(self._stream, self._group, entry_id)
                pipeline.execute()
        except RedisError as error:
            raise self._lost(error) from error

    def take_no_more(self) -> None:
        """From now on only what was read already."""
        self._taking = False

    def close(self) -> None:
        """Drop the connection; what we hold is taken over by whoever looks next."""
        self._client.close()

    def _take(self, seconds_max: float) -> None:
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + self._look_every_seconds
            self._tell_missed()
            self._take_over()
            if self._taken:
                self._look_at = now  # perhaps more of them
                return
        wait = min(seconds_max, self._look_every_seconds)
        found: Any = self._client.xreadgroup(
            self._group,
            self._name,
            {self._stream: ">"},
            count=BATCH,
            block=max(1, int(wait * 1000)),
        )
        for _stream, entries in found or []:
            self._taken.extend(_delivery(entry_id, fields) for entry_id, fields in entries)

    def _take_over(self) -> None:
        reply: Any = self._client.xautoclaim(
            self._stream, self._group, self._name, self._idle_milliseconds_max, "0", count=BATCH
        )
        _next, entries, gone = reply
        self._say_missed(len(gone))
        if not entries:
            return
        deliveries = self._deliveries(entries[0][0], entries[-1][0])
        for entry_id, fields in entries:
            if deliveries.get(entry_id, 0) > self._deliveries_max:
                why = Unreadable(f"delivered {self._deliveries_max} times without an answer")
                self._taken.append(Delivery(event=why, receipt=(entry_id, fields)))
            else:
                self._taken.append(_delivery(entry_id, fields))

    def _deliveries(self, first: str, last: str) -> dict[str, int]:
        """How often each of our entries was delivered."""
        pending: Any = self._client.xpending_range(
            self._stream, self._group, min=first, max=last, count=BATCH, consumername=self._name
        )
        return {each["message_id"]: each["times_delivered"] for each in pending}

    def _tell_missed(self) -> None:
        """Of all that was ever added, the stream may have dropped more than the group has read."""
        stream: Any = self._client.xinfo_stream(self._stream)
        groups: Any = self._client.xinfo_groups(self._stream)
        for group in groups:
            if group["name"] == self._group and group["entries-read"] is not None:
                dropped = stream["entries-added"] - stream["length"]
                missed = max(0, dropped - group["entries-read"])
                self._say_missed(missed - self._missed)
                self._missed = missed

    def _say_missed(self, entries: int) -> None:
        if entries > 0:
            log.error("events_missed", stream=self._stream, group=self._group, entries=entries)

    def _lost(self, error: RedisError) -> Unavailable:
        self.close()
        return Unavailable(f"{type(error).__name__}: {error}")


def _delivery(entry_id: str, fields: Mapping[str, str]) -> Delivery:
    return Delivery(event=read(fields, fields.get("data", "")), receipt=(entry_id, fields))
