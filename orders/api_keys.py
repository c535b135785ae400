"""API keys: who speaks for a merchant. Only a digest is kept, so a key is shown once."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Final

from orders.models import ApiKey, Merchant

_PREFIX_BYTES: Final = 8
_TOKEN: Final = re.compile(r"pk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})", re.ASCII)
# Nobody knows what it is a digest of, so no secret equals it.
_NO_DIGEST: Final = secrets.token_bytes(32)


class NoSuchKey(LookupError):
    """No API key has this prefix."""


def create(*, merchant: Merchant, label: str = "") -> tuple[ApiKey, str]:
    """Make a key: the row, and the token ``pk_<prefix>_<secret>``, which nothing can show again."""
    prefix = secrets.token_hex(_PREFIX_BYTES)
    # 256 random bits: a plain digest is as good as a slow one, and does not slow each request.
    secret = secrets.token_urlsafe(32)
    key = ApiKey.objects.create(
        merchant=merchant, prefix=prefix, secret_sha256=_digest(secret), label=label
    )
    return key, f"pk_{prefix}_{secret}"


def revoke(*, prefix: str, now: datetime) -> bool:
    """End the key; the answer is whether it was alive until now. Raises NoSuchKey."""
    if ApiKey.objects.filter(prefix=prefix, revoked_at=None).update(revoked_at=now):
        return True
    if not ApiKey.objects.filter(prefix=prefix).exists():
        raise NoSuchKey(prefix)
    return False


def find(token: str) -> ApiKey | None:
    """The live key of an active merchant that this token is; None for every other token.

    A wrong secret, an unknown prefix, a revoked key and an inactive merchant take one look-up
    and one comparison each, and cannot be told apart.
    """
    parts = _TOKEN.fullmatch(token)
    if parts is None:
        return None
    prefix, secret = parts.groups()
    key = ApiKey.objects.select_related("merchant").filter(prefix=prefix).first()
    kept = _NO_DIGEST if key is None else bytes(key.secret_sha256)
    is_same = hmac.compare_digest(kept, _digest(secret))
    if key is None or not is_same or key.revoked_at is not None or not key.merchant.active:
        return None
    return key


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
