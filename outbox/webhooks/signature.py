"""Standard Webhooks signatures, the sender's side: HMAC-SHA256 over ``id.timestamp.body``."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Final

PREFIX: Final = "whsec_"
#: The specification asks for 24 to 64 bytes.
SECRET_BYTES: Final = 32


class NoSecret(ValueError):
    """There is nothing to sign with: an unsigned message is never sent."""


def new_secret() -> str:
    """A fresh secret in the form that receivers' libraries take."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(keys: Sequence[bytes], *, message_id: str, timestamp: int, body: bytes) -> str:
    """The ``webhook-signature`` header: one ``v1`` signature a secret, in the order given.

    `keys` are secrets as `new_secret` makes them; a receiver accepts the message if any one of
    the signatures is his, which is what lets secrets be rotated. Raises NoSecret.
    """
    if not keys:
        raise NoSecret("the endpoint has no secret")
    signed = f"{message_id}.{timestamp}.".encode() + body
    return " ".join(f"v1,{_mac(key, signed)}" for key in keys)


def _mac(key: bytes, signed: bytes) -> str:
    material = base64.b64decode(key.removeprefix(PREFIX.encode()))
    return base64.b64encode(hmac.new(material, signed, hashlib.sha256).digest()).decode()
