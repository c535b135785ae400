"""A stream on Valkey, or on Redis from 7.2 on. The server must keep an append-only file."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from redis import Redis
from redis.backoff import NoBackoff
from redis.client import Pipeline
from redis.exceptions import RedisError
from redis.retry import Retry

from outbox.destinations.port import Message, Refused, Unavailable, parts

CONNECT_SECONDS_MAX: Final = 3
#: With `appendfsync everysec` a write may take a second to be on the disk; a busy disk, longer.
CONFIRM_SECONDS_MAX: Final = 4


class RedisStream:
    """Appends each event to one stream and has each part of a batch confirmed to be on the disk.

    An entry holds the event's attributes and its JSON under `data`. The stream keeps about the
    newest `length_max` entries, whoever has read them or not: consumers that fall further behind
    than that miss events.
    """

    def __init__(
        self,
        url: str,
        *,
        stream: str,
        length_max: int,
        confirm_seconds_max: float = CONFIRM_SECONDS_MAX,
    ) -> None:
        self._stream = stream
        self._length_max = length_max
        self._confirm_seconds_max = confirm_seconds_max
        self._client: Redis = Redis.from_url(
            url,
            socket_connect_timeout=CONNECT_SECONDS_MAX,
            socket_timeout=confirm_seconds_max + 1,
            # The relay tries again, by the table; a second attempt here would only repeat events.
            retry=Retry(NoBackoff(), 0),
        )

    def ready(self) -> None:
        """Ask whether the server could confirm a write; this also finds a dead connection."""
        self._confirmed(self._client.pipeline(transaction=False))

    def publish(self, messages: Sequence[Message]) -> Iterator[Refused | None]:
        """Append each part in one round trip, and wait for the disk once."""
        for part in parts(messages):
            pipeline = self._client.pipeline(transaction=False)
            for message in part:
                entry: Any = {**message.attributes(), "data": message.payload}
                pipeline.xadd(self._stream, entry, maxlen=self._length_max, approximate=True)
            self._confirmed(pipeline)
            yield from (None for _ in part)

    def close(self) -> None:
        """Drop the connection; the next command makes another."""
        self._client.close()

    def _confirmed(self, pipeline: Pipeline) -> None:
        # WAITAOF speaks of the writes of its own connection, so it must go with them: on a new
        # connection, made after a loss, it would confirm nothing and say yes.
        pipeline.waitaof(1, 0, int(self._confirm_seconds_max * 1000))
        try:
            replies = pipeline.execute(raise_on_error=False)
            # What a server refuses (out of memory, read only, loading ..) concerns no one event.
            for error in replies:
                if isinstance(error, RedisError):
                    raise error
        except RedisError as error:
            self.close()
            raise Unavailable(_explain(error)) from error
        kept_locally, _kept_by_replicas = replies[-1]
        if kept_locally < 1:
            self.close()
            raise Unavailable(f"writes were not on the disk within {self._confirm_seconds_max} s")


def _explain(error: RedisError) -> str:
    text = str(error)
    if "appendonly is disabled" in text:
        return (
            "this Redis or Valkey would forget events when it stops: start it with "
            "`--appendonly yes`, or name another in EVENT_STREAM_URL"
        )
    if "unknown command" in text and "WAITAOF" in text:
        return "this Redis cannot confirm that events are on the disk: 7.2 or any Valkey can"
    return f"{type(error).__name__}: {text}"
