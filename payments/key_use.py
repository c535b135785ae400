"""When each key last verified or decrypted something, and which unknown keys have been named.

An unknown key is also a question to a person, once for each key and day: while it is missing,
every callback that the provider signs with it is refused.
"""

import threading
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from django.db import Error, connection

from payments import key_alarm
from payments.accounts import Endpoint

log = structlog.get_logger(__name__)

#: How exactly the last use is known: a row that every callback updates would be a queue.
PRECISION: Final = timedelta(minutes=1)
#: Anybody may name a key, so only this many per account are remembered; each is counted at most
#: once a minute and process, so that a stranger who repeats one makes us write next to nothing.
SIGHTINGS_MAX: Final = 20

_VERIFIED_SQL: Final = """
    UPDATE payments_accountkey SET last_used_at = %s
     WHERE account_id = %s AND key_id = %s AND purpose = ANY(%s)
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

_VERIFYING: Final = ("signature", "certificate")
_OPENING: Final = ("decryption",)
_written: Final[dict[tuple[int, str, tuple[str, ...]], datetime]] = {}
_sighted: Final[dict[tuple[int, str], datetime]] = {}
_lock: Final = threading.Lock()


def verified(endpoint: Endpoint, key_id: str, *, now: datetime) -> None:
    """Note that this key verified something; at most once a minute per key and process."""
    _used(endpoint, key_id, _VERIFYING, now=now)


def opened(endpoint: Endpoint, key_id: str, *, now: datetime) -> None:
    """Note that this key decrypted something; as often as `verified`."""
    _used(endpoint, key_id, _OPENING, now=now)


def _used(endpoint: Endpoint, key_id: str, purposes: tuple[str, ...], *, now: datetime) -> None:
    mark = (endpoint.account_id, key_id, purposes)
    with _lock:
        if _is_fresh(_written.get(mark), now):
            return
        _written[mark] = now
    values = [now, endpoint.account_id, key_id, list(purposes), now - PRECISION]
    _execute(_VERIFIED_SQL, values)


def sighted(endpoint: Endpoint, key_id: str, *, now: datetime) -> None:
    """Remember a key that was named and is not configured, and ask a person about it.

    As often as `verified`. Of those that are too many to remember one question tells.
    """
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
    if not _execute(_SIGHTED_SQL, values):
        mark = (endpoint.account_id, key_alarm.OTHERS)
        if _is_fresh(_sighted.get(mark), now):
            return
    _sighted[mark] = now
    try:
        key_alarm.ask(endpoint, mark[1], now=now)
    except Error as error:
        log.warning("unknown key not asked about", error=type(error).__name__)


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
