"""When each key last verified something, and which unknown keys have been named."""

import threading
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import Error, connection

from payments.accounts import Endpoint

log = structlog.get_logger(__name__)

#: How exactly the last use is known: a row that every callback updates would be a queue.
PRECISION: Final = timedelta(minutes=1)
#: Anybody may name a key, so only this many per account are remembered; each is counted at most
#: once a minute and process, so that a stranger who repeats one makes us write next to nothing.
SIGHTINGS_MAX: Final = 20

_VERIFIED_SQL: Final = """
    UPDATE payments_accountkey SET last_used_at = %s
     WHERE account_id = %s AND key_id = %s AND purpose IN ('signature', 'certificate')
       AND (last_used_at IS NULL OR last_used_at < %s)
"""
_SIGHTED_SQL: Final = """
    INSERT INTO payments_unknownkeysighting (account_id, key_id, first_seen_at, last_seen_at, count)
    SELECT %(account)s::bigint, %(key)s::text, %(now)s::timestamptz, %(now)s::timestamptz, 1
     WHERE (SELECT count(*) FROM payments_unknownkeysighting
             WHERE account_id = %(account)s) < %(limit)s::bigint
        OR EXISTS (SELECT FROM payments_unknownkeysighting
                    WHERE account_id = %(account)s AND key_id = %(key)s)
        ON CONFLICT (account_id, key_id) DO UPDATE
       SET last_seen_at = EXCLUDED.last_seen_at, count = payments_unknownkeysighting.count + 1
"""

_written: Final[dict[tuple[int, str], datetime]] = {}
_sighted: Final[dict[tuple[int, str], datetime]] = {}
_lock: Final = threading.Lock()


def verified(endpoint: Endpoint, key_id: str, *, now: datetime) -> None:
    """Note that this key verified something; at most once a minute per key and process."""
    mark = (endpoint.account_id, key_id)
    with _lock:
        if _is_fresh(_written.get(mark), now):
            return
        _written[mark] = now
    _execute(_VERIFIED_SQL, [now, endpoint.account_id, key_id, now - PRECISION])


def sighted(endpoint: Endpoint, key_id: str, *, now: datetime) -> None:
    """Remember a key that was named and is not configured; as often as `verified`."""
    mark = (endpoint.account_id, key_id[:128])
    if _is_fresh(_sighted.get(mark), now):
        return
    values: dict[str, Any] = {
        "account": endpoint.account_id,
        "key": mark[1],
        "now": now,
        "limit": SIGHTINGS_MAX,
    }
    # Only what is in the table gets a mark: strangers must not fill our memory either.
    if _execute(_SIGHTED_SQL, values):
        _sighted[mark] = now


def _is_fresh(written: datetime | None, now: datetime) -> bool:
    return written is not None and now - written < PRECISION


def _execute(sql: str, values: list[Any] | dict[str, Any]) -> bool:
    """Whether a row was written. What is only good to know must not fail a stored delivery."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return bool(cursor.rowcount)
    except Error as error:
        log.warning("key use not noted", error=type(error).__name__)
        return False
