"""The signature of a Braintree payload: pairs of a public key and an HMAC-SHA1."""

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final

from payments.providers.port import Key, Reason, Rejected, UnknownKey, Verified

PUBLIC_KEY: Final = re.compile(r"[A-Za-z0-9]{1,64}", re.ASCII)
_PAIR: Final = re.compile(rb"([A-Za-z0-9]{1,64})\|([0-9a-f]{40})")
_PAIRS_MAX: Final = 10


def signature_of(payload: bytes, private_key: bytes) -> bytes:
    """The signature as it is written."""
    key = hashlib.sha1(private_key, usedforsecurity=False).digest()
    return hmac.digest(key, payload, "sha1").hex().encode()


def verdict_on(
    payload: bytes, stated: bytes, keys: Mapping[str, Key]
) -> Verified | Rejected | UnknownKey:
    """Whether one of the stated pairs holds; `keys` are the configured ones by public key."""
    pieces = stated.split(b"&")
    if len(pieces) > _PAIRS_MAX:
        return Rejected(Reason.TOO_LARGE)
    pairs = [_PAIR.fullmatch(piece) for piece in pieces]
    named = [(pair[1].decode(), pair[2]) for pair in pairs if pair]
    if len(named) != len(pieces):
        return Rejected(Reason.SIGNATURE_MALFORMED)
    known = [pair for pair in named if pair[0] in keys]
    if not known:
        return UnknownKey(named[0][0])
    for name, signature in known:
        # A proxy may have cut off the last line break.
        for text in (payload, payload + b"\n"):
            if hmac.compare_digest(signature_of(text, keys[name].material), signature):
                return Verified(name)
    return Rejected(Reason.SIGNATURE_WRONG)
