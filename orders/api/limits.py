"""How much one merchant may use: calls in a minute, new idempotency keys in a day.

Counted in PostgreSQL, so that all processes count together, whether or not there is a Valkey. A
merchant has one row for each of the two; a call raises its number in one statement, which holds the
row for that statement alone. Windows are minutes and days (UTC) of the database's clock.

The table is UNLOGGED: a count costs no wait for the disk, and a crash of the database begins a new
window. See docs/decisions/0026-counters-in-the-database.md.
"""

import math
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.db import connection
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from orders.models import ApiKey, Merchant, Usage

if TYPE_CHECKING:
    from rest_framework.views import APIView

_SECONDS: Final = {Usage.What.CALLS: 60, Usage.What.KEYS: 24 * 60 * 60}

# One who waited for the row may come with the window before: it counts in the one that there is.
_COUNT_SQL: Final = """
    INSERT INTO orders_usage AS present (merchant_id, what, window_no, used)
    VALUES (%(merchant)s, %(what)s, floor(extract(epoch FROM clock_timestamp()) / %(seconds)s), 1)
        ON CONFLICT (merchant_id, what) DO UPDATE
       SET used = CASE WHEN EXCLUDED.window_no IN (present.window_no, present.window_no - 1)
                       THEN present.used + 1 ELSE 1 END,
           window_no = CASE WHEN EXCLUDED.window_no = present.window_no - 1
                            THEN present.window_no ELSE EXCLUDED.window_no END
 RETURNING used, (window_no + 1) * %(seconds)s - extract(epoch FROM clock_timestamp())
"""


class CallsPerMinute(BaseThrottle):
    """DRF asks it for each call, when it is known who calls."""

    _left = 0.0

    def allow_request(self, request: Request, view: "APIView") -> bool:  # noqa: ARG002
        """Whether the merchant may call once more in this minute."""
        if not isinstance(request.auth, ApiKey):
            return True
        called, self._left = _count(Usage.What.CALLS, request.auth.merchant)
        return called <= int(settings.API_CALLS_PER_MINUTE)

    def wait(self) -> float:
        """Seconds until the next window."""
        return self._left


def count_new_key(merchant: Merchant) -> None:
    """Count one more key of the day (UTC). Raises Throttled beyond the merchant's quota."""
    keys, left = _count(Usage.What.KEYS, merchant)
    if keys > settings.IDEMPOTENCY_KEYS_PER_DAY:
        raise Throttled(math.ceil(left))


def _count(what: Usage.What, merchant: Merchant) -> tuple[int, float]:
    """How often in this window, with this time; and how many seconds are left of it."""
    values: dict[str, Any] = {
        "merchant": merchant.pk,
        "what": what,
        "seconds": _SECONDS[what],
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL, values)
        used, left = cursor.fetchone()
    return int(used), max(float(left), 1.0)
