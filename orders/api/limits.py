"""How much one merchant may use: calls in a minute, new idempotency keys in a day.

Counted in Django's cache, by fixed windows of the clock. A window's counter is one number that is
raised in one step, so that racing calls are all counted.
"""

import math
import time
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.core.cache import cache
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from orders.models import ApiKey, Merchant

if TYPE_CHECKING:
    from rest_framework.views import APIView

_MINUTE_SECONDS: Final = 60
_DAY_SECONDS: Final = 24 * 60 * 60


class CallsPerMinute(BaseThrottle):
    """DRF asks it for each call, when it is known who calls."""

    def allow_request(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002
        """Whether the merchant may call once more in this minute."""
        if not isinstance(request.auth, ApiKey):
            return True
        called = _count("calls", request.auth.merchant, _MINUTE_SECONDS)
        return called <= int(settings.API_CALLS_PER_MINUTE)

    def wait(self) -> float:
        """Seconds until the next window."""
        return _left(_MINUTE_SECONDS)


def count_new_key(merchant: Merchant) -> None:
    """Count one more key of the day (UTC). Raises Throttled beyond the merchant's quota."""
    if _count("keys", merchant, _DAY_SECONDS) > settings.IDEMPOTENCY_KEYS_PER_DAY:
        raise Throttled(math.ceil(_left(_DAY_SECONDS)))


def _count(what: str, merchant: Merchant, window_seconds: int) -> int:
    # A merchant of another database may have the same id, but was not made in the same moment.
    whose = f"{merchant.pk}@{merchant.created_at.timestamp()}"
    name = f"paidonce:{what}:{whose}:{int(time.time()) // window_seconds}"
    cache.add(name, 0, 2 * window_seconds)
    try:
        return cache.incr(name)
    except ValueError:  # It was evicted between the two.
        return 1


def _left(window_seconds: int) -> float:
    return window_seconds - time.time() % window_seconds
