"""Guesses at passwords and codes: a few at once, then each waits longer than the one before.

Counted in PostgreSQL (docs/decisions/0034-guesses-are-counted-here.md). A guess is counted before
it is looked at, in one statement, so that a hundred at the same time are not one. While an account
waits nothing is counted: who keeps on guessing does not lengthen the wait of its owner.
"""

import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection

from config.access.models import Attempts

#: How many guesses are free of a wait, by what is guessed at. Offices share an address.
FREE: Final[Mapping[str, int]] = {"account": 5, "address": 30, "code": 5}
WAIT_SECONDS: Final = 15
WAIT_SECONDS_MAX: Final = 15 * 60
#: So long after the end of a wait it is forgotten.
FORGOTTEN_AFTER: Final = timedelta(hours=1)
#: Who has one IPv6 address has all of such a network.
_IPV6_NETWORK_BITS: Final = 64

# No row comes back while the wait goes on.
_COUNT_SQL: Final = """
    INSERT INTO access_attempts AS known (key, number, waits_until)
    VALUES (%(key)s, 1, %(now)s)
        ON CONFLICT (key) DO UPDATE
       SET number = CASE WHEN known.waits_until < %(forgotten)s THEN 1 ELSE known.number + 1 END,
           waits_until = %(now)s + make_interval(secs => CASE
               WHEN known.waits_until < %(forgotten)s OR known.number + 1 < %(free)s THEN 0
               ELSE least(%(most)s, %(wait)s * power(2, least(known.number + 1 - %(free)s, 20)))
               END)
     WHERE known.waits_until <= %(now)s
 RETURNING number
"""


def take(kind: str, name: str, *, now: datetime) -> timedelta | None:
    """Count a guess; None if it may be made, else how long it has to wait."""
    key = _key(kind, name)
    values: dict[str, Any] = {
        "key": key,
        "now": now,
        "forgotten": now - FORGOTTEN_AFTER,
        "free": FREE[kind],
        "wait": WAIT_SECONDS,
        "most": WAIT_SECONDS_MAX,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL, values)
        if cursor.fetchone() is not None:
            return None
    ends = Attempts.objects.filter(pk=key).values_list("waits_until", flat=True).first()
    return max((ends or now) - now, timedelta(seconds=1))


def forget(kind: str, name: str) -> None:
    """It was right: the next wrong one is the first."""
    Attempts.objects.filter(pk=_key(kind, name)).delete()


def give_back(kind: str, name: str) -> None:
    """The guess was right, and its address may still be that of others who guess."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE access_attempts SET number = number - 1 WHERE key = %s AND number > 1",
            [_key(kind, name)],
        )


def forget_old(*, now: datetime) -> int:
    """Delete what counts no longer; how many."""
    return Attempts.objects.filter(waits_until__lt=now - FORGOTTEN_AFTER).delete()[0]


def network(address: str) -> str:
    """What one person has of addresses: one of IPv4, a network of IPv6."""
    try:
        read = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(read, ipaddress.IPv6Address) and read.ipv4_mapped is None:
        return str(ipaddress.ip_network((read, _IPV6_NETWORK_BITS), strict=False))
    return str(read)


def _key(kind: str, name: str) -> bytes:
    text = f"{kind}:{name.casefold()}".encode("utf-8", "replace")
    return hmac.new(settings.SECRET_KEY.encode(), text, hashlib.sha256).digest()
