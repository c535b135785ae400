"""Django's cache on Valkey or Redis, and in this process's memory while that fails.

Only counters of calls are kept in it. Counting for each process apart for a while is better than
refusing everybody, and than counting in the database.
"""

import time
from collections.abc import Callable
from typing import Any, Final, TypeVar

import redis
import structlog
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache

log = structlog.get_logger(__name__)

_TIMEOUT_SECONDS: Final = 0.2
#: A server that fails is not asked again for so long: requests do not queue for its timeouts.
_REST_SECONDS: Final = 2.0

T = TypeVar("T")


class RedisOrMemory(BaseCache):
    """What `orders/api/limits.py` needs of a cache: `add`, `incr`, and the rest of the basics."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(params)
        options = {
            "socket_timeout": _TIMEOUT_SECONDS,
            "socket_connect_timeout": _TIMEOUT_SECONDS,
            "retry": None,
        }
        self._redis = RedisCache(server, params | {"OPTIONS": options})
        self._memory = LocMemCache(f"instead of {server}", params)
        self._rests_until = 0.0

    def add(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: Any = None
    ) -> bool:
        """Set it if it is not there; whether it was set."""
        return self._either(lambda cache: cache.add(key, value, timeout, version))

    def get(self, key: Any, default: Any = None, version: Any = None) -> Any:
        """The value."""
        return self._either(lambda cache: cache.get(key, default, version))

    def set(
        self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: Any = None
    ) -> None:
        """Set the value."""
        self._either(lambda cache: cache.set(key, value, timeout, version))

    def touch(self, key: Any, timeout: Any = DEFAULT_TIMEOUT, version: Any = None) -> bool:
        """Give it a new time; whether it was there."""
        return self._either(lambda cache: cache.touch(key, timeout, version))

    def delete(self, key: Any, version: Any = None) -> bool:
        """Delete it; whether it was there."""
        return self._either(lambda cache: cache.delete(key, version))

    def incr(self, key: Any, delta: int = 1, version: Any = None) -> int:
        """Add to a number in one step. Raises ValueError if it is not there."""
        return self._either(lambda cache: cache.incr(key, delta, version))

    def clear(self) -> None:
        """Forget what this process counted; what others share is not ours to clear."""
        self._memory.clear()

    def _either(self, question: Callable[[BaseCache], T]) -> T:
        if time.monotonic() >= self._rests_until:
            try:
                return question(self._redis)
            except (redis.RedisError, OSError) as error:
                self._rests_until = time.monotonic() + _REST_SECONDS
                log.warning("cache_failed", error=type(error).__name__)
        return question(self._memory)
