"""Secrets at rest: encrypted with the newest vault key, readable with any of them.

To rotate, put a new key first in VAULT_KEYS, restart, run `manage.py rekey`, then drop the
old one.
"""

from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Undecryptable(RuntimeError):
    """None of VAULT_KEYS made this: the key was dropped before `manage.py rekey` had run."""


def seal(material: bytes) -> bytes:
    """Encrypt with the newest key."""
    return _fernet(tuple(settings.VAULT_KEYS)).encrypt(material)


def unseal(sealed: bytes) -> bytes:
    """Decrypt what `seal` made. Raises Undecryptable."""
    return _unseal(sealed, tuple(settings.VAULT_KEYS))


def reseal(sealed: bytes) -> bytes:
    """Encrypt anew with the newest key. Raises Undecryptable."""
    try:
        return _fernet(tuple(settings.VAULT_KEYS)).rotate(sealed)
    except InvalidToken as error:
        raise Undecryptable(Undecryptable.__doc__) from error


# Bounded, and it saves two passes of cryptography per callback. The sealed text is part of
# the key, so a replaced secret is never answered with the old one.
@lru_cache(maxsize=1024)
def _unseal(sealed: bytes, keys: tuple[str, ...]) -> bytes:
    try:
        return _fernet(keys).decrypt(sealed)
    except InvalidToken as error:
        raise Undecryptable(Undecryptable.__doc__) from error


@lru_cache(maxsize=8)
def _fernet(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])
